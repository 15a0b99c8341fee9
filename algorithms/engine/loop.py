"""The greedy loop: progress x rule x candidates, from interests to links in the order they were accepted.

Each turn drops finished topics, counts a band of the best pairs within the memory bound, and lets the rule work it
off. Kernels return after a slice of work, so the progress callback is called several times a second and can stop it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from algorithms.engine import band, largest, trees
from algorithms.engine.components import Components, by_topic
from algorithms.interests import Interests, Ints, Longs
from algorithms.registry import Progress, silent

Ties = Literal["degree", "row", "random"]

ENTRY_BYTES = 12
VISITS_PER_ENTRY = 200
SMALLEST_BAND = 1 << 18


@dataclass(frozen=True)
class Limits:
    """How much a run may hold, and do between two reports; tests make these tiny to force many passes and slices."""

    memory_mb: int = 2048
    entries: int | None = None
    visits: int = 1 << 26
    steps: int = 1 << 20

    @property
    def most_entries(self) -> int:
        """How many pairs a band may hold at the most; growing one copies it, so half of the memory is for that."""
        return self.entries or self.memory_mb * 1_000_000 // 2 // ENTRY_BYTES

    def band_entries(self, visits: int) -> int:
        """How many pairs to store for so many visits: few, as counting again is cheaper than weighing stored pairs."""
        return min(self.most_entries, max(visits // VISITS_PER_ENTRY, SMALLEST_BAND))


@dataclass(frozen=True)
class Accepted:
    """What a run accepted: links as dense broker ids in order, what each contributed at its step, and the effort."""

    links: Ints
    contributions: Ints
    passes: int
    evaluations: int


@dataclass
class Band:
    """Entries (pairs of rows) of contribution ``lowest`` and above, queued by level."""

    lowest: int
    highest: int
    first: Ints
    second: Ints
    following: Ints
    head: Ints
    tail: Ints


class Run:
    """The state of one run between kernels: components, degrees, links so far."""

    def __init__(
        self,
        interests: Interests,
        *,
        seed: int,
        limits: Limits,
        report: Progress,
        group: Ints | None = None,
        barred: Ints | None = None,
        degrees: Ints | None = None,
    ) -> None:
        brokers = len(interests.brokers)
        everyone = np.arange(brokers, dtype=np.int32)
        self.components = Components.seeded(
            everyone,
            interests.broker_start.copy(),
            interests.broker_topics.copy(),
            len(interests.topics),
            group,
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
        self.cursor[largest.MARKED] = -1
        self.mark = np.full(len(self.components.apart), -1, np.int32)

    def _name_links(self) -> None:
        accepted = int(self.cursor[largest.ACCEPTED])
        fresh = self.links[self.named : accepted]
        if self.named < accepted:
            fresh[:] = self.components.broker[fresh]
            np.add.at(self.degrees, fresh.ravel(), 1)
            self.named = accepted

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
            int(self.cursor[largest.SPENT]),
        )


def connect_largest(
    interests: Interests,
    *,
    ties: Ties = "degree",
    seed: int = 0,
    limits: Limits | None = None,
    progress: Progress = silent,
    group: Ints | None = None,
    barred: Ints | None = None,
    degrees: Ints | None = None,
) -> Accepted:
    """Connect every topic by the rule "largest contribution".

    ``group``: subscriptions (broker by broker) of a topic with the same number are connected already; ``barred``: pairs
    of brokers that may not be linked; ``degrees``: links each broker has before.
    """
    run = Run(
        interests,
        seed=seed,
        limits=limits or Limits(),
        report=progress,
        group=group,
        barred=barred,
        degrees=degrees,
    )
    take_largest(run, get_args(Ties).index(ties))
    return run.accepted()


class Pass:
    """One counting pass over the rows: hands out the best pairs that fit, as one band or, where a level alone does not
    fit, as several of that level."""

    def __init__(self, run: Run, ceiling: int) -> None:
        c = run.components
        rows = len(c.broker)
        run.passes += 1
        self.run = run
        self.list_start, self.member, self.member_label, self.walk_list, self.walk_from = band.make_lists(
            c.row_start, c.row_topic, c.label, c.size, len(c.apart), np.ones(rows, np.bool_)
        )
        entries = run.limits.band_entries(band.count_visits(self.list_start, self.walk_list, self.walk_from))
        self.most_entries = max(run.limits.most_entries, rows)
        self.first, self.second, self.value = np.empty((3, max(entries, rows)), np.int32)
        most = int(c.row_start[1] - c.row_start[0])
        self.levels = np.zeros(most + 2, np.int64)
        self.gauge = np.array([2, 0, 0, rows, ceiling], np.int64)
        self.list_end = self.list_start[1:].copy()
        self.count = np.zeros(rows, np.int16 if most < 1 << 14 else np.int32)
        self.reached = np.empty(rows, np.int32)
        band.cut_lists(self.gauge, c.row_start, self.list_start, self.list_end, self.member)

    @property
    def complete(self) -> bool:
        """Whether every row was counted."""
        return bool(self.gauge[band.ROW] >= self.gauge[band.REACH])

    def next_band(self) -> Band:
        """Count on, to the end or until the entries are full of pairs at the ceiling."""
        run, c = self.run, self.run.components
        self.gauge[band.FILLED] = 0
        self.levels[:] = 0
        while not self.complete:
            room = len(self.first) < self.most_entries
            full = band.count_pairs(
                self.gauge,
                run.limits.visits,
                room,
                c.row_start,
                self.list_start,
                self.list_end,
                self.member,
                self.member_label,
                c.label,
                self.walk_list,
                self.walk_from,
                run.barred_start,
                run.barred,
                self.count,
                self.reached,
                self.first,
                self.second,
                self.value,
                self.levels,
            )
            if full and not room:
                break
            if full:
                entries = min(2 * len(self.first), self.most_entries)
                self.first, self.second, self.value = (
                    np.resize(array, entries) for array in (self.first, self.second, self.value)
                )
            run.done("counting pairs")
        head, tail = np.full((2, len(self.levels)), -1, np.int32)
        largest.queue_levels(int(self.gauge[band.FILLED]), self.value, head, tail)
        highest = int(np.flatnonzero(self.levels).max(initial=0))
        return Band(int(self.gauge[band.LEVEL]), highest, self.first, self.second, self.value, head, tail)


def take_largest(run: Run, ties: int) -> None:
    """The rule "largest contribution" to the end: GM, and the merges when the components are seeded with parts."""
    c = run.components
    ceiling = int(c.row_start[1]) if len(c.broker) else 0
    while ceiling > 1 and len(run.components.apart):
        counting = Pass(run, ceiling)
        while not counting.complete:
            work_off(run, counting.next_band(), ties)
        ceiling = int(counting.gauge[band.LEVEL]) - 1
        run.compact()
    finish(run, ties)


def work_off(run: Run, found: Band, ties: int) -> None:
    """Accept the links of a band."""
    c = run.components
    keys = (
        largest.RANDOM_KEYS if ties == largest.TIES_RANDOM else int(run.degree.max(initial=0)) + len(c.broker)
    )
    key_head, key_tail = np.full((2, keys + 1), -1, np.int32)
    run.cursor[largest.TOP] = found.highest
    run.cursor[largest.KEY] = -1
    while not largest.take_largest(
        run.cursor,
        run.limits.steps,
        found.lowest,
        ties,
        run.seed,
        c.row_start,
        c.row_topic,
        c.label,
        c.ring,
        c.size,
        c.apart,
        run.degree,
        run.mark,
        found.first,
        found.second,
        found.following,
        found.head,
        found.tail,
        key_head,
        key_tail,
        run.links,
        run.gains,
    ):
        run.done("joining components")


def finish(run: Run, ties: int) -> None:
    """Trees over the components that are left, when no pair contributes more than 1."""
    c = run.components
    topic_start, member, subscription = by_topic(c.row_start, c.row_topic, len(c.apart))
    due = np.zeros(len(c.apart), np.int32)
    trees.grow_trees(
        trees.NEVER - 1,
        ties,
        run.seed,
        run.cursor,
        topic_start,
        member,
        subscription,
        c.label,
        c.ring,
        c.size,
        c.apart,
        run.degree,
        run.barred_start,
        run.barred,
        due,
        run.links,
        run.gains,
    )
    run.done("growing trees")


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


def part_of(progress: Progress, start: float, end: float) -> Progress:
    """A callback that reports 0 to 1 as ``start`` to ``end`` of another."""

    def report(done: float, stage: str) -> None:
        progress(start + done * (end - start), stage)

    return report
