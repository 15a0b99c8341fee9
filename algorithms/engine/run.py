"""One run of the engine: what is kept between kernels, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from algorithms.engine.components import Components
from algorithms.engine.entries import ACCEPTED, MARKED, SPENT
from algorithms.interests import Interests, Ints, Longs
from algorithms.progress import Progress

ENTRY_BYTES = 12
VISITS_PER_ENTRY = 400
SMALLEST_BAND = 1 << 14
WORDS_PER_VISIT = 4
"""Words of two bitsets that are compared in the time of one visit to a member of a list."""


@dataclass(frozen=True)
class Limits:
    """How much a run may hold, and do between two reports; tests make these tiny to force many passes and slices.

    ``bitsets``: count by bitsets, by lists, or by what costs less.
    """

    memory_mb: int = 2048
    entries: int | None = None
    visits: int = 1 << 26
    steps: int = 1 << 18
    bitsets: bool | None = None

    @property
    def most_entries(self) -> int:
        """How many pairs a band may hold at the most; growing one copies it, so half of the memory is for that."""
        return self.entries or self.memory_mb * 1_000_000 // 2 // ENTRY_BYTES

    def band_entries(self, visits: int) -> int:
        """How many pairs to store for so many visits: few, as counting again is cheaper than weighing stored pairs."""
        return min(self.most_entries, max(visits // VISITS_PER_ENTRY, SMALLEST_BAND))

    def count_by_bits(self, rows: int, topics: int, visits: int) -> bool:
        """Whether comparing the bitsets of all pairs of rows costs less than so many visits to members of lists."""
        words = rows * rows // 2 * ((topics + 63) // 64)
        return words < WORDS_PER_VISIT * visits if self.bitsets is None else self.bitsets


@dataclass(frozen=True)
class Rows:
    """The topics of some brokers, numbered from 0: what the engine needs of interests."""

    broker_start: Longs
    broker_topics: Ints
    topics: int

    @classmethod
    def of(cls, interests: Interests, brokers: Ints | None = None) -> Rows:
        """The rows of all brokers, or of those given; row i is the i-th of them."""
        topics = len(interests.topics)
        if brokers is None:
            # Copies, because kernels would be compiled once more for read-only arrays.
            return cls(interests.broker_start.copy(), interests.broker_topics.copy(), topics)
        start = np.zeros(len(brokers) + 1, np.int64)
        np.cumsum(interests.broker_sizes()[brokers], out=start[1:])
        shift = np.repeat(interests.broker_start[brokers] - start[:-1], np.diff(start))
        return cls(start, interests.broker_topics[np.arange(start[-1]) + shift], topics)


@dataclass(frozen=True)
class Accepted:
    """What a run accepted: links as dense broker ids in order, what each contributed at its step, and the effort."""

    links: Ints
    contributions: Ints
    passes: int
    evaluations: int


class Run:
    """The state of one run between kernels: components, degrees, links so far."""

    def __init__(
        self,
        interests: Interests | Rows,
        *,
        seed: int,
        limits: Limits,
        report: Progress,
        group: Ints | None = None,
        barred: Ints | None = None,
        degrees: Ints | None = None,
    ) -> None:
        rows = interests if isinstance(interests, Rows) else Rows.of(interests)
        brokers = len(rows.broker_start) - 1
        everyone = np.arange(brokers, dtype=np.int32)
        self.components = Components.seeded(
            everyone, rows.broker_start, rows.broker_topics, rows.topics, group
        )
        self.seed = seed & 0x7FFFFFFF
        self.limits = limits
        self.report = report
        self.degrees = np.zeros(brokers, np.int32) if degrees is None else degrees.astype(np.int32)
        self.barred_pairs = np.empty((0, 2), np.int32) if barred is None else barred
        self.joins = self.components.to_join
        self.links = np.empty((self.joins, 2), np.int32)
        self.gains = np.empty(self.joins, np.int32)
        self.cursor = np.zeros(8, np.int64)
        self.named = 0
        self.passes = 0
        self.compact()

    def compact(self) -> None:
        """Drop finished topics and renumber the rows; links and degrees so far are kept by broker."""
        self._name_links()
        self.components = self.components.compacted()
        self.degree = self.degrees[self.components.broker]
        self.barred_start, self.barred = _barred_rows(
            self.barred_pairs, self.components.broker, len(self.degrees)
        )
        self.cursor[MARKED] = -1
        self.mark = np.full(len(self.components.apart), -1, np.int32)

    def _name_links(self) -> None:
        accepted = int(self.cursor[ACCEPTED])
        fresh = self.links[self.named : accepted]
        if self.named < accepted:
            fresh[:] = self.components.broker[fresh]
            np.add.at(self.degrees, fresh.ravel(), 1)
            self.named = accepted

    def all_degrees(self) -> Ints:
        """The degree of every broker at this moment, those without unfinished topics as well."""
        degrees = self.degrees.copy()
        degrees[self.components.broker] = self.degree
        return degrees

    def done(self, stage: str) -> None:
        """Report the share of joins made."""
        left = self.components.to_join
        self.report(1.0 - left / self.joins if self.joins else 1.0, stage)

    def accepted(self) -> Accepted:
        """The result so far."""
        self._name_links()
        return Accepted(
            self.links[: self.named].copy(),
            self.gains[: self.named].copy(),
            self.passes,
            int(self.cursor[SPENT]),
        )


def _barred_rows(pairs: Ints, broker: Ints, brokers: int) -> tuple[Longs, Ints]:
    """The barred pairs of the rows at work, both ways, by row."""
    start = np.zeros(len(broker) + 1, np.int64)
    if not len(pairs):
        return start, np.empty(0, np.int32)
    row = np.full(brokers, -1, np.int32)
    row[broker] = np.arange(len(broker), dtype=np.int32)
    both = row[np.concatenate([pairs, pairs[:, ::-1]])]
    both = both[(both >= 0).all(axis=1)]
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    start[1:] = np.cumsum(np.bincount(both[:, 0], minlength=len(broker)))
    return start, np.ascontiguousarray(both[:, 1])
