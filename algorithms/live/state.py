"""The arrays of a live overlay and the string ids that go with them: loaded, grown, rolled back, taken out again.

A broker or topic has a *slot*, a number it keeps for as long as it lives; the slots of those that went are used again,
the last one first. Dense ids, which are ranks and shift with every join, exist only in an Overlay.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from algorithms.interests import Interests, Ints, Longs
from algorithms.jit import kernel
from algorithms.live.rows import (
    KINDS,
    LENGTH,
    LOGGED,
    NEIGHBOURS,
    ROOM,
    SETTLED,
    SHORT_OF,
    SIZES,
    START,
    SUBSCRIBERS,
    TOP,
    TOPICS,
    OutOfRoom,
    grown,
    roll_back,
)
from algorithms.overlay import Overlay

Arrays = tuple[Ints, Longs, Longs, Longs, Longs]
_Result = TypeVar("_Result")

SCRATCH_ROWS = 8
_FIRST_LOG = 1 << 12
_LAST_STAMP = 1 << 30


class Slots:
    """Names and the slots they have; a slot given back is the next to be given out."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.name: list[str | None] = list(names)
        self.of: dict[str, int] = {name: slot for slot, name in enumerate(names)}
        self.unused: list[int] = []

    def frozen(self) -> Slots:
        """A copy of the names and their slots."""
        copy = Slots(())
        copy.name, copy.of = self.name.copy(), self.of.copy()
        return copy

    def next(self, count: int) -> list[int]:
        """The slots that so many newcomers will get."""
        recycled = self.unused[: -count - 1 : -1]
        return recycled + list(range(len(self.name), len(self.name) + count - len(recycled)))

    def copy(self) -> Slots:
        """The same names in the same slots."""
        twin = Slots(())
        twin.name, twin.of, twin.unused = self.name.copy(), self.of.copy(), self.unused.copy()
        return twin

    def add(self, name: str) -> int:
        """Give a name the next slot."""
        if self.unused:
            slot = self.unused.pop()
            self.name[slot] = name
        else:
            slot = len(self.name)
            self.name.append(name)
        self.of[name] = slot
        return slot

    def remove(self, name: str) -> None:
        """Take a name's slot back."""
        slot = self.of.pop(name)
        self.name[slot] = None
        self.unused.append(slot)

    def unadd(self, name: str, was_unused: bool) -> None:
        """Undo the last :meth:`add`; ``was_unused`` says whether its slot had been used before."""
        slot = self.of.pop(name)
        if was_unused:
            self.name[slot] = None
            self.unused.append(slot)
        else:
            self.name.pop()

    def unremove(self, name: str) -> None:
        """Undo the last :meth:`remove`."""
        slot = self.unused.pop()
        self.name[slot] = name
        self.of[name] = slot


