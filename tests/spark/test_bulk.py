"""The bulk algorithms give the links of the local ones, whatever the order and number of the rows they read."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from pyspark.sql import SparkSession

from algorithms import BadInput, Interests, build, divide_conquer
from algorithms.bulk import BULK, parse_bulk
from backend.rebuilds.engines import check_request
from spark import divide
from spark.circles import circles
from spark.conquer import group_parts
from spark.ids import Coded
from tests.spark.jobs import built, built_coded, frame, overlay_of
from tests.spark.judging import connected_by_igraph

SAME = [
    ("gm", {}),
    ("dc", {"parts": 5, "seed": 7}),
    ("dc", {"parts": "auto"}),
    pytest.param("dc", {"parts": 4, "divide": "cluster", "seed": 2}, marks=pytest.mark.long),
    ("dc", {"parts": 4, "score": "weave"}),
    ("hararypt", {"k": 4}),
    ("hararypt", {"k": 3, "order": "random", "seed": 5}),
    ("hararypt", {"k": 2**31 - 1}),
    pytest.param("hararypt", {"k": 2, "order": "nearest"}, marks=pytest.mark.long),
]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interests of tests are small, and so may be the parts that are chosen."""
    monkeypatch.setattr(divide_conquer, "SMALLEST_PART", 2)


@pytest.mark.parametrize(("algorithm", "params"), SAME, ids=lambda value: str(value))
def test_links_are_those_of_the_local_algorithm(
    spark: SparkSession, small: Interests, small_coded: Coded, algorithm: str, params: dict[str, Any]
) -> None:
    job = built_coded(small_coded, algorithm, **params)
    local = build(algorithm, small, **params)
    assert overlay_of(job, small).link_names() == local.link_names()
    assert job.figures["average_degree"] == pytest.approx(local.average_degree, abs=1e-3)
    assert job.figures["max_degree"] == local.max_degree


def test_one_part_of_gm2_is_gm2(spark: SparkSession, small: Interests, small_coded: Coded) -> None:
    job = built_coded(small_coded, "gm2", parts=1)
    assert overlay_of(job, small).link_names() == build("gm2", small).link_names()


@pytest.mark.parametrize("algorithm", ["gm2", pytest.param("degree-cover", marks=pytest.mark.long)])
def test_parts_make_a_2tco(spark: SparkSession, small: Interests, small_coded: Coded, algorithm: str) -> None:
    job = built_coded(small_coded, algorithm, parts=3)
    overlay = overlay_of(job, small)
    assert overlay.is_ktco(2)
    assert connected_by_igraph(overlay, 2)
    assert job.figures["parts"] == 3


@pytest.mark.parametrize(("algorithm", "k"), [("dc", 1), pytest.param("gm2", 2, marks=pytest.mark.long)])
def test_many_levels_and_no_task_above_the_bound(
    spark: SparkSession, small: Interests, small_coded: Coded, algorithm: str, k: int
) -> None:
    max_part = 50 if algorithm == "dc" else 90
    job = built_coded(small_coded, algorithm, parts=12, max_part=max_part)
    overlay = overlay_of(job, small)
    assert overlay.is_ktco(k)
    assert connected_by_igraph(overlay, k)
    levels = job.figures["levels"]
    assert len(levels) > 1
    assert levels[-1]["groups"] == 1
    assert levels[-1]["stars"] <= max_part
    assert job.figures["part_sizes"]["largest"] <= max_part
    assert job.figures["inner_links"] + job.figures["outer_links"] == job.figures["links"]


@pytest.mark.parametrize(
    "params",
    [{"parts": 4, "score": "weave"}, pytest.param({"parts": "auto"}, marks=pytest.mark.long)],
    ids=str,
)
def test_scattered_and_repeated_rows_change_nothing(
    spark: SparkSession, small: Interests, params: dict[str, Any]
) -> None:
    job = built(frame(spark, small, copies=2), "dc", **params)
    assert overlay_of(job, small).link_names() == build("dc", small, **params).link_names()
    assert job.figures["rows"] == 2 * small.subscriptions
    assert job.figures["subscriptions"] == small.subscriptions


def test_ids_of_any_script_are_ordered_by_code_points(spark: SparkSession) -> None:
    names = ["Zürich", "a b", "éclair", "'quoted'", "日本", "\U0001f600", "\uffee", "/slash"]
    interests = Interests.from_mapping({name: ["/t", f"x{n % 3}"] for n, name in enumerate(names)})
    job = built(frame(spark, interests), "dc", parts=2)
    assert overlay_of(job, interests).link_names() == build("dc", interests, parts=2).link_names()


