"""Running bulk algorithms in tests, and looking at what came out."""

from __future__ import annotations

from typing import Any

import pyarrow
from pyspark.sql import DataFrame, SparkSession

from algorithms import Interests, Overlay
from algorithms.bulk import parse_bulk
from spark import bulk
from spark.ids import Coded
from spark.stages import Stages


def built(interests: DataFrame, algorithm: str, **params: Any) -> bulk.Built:
    stages = Stages(interests.sparkSession, {})
    return bulk.build(interests, algorithm, parse_bulk(algorithm, params), stages)


def built_coded(coded: Coded, algorithm: str, **params: Any) -> bulk.Built:
    stages = Stages(coded.rows.sparkSession, {})
    return bulk.build_coded(coded, algorithm, parse_bulk(algorithm, params), stages)


def overlay_of(job: bulk.Built, interests: Interests) -> Overlay:
    """The links as an overlay; each must be there once, the smaller id first."""
    pairs = [(row["broker_a"], row["broker_b"]) for row in job.links.collect()]
    assert all(a < b for a, b in pairs)
    assert len(set(pairs)) == len(pairs) == job.figures["links"]
    return Overlay.from_names(interests, pairs)


def frame(session: SparkSession, interests: Interests, *, copies: int = 1, slices: int = 3) -> DataFrame:
    """Interests as a frame whose rows are scattered and, with copies, repeated."""
    rows = [(broker, topic) for broker in interests.brokers for topic in interests.topics_of(broker)]
    scattered = sorted(rows * copies, key=lambda row: (row[1], row[0]))
    return table(session, ("broker", "topic"), scattered).repartition(slices)


def links_frame(session: SparkSession, pairs: list[tuple[str, str]]) -> DataFrame:
    """Links as a frame."""
    return table(session, ("broker_a", "broker_b"), pairs)


def table(session: SparkSession, names: tuple[str, str], rows: list[tuple[str, str]]) -> DataFrame:
    """A frame of two columns of ids, by way of Arrow: lists of tuples would go through Python workers."""
    columns = {
        name: pyarrow.array([row[n] for row in rows], pyarrow.string()) for n, name in enumerate(names)
    }
    return session.createDataFrame(pyarrow.table(columns))
