"""The distributed verifier says what the local one says."""

from __future__ import annotations

import numpy as np
import pytest
from pyspark.sql import SparkSession

from algorithms import BadInput, Interests, Overlay, build
from spark.ids import Coded
from spark.verify import dense_links, verdict, weak_topics
from tests.spark.jobs import links_frame


@pytest.mark.parametrize(
    "k", [1, pytest.param(2, marks=pytest.mark.long), pytest.param(3, marks=pytest.mark.long)]
)
def test_the_same_topics_as_the_local_verifier(
    spark: SparkSession, small: Interests, small_coded: Coded, k: int
) -> None:
    """Links are taken away at random until some topics hold and some do not."""
    whole = build("hararypt", small, k=max(k, 2)).links
    kept = np.random.default_rng(k).random(len(whole)) < 0.93
    overlay = Overlay.from_links(small, whole[kept])
    coded = small_coded
    links = dense_links(coded, links_frame(spark, overlay.link_names()))
    local = {shortfall.topic: len(shortfall.separator) for shortfall in overlay.topics_below(k)}
    weak = {small.topics[row["t"]] for row in weak_topics(coded, links, k).collect()}
    assert weak == set(local)
    assert 0 < len(weak) < len(small.topics)
    found = verdict(coded, links, k, examples=2)
    assert (found.good, found.below, len(found.examples)) == (False, len(local), min(2, len(local)))
    whole_links = links_frame(spark, Overlay.from_links(small, whole).link_names())
    assert verdict(coded, dense_links(coded, whole_links), k).good


def test_strangers_and_loops_are_named(spark: SparkSession, small: Interests, small_coded: Coded) -> None:
    coded = small_coded
    known = small.brokers[0]
    stranger = links_frame(spark, [(known, "nobody")])
    with pytest.raises(BadInput, match="links, broker_b: no broker of this id in the interests"):
        dense_links(coded, stranger)
    loop = links_frame(spark, [(known, known)])
    with pytest.raises(BadInput, match="cannot have a link to itself"):
        dense_links(coded, loop)


def test_the_interests_do_not_pass_through_the_driver(
    spark: SparkSession, small: Interests, small_coded: Coded
) -> None:
    """However small they are: no task is sent a copy of them."""
    links = dense_links(small_coded, links_frame(spark, build("treept", small).link_names()))
    weak = weak_topics(small_coded, links, 1)
    assert weak.count() == 0
    plan = weak._jdf.queryExecution().executedPlan().toString().partition("InitialPlan")[0]
    assert plan.count("SortMergeJoin") == 2
