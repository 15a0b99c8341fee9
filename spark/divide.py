"""Which broker goes into which part, and how many parts there should be.

Parts come from the seeded hash of the broker's id, or from its place in the order of a few min-hashes of its topics:
the same as the local DC gives it. The number of parts that is best is found from the star sets of three parts for each
number tried, as locally, and never below what keeps every part within ``max_part``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.pandas.functions import pandas_udf
from pyspark.sql.types import IntegerType

from algorithms.divide_conquer import SAMPLED_PARTS, SIGNATURE, parts_to_try
from algorithms.errors import BadInput
from algorithms.interests import Ints, Longs
from algorithms.order import id_hashes, random_parts, seeded
from spark.errors import naming
from spark.ids import Coded, ranked
from spark.kernels import Kernel, stars_of_part
from spark.rows import flat_rows, numbered_interests

_FLIP = np.uint64(1 << 63)
"""Flips the highest bit, so that signed order is the order of the unsigned hashes."""


@dataclass(frozen=True)
class Division:
    """Rows ``(v, key, topics)``, and what makes a part of a key: the hash, or the place among all brokers."""

    rows: DataFrame
    seed: int
    brokers: int
    by_place: bool = False

    def parts_of(self, keys: Longs, parts: int) -> Ints:
        """The part of each key, out of so many."""
        if parts == 1:
            return np.zeros(len(keys), np.int32)
        if self.by_place:
            return (keys * parts // self.brokers).astype(np.int32)
        return random_parts(keys.view(np.uint64), self.seed, parts)

    def divided(self, parts: int) -> DataFrame:
        """Rows ``(part, v, topics)``; as many parts as brokers are one broker each, whatever the hashes."""
        part = sf.col("v") if parts == self.brokers else self._part_column(parts)(sf.col("key"))
        return self.rows.select(part.alias("part"), "v", "topics")

    def _part_column(self, parts: int) -> Callable[[Column], Column]:
        slim = Division(None, self.seed, self.brokers, self.by_place)  # type: ignore[arg-type]

        @pandas_udf(IntegerType())  # type: ignore[call-overload,untyped-decorator]
        def part(keys: pd.Series) -> pd.Series:
            return pd.Series(slim.parts_of(keys.to_numpy(), parts))

        return part  # type: ignore[no-any-return]


def divide(coded: Coded, how: str, seed: int) -> Division:
    """The rows with the keys that parts are made of, ``random`` or ``cluster``."""
    if how == "random":
        return Division(coded.rows.withColumnRenamed("hash", "key"), seed, coded.broker_count)
    places = _cluster_places(coded, seed)
    rows = coded.rows.drop("hash").join(places, "v").select("v", "key", "topics")
    return Division(rows.persist(), seed, coded.broker_count, by_place=True)


def number_of_parts(
    division: Division, parts: int | str, kernel: Kernel, topic_rows: Longs, max_part: int
) -> int:
    """The parts asked for, else the best number."""
    return parts if isinstance(parts, int) else _best_parts(division, kernel, topic_rows, max_part)


def refuse_large_parts(sizes: dict[int, int], parts: int, max_part: int) -> None:
    """Raise :class:`BadInput` where a part has more brokers than a task may be handed."""
    if sizes and max(sizes.values()) > max_part:
        largest = max(sizes, key=lambda part: sizes[part])
        raise BadInput(
            "parts",
            parts,
            f"part {largest} would have {sizes[largest]} brokers, and a task is handed {max_part} at most: "
            "ask for more parts, or raise max_part",
        )


def _best_parts(division: Division, kernel: Kernel, topic_rows: Longs, max_part: int) -> int:
    """The p that makes 1/p + (k~/k)^2 least (dc VII), from one job over a sample of parts for every p tried."""
    brokers = division.brokers
    tried = [p for p in parts_to_try(brokers) if _fits(brokers, p, max_part)]
    best, lowest = 1, 1.0
    if not _fits(brokers, 1, max_part):
        if not tried:
            powers = (1 << n for n in range(1, (brokers // 2).bit_length()))
            tried = [p for p in powers if _fits(brokers, p, max_part)][:1]
        if not tried:
            raise BadInput("max_part", max_part, f"{brokers} brokers cannot be divided into parts that small")
        best, lowest = tried[0], math.inf
    for p, sampled, stars in _star_samples(division, kernel, topic_rows, tried):
        cost = 1 / p + (stars / max(sampled, 1)) ** 2
        if cost < lowest:
            best, lowest = p, cost
    return best


def _fits(brokers: int, parts: int, max_part: int) -> bool:
    """Whether the largest of so many random parts stays below the bound: four deviations are room enough."""
    mean = brokers / parts
    return mean + (4 * math.sqrt(mean) if parts > 1 else 0) <= max_part


def _star_samples(
    division: Division, kernel: Kernel, topic_rows: Longs, tried: list[int]
) -> list[tuple[int, int, int]]:
    """(p, brokers sampled, stars among them) for each p."""
    if not tried:
        return []
    session = division.rows.sparkSession
    held = session.sparkContext.broadcast(topic_rows)
    slim = Division(None, division.seed, division.brokers, division.by_place)  # type: ignore[arg-type]

    def sample(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            keys = batch.column("key").to_numpy()
            for p in tried:
                part = slim.parts_of(keys, p)
                chosen = np.flatnonzero(part < SAMPLED_PARTS)
                if len(chosen):
                    rows = batch.take(pyarrow.array(chosen))
                    yield pyarrow.RecordBatch.from_arrays(
                        [
                            pyarrow.array(np.full(len(chosen), p, np.int32)),
                            pyarrow.array(part[chosen]),
                            rows.column("v"),
                            rows.column("topics"),
                        ],
                        names=["parts", "part", "v", "topics"],
                    )

    def count(key: Any, table: pyarrow.Table) -> pyarrow.Table:
        of, part = key[0].as_py(), key[1].as_py()
        v, topic, lengths = flat_rows(table)
        brokers, row = np.unique(v, return_inverse=True)
        with naming(f"trying {of} parts, part {part} ({len(brokers)} brokers)"):
            stars = sampled(topic, row, lengths, len(brokers))
        return pyarrow.table(
            {
                "parts": table["parts"][:1],
                "brokers": pyarrow.array([len(brokers)], pyarrow.int32()),
                "stars": pyarrow.array([len(stars)], pyarrow.int32()),
            }
        )

    def sampled(topic: Ints, row: Longs, lengths: Longs, brokers: int) -> Ints:
        interests = numbered_interests(np.repeat(row, lengths), topic, brokers, len(held.value))
        # Rows against rows: those of one broker are all in one part, however often they are repeated.
        here = np.bincount(topic, minlength=len(held.value))
        elsewhere = np.flatnonzero(held.value > here).astype(np.int32)
        return stars_of_part(kernel, interests, elsewhere)

    found = (
        division.rows.mapInArrow(sample, "parts int, part int, v int, topics array<int>")
        .groupBy("parts", "part")
        .applyInArrow(count, "parts int, brokers int, stars int")
        .groupBy("parts")
        .agg(sf.sum("brokers").alias("brokers"), sf.sum("stars").alias("stars"))
        .orderBy("parts")
        .collect()
    )
    return [(int(row["parts"]), int(row["brokers"]), int(row["stars"])) for row in found]


def _cluster_places(coded: Coded, seed: int) -> DataFrame:
    """(v, key): the place of each broker in the order of its min-hashes, ties in the seeded random order."""
    names = [f"s{k}" for k in range(SIGNATURE)]

    def sign(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            hashes = id_hashes(batch.column("topic").to_pylist())
            signed = [(seeded(hashes, seed, stream=k + 1) ^ _FLIP).view(np.int64) for k in range(SIGNATURE)]
            yield pyarrow.RecordBatch.from_arrays(
                [batch.column("t"), *map(pyarrow.array, signed)], names=["t", *names]
            )

    def rank_key(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            hashes = batch.column("hash").to_numpy().view(np.uint64)
            order = (seeded(hashes, seed) ^ _FLIP).view(np.int64)
            yield pyarrow.RecordBatch.from_arrays(
                [batch.column("v"), pyarrow.array(order)], names=["v", "place"]
            )

    signs = coded.topics.select("topic", "t").mapInArrow(
        sign, "t int, " + ", ".join(f"{name} long" for name in names)
    )
    signatures = (
        coded.rows.select("v", sf.explode("topics").alias("t"))
        .join(signs, "t")
        .groupBy("v")
        .agg(*[sf.min(name).alias(name) for name in names])
    )
    # A broker without topics comes last, as locally: its signature is the largest number there is.
    everyone = coded.brokers.select("v", "hash").mapInArrow(rank_key, "v int, place long")
    last: dict[str, bool | float | int | str] = dict.fromkeys(names, 2**63 - 1)
    placed, _ = ranked(everyone.join(signatures, "v", "left").fillna(last), "key", *names, "place", "v")
    return placed.select("v", sf.col("key").cast("long").alias("key"))
