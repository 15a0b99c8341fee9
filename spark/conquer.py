"""Divide and conquer over Spark: parts connected apart from each other, then joined through their stars.

Parts that are joined are a part of the next level; its stars are chosen among the stars it was made of, which hold
every topic that any other part has too. One level does where all stars fit one task, and then the links are those of
the local algorithm. No task is handed more than ``max_part`` brokers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from algorithms.errors import BadInput
from algorithms.interests import Ints, Longs
from spark.errors import naming, numbers
from spark.kernels import Kernel, stars_of_part
from spark.rows import flat_rows, numbered_interests

LINK, STAR, PART = 0, 1, 2
"""What a row of a result is: a link (a, b); a star a of a part with its degree and topics; or a part's figures, brokers
in a, duplicate rows in b, stars in degree, the number of its links as the only topic."""

_RESULT = "kind tinyint, part int, a int, b int, degree int, topics array<int>"


class Figures(NamedTuple):
    """A part in numbers."""

    part: int
    brokers: int
    duplicates: int
    stars: int
    links: int


@dataclass(frozen=True)
class Solved:
    """What the tasks of one level gave, kept until the job has its links."""

    frame: DataFrame

    def links(self) -> DataFrame:
        """(a, b), a < b."""
        return self.frame.where(sf.col("kind") == LINK).select("a", "b")

    def stars(self) -> DataFrame:
        """(part, v, degree, topics)."""
        return self.frame.where(sf.col("kind") == STAR).select(
            "part", sf.col("a").alias("v"), "degree", "topics"
        )

    def figures(self) -> list[Figures]:
        """What each part was and gave, part by part."""
        found = self.frame.where(sf.col("kind") == PART).collect()
        return sorted(
            Figures(row["part"], row["a"], row["b"], row["degree"], row["topics"][0]) for row in found
        )


def shared_topics(rows: DataFrame, topics: int) -> Ints:
    """The topics that at least two parts have; rows ``(part, topics)``. The driver learns these numbers only."""
    ends = (
        rows.select("part", sf.explode("topics").alias("t"))
        .groupBy("t")
        .agg(sf.min("part").alias("first"), sf.max("part").alias("last"))
        .where("first < last")
        .select("t")
        .toArrow()
    )
    return np.sort(ends["t"].to_numpy()).astype(np.int32)


def conquer(rows: DataFrame, kernel: Kernel, *, topics: int, parts: int, shared: Ints) -> Solved:
    """Connect each part and pick its stars; rows ``(part, v, topics)``."""
    wanted = rows.sparkSession.sparkContext.broadcast(shared)

    def solve(key: Any, table: pyarrow.Table) -> pyarrow.Table:
        part = key[0].as_py()
        v, topic, lengths = flat_rows(table)
        brokers, row = np.unique(v, return_inverse=True)
        with naming(f"part {part} of {parts} ({len(brokers)} brokers)"):
            interests = numbered_interests(np.repeat(row, lengths), topic, len(brokers), topics)
            links = kernel.inside(interests)
            stars = stars_of_part(kernel, interests, wanted.value)
        degrees = np.bincount(links.ravel(), minlength=len(brokers)).astype(np.int32)
        return _result(part, brokers, links, stars, degrees, interests, interests.duplicates)

    # As many tasks as parts, so that an idle core takes the next part; Spark would fold small ones together.
    tasks = min(parts, 1000)
    solved = rows.repartition(tasks, "part").groupBy("part").applyInArrow(solve, _RESULT)
    return Solved(solved.persist())


def merge(
    stars: DataFrame,
    kernel: Kernel,
    group_of_part: dict[int, int],
    *,
    topics: int,
    topic_sizes: Longs,
    level: int = 1,
) -> Solved:
    """Join the parts of each group through their stars, and pick the stars of the groups.

    With one group there is nobody left to have stars for. On the second level and above, parts are the groups of the
    level below.
    """
    session = stars.sparkSession
    pairs = np.array(sorted(group_of_part.items()), np.int32).reshape(-1, 2)
    groups = session.createDataFrame(pyarrow.table({"part": pairs[:, 0], "group": pairs[:, 1]}))
    grouped = stars.join(sf.broadcast(groups), "part")
    several = len(set(group_of_part.values())) > 1
    shared = (
        shared_topics(grouped.select(sf.col("group").alias("part"), "topics"), topics)
        if several
        else np.empty(0, np.int32)
    )
    wanted = session.sparkContext.broadcast(shared)
    sizes = session.sparkContext.broadcast(topic_sizes)

    def solve(key: Any, table: pyarrow.Table) -> pyarrow.Table:
        group = key[0].as_py()
        v, topic, lengths = flat_rows(table)
        order = np.argsort(v, kind="stable")
        # A star is one row: the rank among the stars is where it stands in that order.
        row = np.empty(len(v), np.int64)
        row[order] = np.arange(len(v))
        brokers, part = v[order], table["part"].to_numpy()[order].astype(np.int32)
        degrees = table["degree"].to_numpy()[order].astype(np.int32)
        with naming(f"level {level}, the join of parts {numbers(part)} ({len(brokers)} stars)"):
            interests = numbered_interests(np.repeat(row, lengths), topic, len(brokers), topics)
            links = kernel.across(interests, part, degrees, sizes.value)
            kept = stars_of_part(kernel, interests, wanted.value)
        degrees = degrees + np.bincount(links.ravel(), minlength=len(brokers)).astype(np.int32)
        return _result(group, brokers, links, kept, degrees, interests, 0)

    solved = grouped.groupBy("group").applyInArrow(solve, _RESULT)
    return Solved(solved.persist())


def group_parts(stars_of: dict[int, int], max_part: int) -> dict[int, int]:
    """A group for each part with stars, so that the stars of a group fit one task.

    The largest first, each into the first group that has room: wherever two fit together, some do come together.
    """
    groups: dict[int, int] = {}
    filled: list[int] = []
    for part in sorted((part for part, stars in stars_of.items() if stars), key=lambda p: (-stars_of[p], p)):
        stars = stars_of[part]
        room = (group for group, taken in enumerate(filled) if taken + stars <= max_part)
        group = next(room, len(filled))
        if group == len(filled):
            filled.append(0)
        filled[group] += stars
        groups[part] = group
    if len(groups) > 1 and len(filled) == len(groups):
        raise BadInput(
            "max_part",
            max_part,
            f"no two of the {len(groups)} parts have star sets that fit one task together: raise it",
        )
    return groups


def _result(
    part: int, brokers: Ints, links: Ints, stars: Ints, degrees: Ints, interests: Any, duplicates: int
) -> pyarrow.Table:
    ends = brokers[np.sort(links, axis=1)] if len(links) else np.empty((0, 2), np.int32)
    starts = interests.broker_start
    places = np.concatenate([np.arange(starts[v], starts[v + 1]) for v in stars] or [np.empty(0, np.int64)])
    none = pyarrow.nulls(len(links), pyarrow.int32())
    bounds = np.concatenate([[0], np.cumsum(np.diff(starts)[stars])]).astype(np.int32)
    rows_of_stars = pyarrow.ListArray.from_arrays(
        pyarrow.array(bounds), pyarrow.array(interests.broker_topics[places])
    )
    counts = (len(links), len(stars), 1)
    columns = {
        "kind": np.repeat(np.array([LINK, STAR, PART], np.int8), counts),
        "part": np.full(sum(counts), part, np.int32),
        "a": np.concatenate([ends[:, 0], brokers[stars], [len(brokers)]]).astype(np.int32),
        "b": np.concatenate([ends[:, 1], np.zeros(len(stars)), [duplicates]]).astype(np.int32),
        "degree": pyarrow.concat_arrays(
            [none, pyarrow.array(np.concatenate([degrees[stars], [len(stars)]]).astype(np.int32))]
        ),
        "topics": pyarrow.concat_arrays(
            [
                pyarrow.nulls(len(links), pyarrow.list_(pyarrow.int32())),
                rows_of_stars.cast(pyarrow.list_(pyarrow.int32())),
                pyarrow.array([[len(links)]], pyarrow.list_(pyarrow.int32())),
            ]
        ),
    }
    return pyarrow.table(columns)
