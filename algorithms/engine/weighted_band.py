"""The band of a weighted score: every pair whose score reaches a level, within a fixed number of entries.

The idea and the lists are those of :mod:`algorithms.engine.band`; the kernel stands beside the one that counts
contributions, because a visit adds a worth that is read from memory, in 64 bits, where GM adds one in 16, or
compares bitsets. Rows are sorted by a bound on their scores, so "can reach the level" is a prefix of
the rows, and of each list. Pairs apart in one topic only are not stored: a tree over that topic's components does as
well as any of them.
"""

from __future__ import annotations

import numpy as np

from algorithms.engine.band import FILLED, HIGHEST, LEVEL, REACH, ROW, Band, count_visits, make_lists
from algorithms.engine.entries import queue_levels
from algorithms.engine.weighted_run import WeightedRun
from algorithms.engine.weights import TERMS, least_score, level_of, raised
from algorithms.interests import Ints, Longs
from algorithms.jit import kernel
from algorithms.workloads import Floats

CEILING = 4
VISITS_PER_ENTRY = 200
SMALLEST_BAND = 1 << 14
FEW_LEVELS, DEEPEST = 16, 8
"""A band of fewer levels makes the next one twice as large, up to so many times the usual size: where thousands of
brokers have the same few popular topics one level holds millions of pairs, and a pass for each level takes longer."""