@pytest.mark.parametrize(
    ("algorithm", "params", "said"),
    [
        ("dcc", {}, "algorithm: no such algorithm, did you mean 'dc'?"),
        ("gm", {"parts": 3}, "parts: gm on Spark takes no such parameter"),
        ("dc", {"parts": 0}, "parts: must be a whole number or auto, at least 1 (got 0)"),
        ("degree-cover", {"k": 3}, "k: must be a whole number, at least 2 and at most 2 (got 3)"),
        (
            "dc",
            {"score": "weave", "ties": "random"},
            "ties: is a choice of the score contribution; weave takes low degrees first (got 'random')",
        ),
        (
            "hararypt",
            {"order": "random", "max_part": 100},
            "max_part: bounds the one task of the order nearest, not of random (got 100)",
        ),
        ("dc", {"max_part": 1}, "max_part: must be a whole number, at least 2 (got 1)"),
    ],
)
def test_bad_parameters_are_named(algorithm: str, params: dict[str, Any], said: str) -> None:
    """By the job, and by the API before it starts one."""
    with pytest.raises(BadInput) as raised:
        parse_bulk(algorithm, params)
    assert said in str(raised.value)
    if algorithm in BULK:
        with pytest.raises(BadInput, match=re.escape(said)):
            check_request("spark", algorithm, params, 1)


@pytest.mark.parametrize(
    ("algorithm", "params", "said"),
    [
        ("dc", {"parts": 301}, "parts: must be auto, or from 1 to the number of brokers, 300"),
        ("dc", {"parts": 2, "max_part": 100}, "a task is handed 100 at most: ask for more parts"),
        ("gm", {"max_part": 100}, "gm is one task for all 300 brokers"),
        ("gm2", {"parts": 301}, "parts: must be auto, or from 1 to the number of brokers, 300"),
        ("hararypt", {"order": "nearest", "max_part": 100}, "is made in one task, of 100 brokers at most"),
    ],
)
def test_what_does_not_fit_is_refused(
    spark: SparkSession, small_coded: Coded, algorithm: str, params: dict[str, Any], said: str
) -> None:
    """By the job, and in the same words by the API, which knows how many brokers there are."""
    with pytest.raises(BadInput) as raised:
        built_coded(small_coded, algorithm, **params)
    assert said in str(raised.value)
    with pytest.raises(BadInput) as again:
        check_request("spark", algorithm, params, 1, 300)
    assert str(again.value) == str(raised.value)


def test_a_part_that_comes_out_too_large_is_refused(spark: SparkSession, small_coded: Coded) -> None:
    """Random parts are not all of one size: only the job sees them."""
    params = {"parts": 2, "max_part": 150}
    assert check_request("spark", "dc", params, 1, 300) == params
    with pytest.raises(
        BadInput, match=r"part [01] would have 1\d\d brokers, and a task is handed 150 at most"
    ):
        built_coded(small_coded, "dc", **params)


def test_parts_that_come_out_too_large_are_more_where_their_number_is_ours(
    spark: SparkSession, small: Interests, small_coded: Coded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number chosen is one whose parts would fit if they were all of one size."""
    monkeypatch.setattr(divide, "_fits", lambda brokers, parts, max_part: brokers <= parts * max_part)
    monkeypatch.setattr(divide_conquer, "SMALLEST_PART", 150)
    job = built_coded(small_coded, "dc", parts="auto", max_part=150)
    assert job.figures["parts"] == 4
    assert overlay_of(job, small).link_names() == build("dc", small, parts=4).link_names()


@pytest.mark.parametrize("k", [2, 3, 2**31 - 1])
def test_circles_are_as_many_tasks_as_there_are_links(
    spark: SparkSession, small: Interests, small_coded: Coded, monkeypatch: pytest.MonkeyPatch, k: int
) -> None:
    monkeypatch.setattr("spark.circles.LINKS_A_TASK", 1000)
    sizes = small.topic_sizes()
    drawn = int((sizes * np.minimum(sizes, k + 1)).sum()) // 2
    assert circles(small_coded, k, "id", 0).rdd.getNumPartitions() == -(-drawn // 1000)


def test_tables_are_bounded_for_each_task() -> None:
    assert all("each task" in p.help for taken in BULK.values() for p in taken if p.name == "memory_mb")


def test_parts_whose_stars_fit_no_task_are_refused() -> None:
    assert group_parts({0: 5, 1: 7, 2: 4, 3: 0}, 12) == {0: 0, 1: 0, 2: 1}
    assert group_parts({0: 7, 1: 8, 2: 5}, 12) == {1: 0, 0: 1, 2: 1}, "those that fit come together"
    with pytest.raises(BadInput, match=r"max_part: no two of the 3 parts have star sets that fit one task"):
        group_parts({0: 7, 1: 8, 2: 6, 3: 0}, 12)
