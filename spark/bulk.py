"""The bulk algorithms: how each goes from interests to links. Which there are says :mod:`algorithms.bulk`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from algorithms.bulk import check_size
from spark.circles import circles
from spark.conquer import conquer, group_parts, merge, shared_topics
from spark.divide import divide, number_of_parts, refuse_large_parts
from spark.ids import Coded, code
from spark.kernels import BlockMerge, DegreeCover, GreedyMerge, Kernel
from spark.stages import Stages

SHARES = {"reading": 3.0, "dividing": 1.0, "conquering": 6.0, "joining": 1.0, "counting": 1.0}


def connectivity(algorithm: str, params: Mapping[str, Any]) -> int:
    """The k that the links must have."""
    return 2 if algorithm == "gm2" else int(params.get("k", 1))


@dataclass(frozen=True)
class Built:
    """The links of a job, ``(broker_a, broker_b)`` with the smaller id first, and its figures so far."""

    links: DataFrame
    coded: Coded
    figures: dict[str, Any] = field(default_factory=dict)


def build(
    interests: DataFrame,
    algorithm: str,
    params: Mapping[str, Any],
    stages: Stages,
    *,
    topics_may_be_null: bool = False,
) -> Built:
    """Run one bulk algorithm; ``params`` are all of :func:`parse_bulk`."""
    with stages.stage("reading"):
        coded = code(interests, topics_may_be_null=topics_may_be_null)
    return build_coded(coded, algorithm, params, stages)


def build_coded(coded: Coded, algorithm: str, params: Mapping[str, Any], stages: Stages) -> Built:
    """Run one bulk algorithm on interests that have their dense ids already."""
    check_size(algorithm, params, coded.broker_count)
    if algorithm == "hararypt":
        links, figures = _by_circles(coded, params, stages)
    else:
        links, figures = _by_parts(coded, algorithm, params, stages)
    with stages.stage("counting"):
        counted = _degrees(links, coded.broker_count)
    return Built(
        coded.names_of(links),
        coded,
        {
            "brokers": coded.broker_count,
            "topics": coded.topic_count,
            "rows": coded.row_count,
            **counted,
            **figures,
        },
    )


def _kernel(algorithm: str, params: Mapping[str, Any]) -> Kernel:
    seed, memory = params["seed"], params["memory_mb"]
    if algorithm == "gm2":
        return BlockMerge(seed, params["ties"], memory)
    if algorithm == "degree-cover":
        return DegreeCover(seed, memory_mb=memory, needs=params["needs"])
    return GreedyMerge(seed, params.get("score", "contribution"), params["ties"], memory)


def _by_parts(
    coded: Coded, algorithm: str, params: Mapping[str, Any], stages: Stages
) -> tuple[DataFrame, dict[str, Any]]:
    kernel, max_part = _kernel(algorithm, params), int(params["max_part"])
    with stages.stage("dividing"):
        topic_rows = coded.topic_rows()
        division = divide(coded, params.get("divide", "random"), params["seed"])
        asked = cast("int | str", params.get("parts", 1))
        parts = number_of_parts(division, asked, kernel, topic_rows, max_part)
        rows = division.divided(parts)
        sizes = _part_sizes(rows, coded.whole)
        while asked == "auto" and max(sizes.values()) > max_part:
            # Random parts may come out larger than their number promised; as many parts as brokers are one each.
            parts = min(2 * parts, coded.broker_count)
            rows = division.divided(parts)
            sizes = _part_sizes(rows, coded.whole)
        refuse_large_parts(sizes, parts, max_part)
        shared = shared_topics(rows, coded.topic_count) if parts > 1 else np.empty(0, np.int32)
    with stages.stage("conquering"):
        solved = conquer(rows, kernel, topics=coded.topic_count, parts=parts, shared=shared)
        figures = solved.figures()
    links = solved.links()
    duplicates = sum(figure.duplicates for figure in figures)
    topic_sizes = coded.topic_sizes() if duplicates else topic_rows
    stars_of = {figure.part: figure.stars for figure in figures}
    levels: list[dict[str, int]] = []
    star_sets = _summary([figure.stars for figure in figures])
    while sum(stars > 0 for stars in stars_of.values()) > 1:
        groups = group_parts(stars_of, max_part)
        with stages.stage(f"joining, level {len(levels) + 1}", "joining"):
            solved = merge(
                solved.stars(),
                kernel,
                groups,
                topics=coded.topic_count,
                topic_sizes=topic_sizes,
                level=len(levels) + 1,
            )
            joined = solved.figures()
        levels.append(
            {
                "parts": len(groups),
                "groups": len(joined),
                "stars": sum(stars_of.values()),
                "links": sum(figure.links for figure in joined),
            }
        )
        stars_of = {figure.part: figure.stars for figure in joined}
        links = links.union(solved.links())
    return links, {
        "parts": parts,
        "part_sizes": _summary(list(sizes.values())),
        "star_sets": star_sets,
        "shared_topics": len(shared),
        "levels": levels,
        "inner_links": sum(figure.links for figure in figures),
        "outer_links": sum(level["links"] for level in levels),
        "subscriptions": coded.row_count - duplicates,
    }


def _part_sizes(rows: DataFrame, whole: bool) -> dict[int, int]:
    """How many brokers each part has; ``whole``: every broker has one row."""
    brokers = sf.count(sf.lit(1)) if whole else sf.count_distinct("v")
    found = rows.groupBy("part").agg(brokers.alias("brokers")).collect()
    return {int(row["part"]): int(row["brokers"]) for row in found}


def _by_circles(coded: Coded, params: Mapping[str, Any], stages: Stages) -> tuple[DataFrame, dict[str, Any]]:
    k, order, seed = (params[name] for name in ("k", "order", "seed"))
    with stages.stage("conquering"):
        links = circles(coded, k, order, seed).persist()
        found = links.count()
        taken = k
        if params["even_if_cheaper"] and k % 2:
            more = circles(coded, k + 1, order, seed).persist()
            if more.count() < found:
                links, more, taken = more, links, k + 1
            more.unpersist()
    return links, {"k_drawn": taken}


def _degrees(links: DataFrame, brokers: int) -> dict[str, Any]:
    """Links, average and largest degree."""
    ends = links.select(sf.explode(sf.array("a", "b")).alias("v")).groupBy("v").count()
    found = ends.agg(sf.sum("count").alias("ends"), sf.max("count").alias("most")).head()
    assert found is not None
    count = int(found["ends"] or 0) // 2
    return {
        "links": count,
        "average_degree": round(2 * count / brokers, 4),
        "max_degree": int(found["most"] or 0),
    }


def _summary(sizes: list[int]) -> dict[str, float]:
    return {
        "count": len(sizes),
        "all": int(sum(sizes)),
        "mean": round(float(np.mean(sizes)), 2) if sizes else 0.0,
        "largest": max(sizes, default=0),
    }