class State:
    """All that a live overlay consists of, and the scratch that kernels work in."""

    def __init__(self, overlay: Overlay) -> None:
        interests = overlay.interests
        self.brokers = Slots(interests.brokers)
        self.topics = Slots(interests.topics)
        self.links = len(overlay.links)
        self.subscriptions = interests.subscriptions
        self.pool, self.rows = _loaded(overlay)
        self.free = np.full(SIZES, -1, np.int64)
        self.counts = np.zeros(4, np.int64)
        self.counts[TOP] = len(self.pool)
        self.log = np.empty((_FIRST_LOG, 3), np.int64)
        self.clock = np.zeros(1, np.int64)
        self._make_scratch()

    @property
    def arrays(self) -> Arrays:
        """The arrays as the kernels take them."""
        return self.pool, self.rows, self.free, self.counts, self.log

    def images(self) -> tuple[bytes, ...]:
        """The used part of every array, as bytes: equal images are equal states, to the bit."""
        used = KINDS * max(len(self.brokers.name), len(self.topics.name))
        return (
            self.pool[: self.counts[TOP]].tobytes(),
            self.rows[:used].tobytes(),
            self.free.tobytes(),
            self.counts[:1].tobytes(),
            repr((self.brokers.name, self.brokers.unused, self.topics.name, self.topics.unused)).encode(),
            repr((self.links, self.subscriptions)).encode(),
        )

    def make_room(self, brokers: int, topics: int) -> None:
        """Room for so many slots in all; doubled when short, so that growing costs O(1) a broker."""
        wanted = max(brokers, topics)
        if wanted * KINDS > len(self.rows):
            self.rows = grown(self.rows, KINDS * max(wanted, len(self.rows) // KINDS * 2))
            self._make_scratch()

    def make_log_room(self, writes: int) -> None:
        """Room for so many more writes: running out costs nothing but time, as what runs out is done again."""
        wanted = int(self.counts[LOGGED]) + writes
        if wanted > len(self.log):
            self.log = grown(self.log, max(wanted, 2 * len(self.log)))

    def begin(self) -> None:
        """Start an empty log: what is written from here on can be rolled back."""
        self.counts[LOGGED] = 0
        self.counts[SETTLED] = self.counts[TOP]
        if self.clock[0] > _LAST_STAMP:
            self._make_scratch()

    def attempt(self, work: Callable[[], _Result]) -> _Result:
        """Call something that runs kernels on the arrays, again with more room whenever that runs out."""
        begun = int(self.counts[LOGGED])
        while True:
            try:
                return work()
            except OutOfRoom:
                short_of = int(self.counts[SHORT_OF])
                self.take_back(begun)
                self._reset_scratch()
                if short_of == TOP:
                    self.pool = grown(self.pool, len(self.pool) * 5 // 4 + 1024)
                else:
                    self.log = grown(self.log, len(self.log) * 2)

    def take_back(self, until: int = 0) -> None:
        """Roll back to a moment of the log."""
        roll_back(until, int(self.counts[LOGGED]), *self.arrays)

    def undo(self, noted: Longs) -> None:
        """Roll back writes that were kept from an earlier log."""
        roll_back(0, len(noted), self.pool, self.rows, self.free, self.counts, noted)

    def row(self, kind: int, slot: int) -> Ints:
        """A copy of one row."""
        start, length = self.rows[KINDS * slot + kind, :2].tolist()
        return self.pool[start : start + length].copy()

    def lengths(self, kind: int) -> Longs:
        """The lengths of all rows of a kind, by slot, unused slots included."""
        slots = self.topics if kind == SUBSCRIBERS else self.brokers
        lengths: Longs = self.rows[kind::KINDS, LENGTH][: len(slots.name)]
        return lengths

    def overlay(self) -> Overlay:
        """The brokers, topics, subscriptions and links of this moment, with dense ids."""
        brokers, broker_rank = _ranked(self.brokers)
        topics, topic_rank = _ranked(self.topics)
        subscriptions = _pairs(self.rows, self.pool, TOPICS, len(self.brokers.name))
        interests = Interests.from_dense(
            brokers, topics, broker_rank[subscriptions[:, 0]], topic_rank[subscriptions[:, 1]]
        )
        ends = _pairs(self.rows, self.pool, NEIGHBOURS, len(self.brokers.name))
        return Overlay.from_links(interests, broker_rank[ends[ends[:, 0] < ends[:, 1]]])

    def frozen(self) -> State:
        """A copy to read from in another thread while this one goes on; it cannot be changed or rolled back."""
        copy = State.__new__(State)
        copy.brokers, copy.topics = self.brokers.frozen(), self.topics.frozen()
        copy.pool, copy.rows = self.pool[: self.counts[TOP]].copy(), self.rows.copy()
        return copy

    def copy(self) -> State:
        """An equal state that goes its own way."""
        twin = State.__new__(State)
        twin.brokers, twin.topics = self.brokers.copy(), self.topics.copy()
        twin.links, twin.subscriptions = self.links, self.subscriptions
        twin.pool, twin.rows = self.pool.copy(), self.rows.copy()
        twin.free, twin.counts = self.free.copy(), self.counts.copy()
        twin.log = np.empty((_FIRST_LOG, 3), np.int64)
        twin.clock = np.zeros(1, np.int64)
        twin._make_scratch()
        return twin

    def _make_scratch(self) -> None:
        self.scratch = np.zeros((SCRATCH_ROWS, len(self.rows) // KINDS), np.int32)
        self._reset_scratch()
        self.clock[0] = 0

    def _reset_scratch(self) -> None:
        self.scratch[-2:] = -1


def _ranked(slots: Slots) -> tuple[list[str], Ints]:
    names = sorted(slots.of)
    rank = np.full(len(slots.name), -1, np.int32)
    rank[[slots.of[name] for name in names]] = np.arange(len(names), dtype=np.int32)
    return names, rank


def _loaded(overlay: Overlay) -> tuple[Ints, Longs]:
    """Pool and rows of an overlay: topics tightly packed, rows that every join lengthens with some room."""
    interests, brokers, topics = (
        overlay.interests,
        len(overlay.interests.brokers),
        len(overlay.interests.topics),
    )
    rows = np.zeros((KINDS * max(brokers, topics, 8), 4), np.int64)
    subscribers, degrees = interests.topic_sizes(), overlay.degrees()
    rows[TOPICS::KINDS, LENGTH][:brokers] = interests.broker_sizes()
    rows[NEIGHBOURS::KINDS, LENGTH][:brokers] = degrees
    rows[SUBSCRIBERS::KINDS, LENGTH][:topics] = subscribers
    rows[:, ROOM] = rows[:, LENGTH]
    rows[NEIGHBOURS::KINDS, ROOM][:brokers] += 2
    rows[SUBSCRIBERS::KINDS, ROOM][:topics] += subscribers // 8 + 2
    ends = np.cumsum(rows[:, ROOM])
    rows[1:, START] = ends[:-1]
    pool = np.zeros(max(int(ends[-1]), 1), np.int32)
    _fill(
        rows,
        pool,
        interests.broker_start,
        interests.broker_topics,
        interests.topic_start,
        interests.topic_brokers,
        overlay.links,
    )
    return pool, rows


@kernel
def _fill(
    rows: Longs,
    pool: Ints,
    broker_start: Longs,
    broker_topics: Ints,
    topic_start: Longs,
    topic_brokers: Ints,
    links: Ints,
) -> None:
    for v in range(len(broker_start) - 1):
        start = rows[KINDS * v + TOPICS, START]
        for i in range(broker_start[v + 1] - broker_start[v]):
            pool[start + i] = broker_topics[broker_start[v] + i]
        rows[KINDS * v + NEIGHBOURS, LENGTH] = 0
    for t in range(len(topic_start) - 1):
        start = rows[KINDS * t + SUBSCRIBERS, START]
        for i in range(topic_start[t + 1] - topic_start[t]):
            pool[start + i] = topic_brokers[topic_start[t] + i]
    for i in range(len(links)):
        for side in range(2):
            row = KINDS * links[i, side] + NEIGHBOURS
            pool[rows[row, START] + rows[row, LENGTH]] = links[i, 1 - side]
            rows[row, LENGTH] += 1


@kernel
def _pairs(rows: Longs, pool: Ints, kind: int, slots: int) -> Ints:
    """All (slot, entry) of the rows of a kind."""
    n = 0
    for slot in range(slots):
        n += rows[KINDS * slot + kind, LENGTH]
    pairs = np.empty((n, 2), np.int32)
    n = 0
    for slot in range(slots):
        start = rows[KINDS * slot + kind, START]
        for at in range(start, start + rows[KINDS * slot + kind, LENGTH]):
            pairs[n, 0] = slot
            pairs[n, 1] = pool[at]
            n += 1
    return pairs
