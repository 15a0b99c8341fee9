"""The loop of a degree cover: the best-scored pair becomes a link, until nobody needs anything.

Every subscriber can find enough links in its topic, so the loop ends with no need left; inside a level the pair with
the lowest larger degree comes first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from algorithms.components import common_slots
from algorithms.connectivity import Flags
from algorithms.cover import band
from algorithms.cover.band import CEILING, FILLED, LEVEL, ROW
from algorithms.cover.score import Score, kept, level_of
from algorithms.engine import Limits
from algorithms.engine.components import join_components
from algorithms.engine.entries import ACCEPTED, KEY, TOP, append, queue_levels, write_link
from algorithms.engine.queues import next_entry, open_level
from algorithms.engine.trees import TIES_DEGREE
from algorithms.interests import Interests, Ints, Longs
from algorithms.jit import kernel
from algorithms.progress import Progress, silent
from algorithms.workloads import Floats

VISITS_PER_ENTRY = 800
"""How many visits of a counting pass it takes to store one pair: counting again is cheaper than weighing many."""
SMALLEST_BAND = 1 << 16


def cover(
    interests: Interests,
    k: int,
    score: Score,
    *,
    existing: Ints | None = None,
    earlier: Ints | None = None,
    limits: Limits | None = None,
    progress: Progress = silent,
) -> Ints:
    """Links such that every subscriber has min(k, n_t - 1) of them in each of its topics, in the order taken.

    ``existing`` links serve needs and are not among those returned. ``earlier`` ones serve nothing yet, and score more
    than others (:attr:`Score.keep`).
    """
    limits = limits or Limits()
    none = np.empty((0, 2), np.int32)
    run = _Run(
        interests, k, score, none if existing is None else existing, none if earlier is None else earlier
    )
    whole = max(run.left, 1)
    ceiling = run.most_level
    while run.left:
        ceiling = run.one_pass(ceiling, limits, lambda: progress(1 - run.left / whole, "covering needs"))
    progress(1.0, "covering needs")
    return run.links[: run.cursor[ACCEPTED]]


class _Run:
    """The state of one run between kernels."""

    def __init__(self, interests: Interests, k: int, score: Score, existing: Ints, earlier: Ints) -> None:
        self.interests = interests
        self.score = score
        self.existing = existing
        self.earlier_start, self.earlier = _by_smaller_end(earlier, len(interests.brokers))
        sizes = interests.topic_sizes()
        self.need = np.minimum(k, sizes - 1)[interests.broker_topics].astype(np.int32)
        self.place = np.empty(interests.subscriptions, np.int64)
        self.place[np.argsort(interests.broker_topics, kind="stable")] = np.arange(interests.subscriptions)
        self.slots = np.empty((2, int(interests.broker_sizes().max(initial=0))), np.int64)
        serve(interests.broker_start, interests.broker_topics, existing, self.need, self.slots)
        self._start_components()
        # Each link serves at least one need.
        self.links = np.empty((self.left, 2), np.int32)
        self.gains = np.empty(self.left, np.int32)
        self.degree = np.bincount(existing.ravel(), minlength=len(interests.brokers)).astype(np.int32)
        self.cursor = np.zeros(8, np.int64)
        worth = (score.unit[interests.broker_topics].astype(np.int64) * score.gain[self.need]).sum(initial=0)
        most = kept(min(3 * int(worth), (1 << 31) - 1), score.bonus)
        self.most_level = int(level_of(most, score.bits))

    def _start_components(self) -> None:
        """The components that the existing links make, in topics where they count."""
        i, score = self.interests, self.score
        self.joined = score.joined(i)
        self.label = np.arange(i.subscriptions, dtype=np.int32)
        self.ring = self.label.copy()
        self.size = np.ones(i.subscriptions, np.int32)
        self.decay = score.decay()
        self.worth = score.unit[i.broker_topics]
        join_linked(
            i.broker_start,
            i.broker_topics,
            self.existing,
            score.unit,
            self.joined,
            self.decay,
            self.label,
            self.ring,
            self.size,
            self.worth,
            self.slots,
        )

    @property
    def left(self) -> int:
        """The sum of all needs."""
        return int(self.need.sum(dtype=np.int64))

    def one_pass(self, ceiling: int, limits: Limits, report: Callable[[], None]) -> int:
        """Count the best pairs that fit and work them off; returns the bound on what is left."""
        i, score = self.interests, self.score
        rows = len(i.brokers)
        # A band may be worked off before the last row is counted: the pass goes on with the needs and components
        # it began with, which bound the later ones from above.
        need, label, worth = self.need.copy(), self.label.copy(), self.worth.copy()
        list_start, member, weight, component, joining, walk_from = band.make_lists(
            i.topic_start, i.topic_brokers, self.place, need, score.unit, score.gain, label, worth
        )
        linked_start, linked = _by_smaller_end(
            np.concatenate([self.existing, self.links[: self.cursor[ACCEPTED]]]), rows
        )
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
                component,
                joining,
                walk_from,
                self.joined,
                label,
                worth,
                linked_start,
                linked,
                self.earlier_start,
                self.earlier,
                score.bonus,
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
            self.joined,
            self.label,
            self.ring,
            self.size,
            self.worth,
            self.decay,
            self.earlier_start,
            self.earlier,
            score.bonus,
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
            self.gains,
        ):
            report()
        gauge[FILLED] = 0
        levels[:] = 0


def _by_smaller_end(links: Ints, brokers: int) -> tuple[Longs, Ints]:
    """Links in compressed rows, each with its smaller end and ascending: a row is paired with later ones only."""
    low, high = links.min(axis=1, initial=np.iinfo(np.int32).max), links.max(axis=1, initial=-1)
    starts = np.zeros(brokers + 1, np.int64)
    np.cumsum(np.bincount(low, minlength=brokers), out=starts[1:])
    return starts, high[np.lexsort((high, low))]


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
def join_linked(
    broker_start: Longs,
    broker_topics: Ints,
    links: Ints,
    unit: Ints,
    joined: Flags,
    decay: Floats,
    label: Ints,
    ring: Ints,
    size: Ints,
    worth: Ints,
    slots: Longs,
) -> None:
    """Join the components of the ends of links in every topic they share."""
    for link in range(len(links)):
        found = common_slots(broker_start, broker_topics, links[link, 0], links[link, 1], slots[0], slots[1])
        join_slots(found, slots, broker_topics, unit, joined, decay, label, ring, size, worth)


@kernel
def join_slots(
    found: int,
    slots: Longs,
    broker_topics: Ints,
    unit: Ints,
    joined: Flags,
    decay: Floats,
    label: Ints,
    ring: Ints,
    size: Ints,
    worth: Ints,
) -> None:
    """Join the components of pairs of subscriptions where they count; what one is worth falls as it grows."""
    for n in range(found):
        i, j = slots[0, n], slots[1, n]
        if joined[broker_topics[i]] and label[i] != label[j]:
            join_components(i, j, label, ring, size)
            worth[label[i]] = int(unit[broker_topics[i]] * decay[size[label[i]]])


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
    joined: Flags,
    label: Ints,
    ring: Ints,
    size: Ints,
    worth: Ints,
    decay: Floats,
    earlier_start: Longs,
    earlier: Ints,
    bonus: int,
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
    gains: Ints,
) -> bool:
    """Accept links from level ``cursor[TOP]`` down to ``lowest``; False when ``budget`` steps ran out before.

    ``first``, ``second`` and ``following`` are the band's entries, queued by level and, within the level at work, by
    the larger degree of the two ends, which only grows. An accepted entry leaves the queues, so no pair comes twice.
    ``joined``: the topics whose components count; ``label``, ``ring``, ``size``, ``worth``: the components as the engine
    has them, and what joining one is worth. ``earlier_start``, ``earlier``: the links of before, by their smaller ends.
    """
    while cursor[TOP] >= lowest:
        level = cursor[TOP]
        open_level(
            level, TIES_DEGREE, 0, cursor, degree, first, second, following, level_head, key_head, key_tail
        )
        while True:
            if budget <= 0:
                return False
            budget -= 1
            entry = next_entry(TIES_DEGREE, cursor, degree, first, second, following, key_head, key_tail)
            if entry < 0:
                break
            v = first[entry]
            w = second[entry]
            found = common_slots(broker_start, broker_topics, v, w, slots[0], slots[1])
            score = 0
            for n in range(found):
                i, j = slots[0, n], slots[1, n]
                t = broker_topics[i]
                score += unit[t] * (gain[need[i]] + gain[need[j]])
                if joined[t] and label[i] != label[j] and need[i] + need[j] > 0:
                    score += max(worth[label[i]], worth[label[j]])
            if score and _is_among(earlier_start, earlier, v, w):
                score = kept(score, bonus)
            current = level_of(score, bits) if score else 0
            if current == level:
                for n in range(found):
                    i, j = slots[0, n], slots[1, n]
                    need[i] = max(need[i] - 1, 0)
                    need[j] = max(need[j] - 1, 0)
                join_slots(found, slots, broker_topics, unit, joined, decay, label, ring, size, worth)
                write_link(v, w, found, cursor, degree, links, gains)
            elif current >= lowest:
                append(entry, current, level_head, level_tail, following)
        cursor[TOP] = level - 1
        cursor[KEY] = -1
    return True


@kernel
def _is_among(starts: Longs, others: Ints, v: int, w: int) -> bool:
    """Whether a pair is one of the links in these rows."""
    low, high = min(v, w), max(v, w)
    at = starts[low] + np.searchsorted(others[starts[low] : starts[low + 1]], high)
    return bool(at < starts[low + 1] and others[at] == high)
