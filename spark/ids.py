"""From string ids to dense ones and back, in Spark.

A dense id is the rank of the string id in code-point order, as everywhere (Spark compares strings by their UTF-8
bytes, which is the same order). Sorting gives every partition a range of the ids; how many each holds is all the
driver learns. Subscriptions are packed into one row a broker as early as possible: a million rows of twenty topics
are shuffled and handed to Python in a fraction of the time of twenty million pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow
from numpy.typing import NDArray
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf
from pyspark.sql.pandas.functions import pandas_udf
from pyspark.sql.types import LongType

from algorithms.errors import BadInput
from algorithms.order import id_hashes
from spark.tables import refuse, unfit_in

_ROW_IN_PARTITION = (1 << 33) - 1
"""The bits of Spark's monotonically increasing id that count rows; those above are the partition's number."""


@dataclass(frozen=True)
class Coded:
    """Interests by dense ids.

    ``brokers``: (broker, v, hash), hash being ``id_hashes`` of the id as a signed number; ``topics``: (topic, t, held),
    held being the number of rows; ``rows``: (v, hash, topics), the topics of a broker, in more than one row where the
    source does not keep a broker's subscriptions together.
    """

    brokers: DataFrame
    topics: DataFrame
    rows: DataFrame
    broker_count: int
    topic_count: int
    row_count: int
    whole: bool
    """Whether every broker has one row."""

    def topic_rows(self) -> NDArray[np.int64]:
        """How many rows each topic has, by dense id: its subscribers, and duplicate rows."""
        table = self.topics.select("t", "held").toArrow()
        held = np.zeros(self.topic_count, np.int64)
        held[table["t"].to_numpy()] = table["held"].to_numpy()
        return held

    def topic_sizes(self) -> NDArray[np.int64]:
        """How many subscribers each topic has, by dense id; as :meth:`topic_rows` where no row is repeated."""
        pairs = self.rows.select("v", sf.explode("topics").alias("t")).distinct()
        table = pairs.groupBy("t").count().toArrow()
        sizes = np.zeros(self.topic_count, np.int64)
        sizes[table["t"].to_numpy()] = table["count"].to_numpy()
        return sizes

    def names_of(self, links: DataFrame) -> DataFrame:
        """Links ``(a, b)`` of dense ids as ``(broker_a, broker_b)``; a < b, so the smaller id comes first."""
        first = self.brokers.select(sf.col("v").alias("a"), sf.col("broker").alias("broker_a"))
        second = self.brokers.select(sf.col("v").alias("b"), sf.col("broker").alias("broker_b"))
        return links.join(first, "a").join(second, "b").select("broker_a", "broker_b")


def code(interests: DataFrame, *, topics_may_be_null: bool = False) -> Coded:
    """Give brokers and topics their dense ids, refuse ids that are none, and pack the rows."""
    counted = interests.groupBy("topic").agg(sf.count(sf.lit(1)).alias("held")).persist()
    known = counted.where("topic IS NOT NULL")
    held = sf.sum(sf.when(sf.col("topic").isNotNull(), sf.col("held")))
    unfit_topic = unfit_in("topic", null_is_fine=topics_may_be_null)
    groups, row_count, topic_count, unfit = counted.agg(
        sf.count(sf.lit(1)), held, sf.count("topic"), unfit_topic
    ).collect()[0]
    if not groups:
        raise BadInput("interests", 0, "the table has no rows")
    refuse(unfit, "topic")
    # Topics are few beside brokers: one task sorts them.
    place = sf.row_number().over(Window.orderBy("topic")) - 1
    topics = known.withColumn("t", place).persist()

    packed = _packed(interests, topics).persist()
    packed_count, unfit = packed.agg(sf.count(sf.lit(1)), unfit_in("broker")).collect()[0]
    refuse(unfit, "broker")
    counted.unpersist()
    ordered, broker_count = ranked(packed.select("broker").distinct(), "v", "broker")
    brokers = ordered.withColumn("hash", _hash("broker")).persist()
    rows = packed.join(brokers, "broker").select("v", "hash", "topics").persist()
    return Coded(
        brokers, topics, rows, broker_count, topic_count, row_count or 0, packed_count == broker_count
    )


def ranked(frame: DataFrame, name: str, *order: str) -> tuple[DataFrame, int]:
    """The frame with each row's place in a total order as the int column ``name``, and the number of rows."""
    ordered = (
        frame.repartitionByRange(frame.sparkSession.sparkContext.defaultParallelism, *order)
        .sortWithinPartitions(*order)
        .persist()
    )
    sizes = {
        int(row["place"]): int(row["count"])
        for row in ordered.groupBy(sf.spark_partition_id().alias("place")).count().collect()
    }
    offsets = np.concatenate([[0], np.cumsum([sizes.get(p, 0) for p in range(max(sizes, default=-1) + 1)])])
    place = sf.monotonically_increasing_id().bitwiseAND(sf.lit(_ROW_IN_PARTITION))
    offset = sf.element_at(sf.array(*[sf.lit(int(o)) for o in offsets]), sf.spark_partition_id() + 1)
    return ordered.withColumn(name, (place + offset).cast("int")), int(offsets[-1])


def _packed(interests: DataFrame, topics: DataFrame) -> DataFrame:
    """(broker, topics): the dense topics of a broker, as far as its rows stand together."""
    coded = interests.join(topics.select("topic", "t"), "topic", "left").select("broker", "t")
    return coded.mapInArrow(_pack, "broker string, topics array<int>")


def _pack(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    for batch in batches:
        encoded = batch.column("broker").dictionary_encode(null_encoding="encode")
        row = encoded.indices.to_numpy(zero_copy_only=False)
        order = np.argsort(row, kind="stable")
        topic = batch.column("t").take(pyarrow.array(order))
        known = np.asarray(topic.is_valid())
        starts = np.zeros(len(encoded.dictionary) + 1, np.int64)
        np.cumsum(np.bincount(row[order][known], minlength=len(encoded.dictionary)), out=starts[1:])
        lists = pyarrow.ListArray.from_arrays(
            pyarrow.array(starts.astype(np.int32)), topic.drop_null().cast(pyarrow.int32())
        )
        yield pyarrow.RecordBatch.from_arrays([encoded.dictionary, lists], names=["broker", "topics"])


@pandas_udf(LongType())  # type: ignore[call-overload,untyped-decorator]
def _hash(ids: pd.Series) -> pd.Series:
    return pd.Series(id_hashes(ids).view(np.int64))
