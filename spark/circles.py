"""HararyPT over Spark: the subscribers of each topic in one shared order, a Harary graph over each, links once.

Subscriptions are shuffled by topic, a few topics a task, and closed to circles by the local kernel; the links that
several topics share are then brought together by their smaller end and kept once. Both steps hand plain numbers over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import pyarrow
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from algorithms.hararypt import harary_links, harary_per_topic
from algorithms.interests import Interests, Ints
from algorithms.order import seeded
from algorithms.progress import silent
from spark.errors import naming, topics_named
from spark.ids import Coded, ranked
from spark.rows import flat_rows, numbered_interests

SUBSCRIPTIONS_A_TASK = 2_000_000
LINKS_A_TASK = 4_000_000


def circles(coded: Coded, k: int, order: str, seed: int) -> DataFrame:
    """The links ``(a, b)`` of a Harary graph a topic, each once; with ``nearest`` in one task."""
    if order == "nearest":
        return _in_one_task(coded, k, order, seed)
    rows = coded.rows.select("v", sf.col("v").alias("place"), "topics")
    if order == "random":
        rows = coded.rows.select("v", "topics").join(_random_places(coded, seed), "v")
    brokers, topics = coded.broker_count, coded.topic_count

    def close(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        table = _together(batches)
        if table is None:
            return
        topic, place, v = (table[name].to_numpy() for name in ("t", "place", "v"))
        with naming(f"drawing {topics_named(topic)}"):
            links = harary_links(*_members(topic, place, v, brokers, topics), k)
        yield from _batches_of(links[:, 0], links[:, 1])

    subscriptions = rows.select(sf.explode("topics").alias("t"), "place", "v")
    tasks = _tasks(subscriptions, coded.row_count, SUBSCRIPTIONS_A_TASK)
    drawn = subscriptions.repartition(tasks, "t").mapInArrow(close, "a int, b int")
    tasks = _tasks(subscriptions, _links_drawn(coded, k), LINKS_A_TASK)
    return drawn.repartition(tasks, "a").mapInArrow(_once, "a int, b int")


def _links_drawn(coded: Coded, k: int) -> int:
    """How many links the circles have at the most, before those of several topics are one."""
    held = sf.col("held").cast("double")  # the cliques of a few large topics have more than a long counts
    most = coded.topics.agg(sf.sum(held * sf.least(held, sf.lit(float(k + 1))) / 2).alias("links")).head()
    assert most is not None
    return int(most["links"] or 0)


def _members(topic: Ints, place: Ints, v: Ints, brokers: int, topics: int) -> tuple[Interests, Ints]:
    """Interests of the rows, which may repeat, and the subscribers of each topic in the order of their places."""
    keys = topic.astype(np.int64) * brokers + place
    order = np.argsort(keys)
    fresh = np.ones(len(order), bool)
    fresh[1:] = np.diff(keys[order]) > 0
    order = order[fresh]
    members = np.ascontiguousarray(v[order], dtype=np.int32)
    members.setflags(write=False)
    return numbered_interests(v[order], topic[order], brokers, topics), members


def _once(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    table = _together(batches)
    if table is not None:
        keys = table["a"].to_numpy().astype(np.int64) << 32 | table["b"].to_numpy()
        keys.sort()
        keys = keys[np.diff(keys, prepend=-1) > 0]
        yield from _batches_of(keys >> 32, keys & 0xFFFFFFFF)


def _random_places(coded: Coded, seed: int) -> DataFrame:
    """(v, place): the seeded random order that all engines agree on; equal hashes keep the order of the ids."""

    def mixed(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            hashes = seeded(batch.column("hash").to_numpy().view(np.uint64), seed) ^ np.uint64(1 << 63)
            yield pyarrow.RecordBatch.from_arrays(
                [batch.column("v"), pyarrow.array(hashes.view(np.int64))], names=["v", "mixed"]
            )

    keyed = coded.brokers.select("v", "hash").mapInArrow(mixed, "v int, mixed long")
    placed, _ = ranked(keyed, "place", "mixed", "v")
    return placed.select("v", "place")


def _in_one_task(coded: Coded, k: int, order: str, seed: int) -> DataFrame:
    """An order that goes from broker to broker is made at one place."""
    topics = coded.topic_count

    def solve(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        table = _together(batches)
        if table is None:
            return
        with naming(f"drawing all circles in one task ({table.num_rows} brokers)"):
            v, topic, lengths = flat_rows(table)
            names = dict(zip(v.tolist(), table["broker"].to_pylist(), strict=True))
            interests = numbered_interests(np.repeat(v, lengths), topic, len(names), topics)
            interests = replace(interests, brokers=tuple(names[number] for number in range(len(names))))
            links = harary_per_topic(
                interests, seed=seed, progress=silent, k=k, order=order, even_if_cheaper=False
            )
        yield from _batches_of(links[:, 0], links[:, 1])

    named = coded.rows.select("v", "topics").join(coded.brokers.select("v", "broker"), "v")
    return named.repartition(1).mapInArrow(solve, "a int, b int")


def _tasks(frame: DataFrame, rows: int, a_task: int) -> int:
    return max(frame.sparkSession.sparkContext.defaultParallelism, -(-rows // a_task))


def _together(batches: Iterable[pyarrow.RecordBatch]) -> pyarrow.Table | None:
    found = list(batches)
    return pyarrow.Table.from_batches(found).combine_chunks() if found else None


def _batches_of(a: Ints, b: Ints) -> Iterator[pyarrow.RecordBatch]:
    table = pyarrow.table({"a": a.astype(np.int32), "b": b.astype(np.int32)})
    yield from table.to_batches(max_chunksize=1 << 18)
