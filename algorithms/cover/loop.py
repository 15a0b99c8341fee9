"""The loop of a degree cover: the best-scored pair becomes a link, until nobody needs anything.

Every subscriber can find enough links in its topic, so the loop ends with no need left; inside a level the pair with
the lowest larger degree comes first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from algorithms.components import common_slots
from algorithms.cover import band
from algorithms.cover.band import CEILING, FILLED, LEVEL, ROW
from algorithms.cover.score import Score, level_of
from algorithms.engine import Limits
from algorithms.engine.entries import ACCEPTED, KEY, TOP, append, queue_levels
from algorithms.interests import Interests, Ints, Longs
from algorithms.jit import kernel
from algorithms.registry import Progress, silent

VISITS_PER_ENTRY = 800
"""How many visits of a counting pass it takes to store one pair: counting again is cheaper than weighing many."""
SMALLEST_BAND = 1 << 16


def cover(
    interests: Interests,
    k: int,
    score: Score,
    *,
    existing: Ints | None = None,
    limits: Limits | None = None,
    progress: Progress = silent,
) -> Ints:
    """Links such that every subscriber has min(k, n_t - 1) of them in each of its topics, in the order taken.

    ``existing`` links serve needs and are not among those returned.
    """
    limits = limits or Limits()
    before = np.empty((0, 2), np.int32) if existing is None else existing
    run = _Run(interests, k, score, before)
    whole = max(run.left, 1)
    ceiling = run.most_level
    while run.left:
        ceiling = run.one_pass(ceiling, limits, lambda: progress(1 - run.left / whole, "covering needs"))
    progress(1.0, "covering needs")
    return run.links[: run.cursor[ACCEPTED]]


class _Run:
    """The state of one run between kernels."""

    def __init__(self, interests: Interests, k: int, score: Score, existing: Ints) -> None:
        self.interests = interests
        self.score = score
        self.existing = existing
        sizes = interests.topic_sizes()
        self.need = np.minimum(k, sizes - 1)[interests.broker_topics].astype(np.int32)
        self.place = np.empty(interests.subscriptions, np.int64)
        self.place[np.argsort(interests.broker_topics, kind="stable")] = np.arange(interests.subscriptions)
        self.slots = np.empty((2, int(interests.broker_sizes().max(initial=0))), np.int64)
        serve(interests.broker_start, interests.broker_topics, existing, self.need, self.slots)
        # Each link serves at least one need.
        self.links = np.empty((self.left, 2), np.int32)
        self.degree = np.bincount(existing.ravel(), minlength=len(interests.brokers)).astype(np.int32)
        self.cursor = np.zeros(8, np.int64)
        worth = (score.unit[interests.broker_topics].astype(np.int64) * score.gain[self.need]).sum(initial=0)
        self.most_level = int(level_of(min(2 * int(worth), (1 << 31) - 1), score.bits))

    @property
    def left(self) -> int:
        """The sum of all needs."""
        return int(self.need.sum(dtype=np.int64))

    def one_pass(self, ceiling: int, limits: Limits, report: Callable[[], None]) -> int:
        """Count the best pairs that fit and work them off; returns the bound on what is left."""
        i, score = self.interests, self.score
        rows = len(i.brokers)
        # A band may be worked off before the last row is counted: the pass goes on with the needs it began with,
        # which bound the later ones from above.
        need = self.need.copy()
        list_start, member, weight, walk_from = band.make_lists(
            i.topic_start, i.topic_brokers, self.place, need, score.unit, score.gain
        )
        linked_start, linked = self._linked()
        visits = _count_visits(list_start, i.broker_topics, self.place, need, walk_from)
        most_entries = max(limits.most_entries, rows)
        entries = min(most_entries, max(visits // VISITS_PER_ENTRY, SMALLEST_BAND, rows))
        first, second, value = np.empty((3, entries), np.int32)
        levels = np.zeros(self.most_level + 2, np.int64)
        gauge = np.zeros(4, np.int64)
        gauge[LEVEL], gauge[CEILING] = 1, ceiling
        count = np.zeros(rows, np.int32)
        reached = np.empty(rows, np.int32)
        while gauge[ROW] < rows:
            may_grow = len(first) < most_entries
            full = band.count_pairs(
                gauge,
                limits.visits,
                may_grow,
                score.bits,
                i.broker_start,
                i.broker_topics,
                self.place,
                need,
                score.unit,
                score.gain,
                list_start,
                member,
                weight,
                walk_from,
                linked_start,
                linked,
                count,
                reached,
                first,
                second,
                value,
                levels,
            )
            report()
            if full and may_grow:
                wider = min(2 * len(first), most_entries)
                first, second, value = (np.resize(array, wider) for array in (first, second, value))
            elif full or gauge[ROW] >= rows:
                self._work_off(gauge, first, second, value, levels, limits.steps, report)
        return int(gauge[LEVEL]) - 1

    def _linked(self) -> tuple[Longs, Ints]:
        """The links so far, each with its smaller end, in compressed rows: a row is paired with later ones only."""
        links = np.concatenate([self.existing, self.links[: self.cursor[ACCEPTED]]])
        low, high = links.min(axis=1, initial=np.iinfo(np.int32).max), links.max(axis=1, initial=-1)
        starts = np.zeros(len(self.degree) + 1, np.int64)
        np.cumsum(np.bincount(low, minlength=len(self.degree)), out=starts[1:])
        return starts, high[np.argsort(low, kind="stable")]

    def _work_off(
        self,
        gauge: Longs,
        first: Ints,
        second: Ints,
        value: Ints,
        levels: Longs,
        steps: int,
        report: Callable[[], None],
    ) -> None:
        """Accept the links of a band and empty it."""
        i, score = self.interests, self.score
        head, tail = np.full((2, len(levels)), -1, np.int32)
        queue_levels(0, int(gauge[FILLED]), value, head, tail)
        keys = int(self.degree.max()) + len(self.degree)
        key_head, key_tail = np.full((2, keys + 1), -1, np.int32)
        self.cursor[TOP] = np.flatnonzero(levels).max(initial=0)
        self.cursor[KEY] = -1
        while not _take(
            self.cursor,
            steps,
            int(gauge[LEVEL]),
            score.bits,
            i.broker_start,
            i.broker_topics,
            self.need,
            score.unit,
            score.gain,
            self.degree,
            first,
            second,
            value,
            head,
            tail,
            key_head,
            key_tail,
            self.slots,
            self.links,
        ):
            report()
        gauge[FILLED] = 0
        levels[:] = 0


@kernel
def serve(broker_start: Longs, broker_topics: Ints, links: Ints, need: Ints, slots: Longs) -> None:
    """Lower the needs that links serve."""
    for link in range(len(links)):
        found = common_slots(broker_start, broker_topics, links[link, 0], links[link, 1], slots[0], slots[1])
        for n in range(found):
            for side in range(2):
                if need[slots[side, n]] > 0:
                    need[slots[side, n]] -= 1


@kernel
def _count_visits(list_start: Longs, broker_topics: Ints, place: Longs, need: Ints, walk_from: Longs) -> int:
    visits = 0
    for i in range(len(need)):
        visits += list_start[2 * broker_topics[i] + 1 + (need[i] == 0)] - walk_from[place[i]]
    return visits


@kernel
def _take(
    cursor: Longs,
    budget: int,
    lowest: int,
    bits: int,
    broker_start: Longs,
    broker_topics: Ints,
    need: Ints,
    unit: Ints,
    gain: Ints,
    degree: Ints,
    first: Ints,
    second: Ints,
    following: Ints,
    level_head: Ints,
    level_tail: Ints,
    key_head: Ints,
    key_tail: Ints,
    slots: Longs,
    links: Ints,
) -> bool:
    """Accept links from level ``cursor[TOP]`` down to ``lowest``; False when ``budget`` steps ran out before.

    ``first``, ``second`` and ``following`` are the band's entries, queued by level and, within the level at work, by
    the larger degree of the two ends, which only grows. An accepted entry leaves the queues, so no pair comes twice.
    """
    last_key = len(key_head) - 1
    while cursor[TOP] >= lowest:
        level = cursor[TOP]
        if cursor[KEY] < 0:
            entry = level_head[level]
            level_head[level] = -1
            while entry >= 0:
                after = following[entry]
                key = min(max(degree[first[entry]], degree[second[entry]]), last_key)
                append(entry, key, key_head, key_tail, following)
                entry = after
            cursor[KEY] = 0
        while cursor[KEY] <= last_key:
            key = cursor[KEY]
            entry = key_head[key]
            if entry < 0:
                cursor[KEY] = key + 1
                continue
            if budget <= 0:
                return False
            budget -= 1
            key_head[key] = following[entry]
            v = first[entry]
            w = second[entry]
            now = min(max(degree[v], degree[w]), last_key)
            if now > key:
                append(entry, now, key_head, key_tail, following)
                continue
            found = common_slots(broker_start, broker_topics, v, w, slots[0], slots[1])
            score = 0
            for n in range(found):
                i, j = slots[0, n], slots[1, n]
                score += unit[broker_topics[i]] * (gain[need[i]] + gain[need[j]])
            current = level_of(score, bits)
            if current == level:
                for n in range(found):
                    i, j = slots[0, n], slots[1, n]
                    need[i] = max(need[i] - 1, 0)
                    need[j] = max(need[j] - 1, 0)
                degree[v] += 1
                degree[w] += 1
                at = cursor[ACCEPTED]
                links[at, 0], links[at, 1] = v, w
                cursor[ACCEPTED] = at + 1
            elif current >= lowest:
                append(entry, current, level_head, level_tail, following)
        cursor[TOP] = level - 1
        cursor[KEY] = -1
    return True
