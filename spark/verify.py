"""Is it a (k)TCO? The links of any size against the interests of any size, as a distributed job.

A link belongs to every topic that both its ends hold. Subscribers and links are brought together by topic, a few topics
a task, and there the local verifier looks at the overlay that is left: those topics and the links among their
subscribers.

``python -m spark.verify --interests PATH.parquet --links PATH.parquet [--k K]``: exit 0 yes, 1 no, 2 bad input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from algorithms.analysis.k_connectivity import topics_below
from algorithms.errors import BadInput
from algorithms.overlay import Overlay
from spark.errors import naming, topics_named
from spark.ids import Coded
from spark.rows import numbered_interests

SUBSCRIPTIONS_A_TASK = 1_000_000


@dataclass(frozen=True)
class Verdict:
    """How many topics are not k-connected, and some of them with the reason."""

    k: int
    below: int
    examples: tuple[str, ...]

    @property
    def good(self) -> bool:
        """Whether it is a kTCO."""
        return self.below == 0


def verdict(coded: Coded, links: DataFrame, k: int, examples: int = 10) -> Verdict:
    """Judge links ``(a, b)`` of dense ids."""
    weak = weak_topics(coded, links, k).persist()
    below = weak.count()
    if not below:
        return Verdict(k, 0, ())
    names = coded.brokers.select("v", "broker")
    first = names.select(sf.col("v").alias("a"), sf.col("broker").alias("broker_a"))
    second = names.select(sf.col("v").alias("b"), sf.col("broker").alias("broker_b"))
    rows = (
        weak.orderBy("t").limit(examples)
        .join(coded.topics.select("t", "topic"), "t").join(first, "a").join(second, "b")
        .orderBy("t").collect()
    )  # fmt: skip
    return Verdict(k, below, tuple(_reason(row.asDict()) for row in rows))


def weak_topics(coded: Coded, links: DataFrame, k: int) -> DataFrame:
    """(t, a, b, cut, clique): topics that the failure of ``cut`` brokers, fewer than k, parts between a and b.

    ``clique``: the topic has at most k + 1 subscribers and must be a clique, but a and b are not linked.
    """
    brokers, topics = coded.broker_count, coded.topic_count

    def judge(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        found = list(batches)
        if not found:
            return
        table = pyarrow.Table.from_batches(found)
        t, a, b = (table[name].to_numpy() for name in ("t", "a", "b"))
        with naming(f"looking at {topics_named(t)}"):
            subscribers = b < 0
            # Topics are renumbered: a task holds a few of them.
            own, topic = np.unique(t, return_inverse=True)
            interests = numbered_interests(a[subscribers], topic[subscribers], brokers, len(own))
            ends = np.stack([a[~subscribers], b[~subscribers]], axis=1)
            weak = topics_below(Overlay.from_links(interests, ends), k)
            numbers = np.array([int(shortfall.topic) for shortfall in weak], np.int64)
            parted = np.array([[int(v) for v in shortfall.parted] for shortfall in weak], np.int32).reshape(
                -1, 2
            )
        yield pyarrow.RecordBatch.from_arrays(
            [
                pyarrow.array(own[numbers].astype(np.int32)),
                pyarrow.array(parted[:, 0]),
                pyarrow.array(parted[:, 1]),
                pyarrow.array([len(shortfall.separator) for shortfall in weak], pyarrow.int32()),
                pyarrow.array([shortfall.missing_link for shortfall in weak], pyarrow.bool_()),
            ],
            names=["t", "a", "b", "cut", "clique"],
        )

    lists = (
        coded.rows
        if coded.whole
        else coded.rows.groupBy("v").agg(
            sf.array_distinct(sf.flatten(sf.collect_list("topics"))).alias("topics")
        )
    )
    first = lists.select(sf.col("v").alias("a"), sf.col("topics").alias("of_a"))
    second = lists.select(sf.col("v").alias("b"), sf.col("topics").alias("of_b"))
    # By sorting, never by a copy for every task: these are the interests, which would pass through the driver.
    within = (
        links.join(first.hint("merge"), "a")
        .join(second.hint("merge"), "b")
        .select(sf.explode(sf.array_intersect("of_a", "of_b")).alias("t"), "a", "b")
    )
    subscribed = coded.rows.select(
        sf.explode("topics").alias("t"), sf.col("v").alias("a"), sf.lit(-1).alias("b")
    )
    tasks = max(
        links.sparkSession.sparkContext.defaultParallelism, -(-coded.row_count // SUBSCRIPTIONS_A_TASK)
    )
    return (
        subscribed.unionByName(within)
        .repartition(min(tasks, max(topics, 1)), "t")
        .mapInArrow(judge, "t int, a int, b int, cut int, clique boolean")
    )


def dense_links(coded: Coded, links: DataFrame) -> DataFrame:
    """Links ``(broker_a, broker_b)`` as ``(a, b)``, a < b, each once; strangers and loops are refused by name."""
    names = coded.brokers.select("broker", "v")
    first = names.select(sf.col("broker").alias("broker_a"), sf.col("v").alias("a"))
    second = names.select(sf.col("broker").alias("broker_b"), sf.col("v").alias("b"))
    found = links.join(first, "broker_a", "left").join(second, "broker_b", "left").persist()
    odd = found.where("a IS NULL OR b IS NULL OR a = b").head()
    if odd is not None:
        if odd["a"] is not None and odd["a"] == odd["b"]:
            raise BadInput("links", odd["broker_a"], "a broker cannot have a link to itself")
        stranger = "broker_a" if odd["a"] is None else "broker_b"
        raise BadInput(f"links, {stranger}", odd[stranger], "no broker of this id in the interests")
    return found.select(sf.least("a", "b").alias("a"), sf.greatest("a", "b").alias("b")).distinct()


def _reason(row: dict[str, object]) -> str:
    if row["clique"]:
        return f"{row['topic']}: must be a clique, but {row['broker_a']} and {row['broker_b']} are not linked"
    if not row["cut"]:
        return f"{row['topic']}: {row['broker_a']} and {row['broker_b']} are apart"
    return (
        f"{row['topic']}: the failure of {row['cut']} brokers parts {row['broker_a']} from {row['broker_b']}"
    )


if __name__ == "__main__":
    from spark.command import run
    from spark.rebuild import verify_command

    run(verify_command)