class WeightedPass:
    """One pass over the rows: hands out the best pairs that fit, as one band or, where a level alone does not fit, as
    several of that level."""

    def __init__(self, run: WeightedRun, ceiling: int, *, width: float = 1.0, least_terms: int = 2) -> None:
        c = run.components
        rows = len(c.broker)
        run.passes += 1
        self.run = run
        self.width = width
        self.least_terms = least_terms
        self.list_start, self.member, self.member_label, self.walk_list, self.walk_from = make_lists(
            c.row_start, c.row_topic, c.label, c.size, len(c.apart), np.ones(rows, np.bool_)
        )
        self.member_worth = run.worth[self.member_label]
        visits = count_visits(self.list_start, self.walk_list, self.walk_from)
        self.most_entries = max(run.limits.most_entries, rows)
        wanted = run.deeper * visits // VISITS_PER_ENTRY
        entries = min(self.most_entries, max(wanted, SMALLEST_BAND, rows))
        self.first, self.second, self.value = np.empty((3, entries), np.int32)
        self.levels = np.zeros(run.most_level + 2, np.int64)
        self.gauge = np.array([1, 0, 0, rows, ceiling, 0], np.int64)
        self.list_end = self.list_start[1:].copy()
        self.sum = np.zeros(rows, np.int64)
        self.reached = np.empty(rows, np.int32)
        self.first_sum = np.zeros(rows, np.int64)

    @property
    def level(self) -> int:
        """Every pair of that level and above has been handed out, once the pass is complete."""
        return int(self.gauge[LEVEL])

    @property
    def complete(self) -> bool:
        """Whether every row was looked at."""
        return bool(self.gauge[ROW] >= self.gauge[REACH])

    @property
    def is_wide(self) -> bool:
        """Whether the levels kept reach from the highest score down to that divided by the width."""
        bits = self.run.weights.bits
        highest = least_score(int(self.gauge[HIGHEST]), bits)
        return bool(least_score(self.level, bits) * self.width <= highest)

    def next_band(self) -> Band:
        """Go on, to the end or until the entries are full of pairs at the ceiling."""
        run, c = self.run, self.run.components
        self.gauge[FILLED] = 0
        self.levels[:] = 0
        while not self.complete:
            room = len(self.first) < self.most_entries
            full = score_pairs(
                self.gauge,
                run.limits.visits,
                room,
                self.width,
                self.least_terms,
                run.weights.bits,
                run.bonus,
                c.row_start,
                run.upper,
                self.list_start,
                self.list_end,
                self.member,
                self.member_label,
                self.member_worth,
                c.label,
                run.worth,
                self.walk_list,
                self.walk_from,
                run.kept_start,
                run.kept,
                run.kept_first,
                run.degree,
                run.penalty,
                self.sum,
                self.reached,
                self.first_sum,
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
            run.done("scoring pairs")
        head, tail = np.full((2, len(self.levels)), -1, np.int32)
        filled = int(self.gauge[FILLED])
        queue_levels(0, filled, self.value, head, tail)
        highest = int(np.flatnonzero(self.levels).max(initial=0))
        lowest = int(self.gauge[LEVEL])
        if highest - lowest < FEW_LEVELS:
            run.deeper = min(2 * run.deeper, DEEPEST)
        return Band(lowest, highest, filled, self.first, self.second, self.value, head, tail)


@kernel
def score_pairs(
    gauge: Longs,
    budget: int,
    may_grow: bool,
    width: float,
    least_terms: int,
    bits: int,
    bonus: float,
    row_start: Longs,
    upper: Longs,
    list_start: Longs,
    list_end: Longs,
    member: Ints,
    member_label: Ints,
    member_worth: Ints,
    label: Ints,
    worth: Ints,
    walk_list: Ints,
    walk_from: Longs,
    kept_start: Longs,
    kept: Ints,
    kept_first: Longs,
    degree: Ints,
    penalty: Floats,
    packed: Longs,
    reached: Ints,
    first_sum: Longs,
    first: Ints,
    second: Ints,
    value: Ints,
    levels: Longs,
) -> bool:
    """Score rows from ``gauge[ROW]`` on until about ``budget`` visits are made; entries go to ``first``, ``second``, ``value``.

    ``upper[r]`` is at least every sum of row r; ``kept[kept_start[r]:kept_start[r + 1]]`` are rows that row r was
    linked to before, ``kept_first`` the first sums of those pairs, whose score is up to ``bonus`` times the sum;
    ``packed``, ``reached`` and ``first_sum`` are scratch, one place a row, all 0 at the start; ``value`` holds levels and ``levels[n]`` the number of entries of level n.

    Pairs of fewer than ``least_terms`` topics are left out. True when the entries are full and no level should go: the
    band would become narrower than the highest score / ``width``, and the caller may give more room; or there is none,
    but all entries are at the ceiling, so that any of them may be worked off before the rest is scored.
    """
    rows = len(row_start) - 1
    capacity = len(first)
    floor = floor_of(gauge[LEVEL], bits, bonus)
    cut_rows(gauge, floor, upper, list_start, list_end, member)
    while gauge[ROW] < gauge[REACH] and budget > 0:
        r = gauge[ROW]
        for k in range(kept_start[r], kept_start[r + 1]):
            first_sum[kept[k]] = kept_first[k]
        threshold = floor << TERMS
        n = 0
        visits = 0
        full = False
        for i in range(row_start[r], row_start[r + 1]):
            own = label[i]
            own_worth = worth[own]
            end = list_end[walk_list[i]]
            visits += max(end - walk_from[i], 0)
            for place in range(walk_from[i], end):
                if member_label[place] != own:
                    w = member[place]
                    before = packed[w]
                    after = before + (int(max(own_worth, member_worth[place])) << TERMS) + 1
                    packed[w] = after
                    if before < threshold and after >= threshold:
                        reached[n] = w
                        n += 1
        for k in range(n):
            w = reached[k]
            if packed[w] & ((1 << TERMS) - 1) < least_terms:
                continue
            score = packed[w] >> TERMS
            if first_sum[w]:
                score = np.int64(raised(score, first_sum[w], bonus))
            if len(penalty) > 1:
                score = np.int64(score * penalty[max(degree[r], degree[w])])
            level = level_of(score, bits)
            if level < gauge[LEVEL]:
                continue
            while gauge[FILLED] == capacity:
                narrow = least_score(gauge[LEVEL], bits) * width >= least_score(gauge[HIGHEST], bits)
                if narrow and (may_grow or gauge[LEVEL] >= gauge[CEILING]):
                    full = True
                    break
                drop_lowest(gauge, first, second, value, levels)
            if full:
                break
            if level >= gauge[LEVEL]:
                at = gauge[FILLED]
                first[at] = r
                second[at] = w
                value[at] = level
                levels[level] += 1
                gauge[HIGHEST] = max(gauge[HIGHEST], level)
                gauge[FILLED] = at + 1
        if 16 * visits > rows - r:
            packed[r + 1 : rows] = 0
        else:
            for i in range(row_start[r], row_start[r + 1]):
                for place in range(walk_from[i], list_end[walk_list[i]]):
                    packed[member[place]] = 0
        for k in range(kept_start[r], kept_start[r + 1]):
            first_sum[kept[k]] = 0
        if full:
            while gauge[FILLED] > 0 and first[gauge[FILLED] - 1] == r:
                gauge[FILLED] -= 1
                levels[value[gauge[FILLED]]] -= 1
            return True
        gauge[ROW] = r + 1
        budget -= visits + 64
        higher = floor_of(gauge[LEVEL], bits, bonus)
        if higher > floor:
            floor = higher
            cut_rows(gauge, floor, upper, list_start, list_end, member)
    return False


@kernel
def floor_of(level: int, bits: int, bonus: float) -> int:
    """The least sum that can reach a level: a pair that was linked before needs less, none gets there with nothing."""
    return max(int(least_score(level, bits) / bonus), 1)


@kernel
def drop_lowest(gauge: Longs, first: Ints, second: Ints, value: Ints, levels: Longs) -> None:
    """Throw the entries of the lowest level away, and enough levels more to free an eighth of the room."""
    lowest = gauge[LEVEL]
    gone = levels[lowest]
    while lowest < gauge[HIGHEST] and 8 * gone < len(first):
        lowest += 1
        if lowest < gauge[HIGHEST]:
            gone += levels[lowest]
        else:
            lowest -= 1
            break
    kept = 0
    for at in range(gauge[FILLED]):
        if value[at] > lowest:
            first[kept] = first[at]
            second[kept] = second[at]
            value[kept] = value[at]
            kept += 1
    levels[gauge[LEVEL] : lowest + 1] = 0
    gauge[FILLED] = kept
    gauge[LEVEL] = lowest + 1


@kernel
def cut_rows(
    gauge: Longs, floor: int, upper: Longs, list_start: Longs, list_end: Longs, member: Ints
) -> None:
    """Move the ends of rows and lists back to the rows whose sums can reach the floor."""
    reach = gauge[REACH]
    while reach > 0 and upper[reach - 1] < floor:
        reach -= 1
    if reach < gauge[REACH]:
        gauge[REACH] = reach
        for k in range(len(list_end)):
            while list_end[k] > list_start[k] and member[list_end[k] - 1] >= reach:
                list_end[k] -= 1
