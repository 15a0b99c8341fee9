"""The band: every pair whose contribution is at least K, found by counting, within a fixed number of entries.

Storing all pairs would take gigabytes and most would never be looked at. One pass counts, row by row, in how many
topics each later row is apart from this one, and keeps the pairs that reach K. Whenever the entries do not fit, the
lowest level is thrown away and K rises by one; so at the end K is the smallest level that fits, in whatever order the
rows came. What was thrown away is found again by the next pass, when most of it has dropped to nothing.

There are two ways to count (``Limits.count_by_bits`` chooses): bitsets, see ``bitsets.py``, and lists of subscribers.
Within a topic a row in the giant component (more than half of the subscribers) is apart only from the others, so it
walks a list of those alone; that makes later passes cheap. Rows are sorted by falling number of unfinished topics, so
"has at least K of them" is a prefix of the rows, and of each list.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from algorithms.engine.bitsets import TILE, Words, largest_components, likely_level, make_bitsets, reach_level
from algorithms.engine.components import Mask, by_topic
from algorithms.engine.entries import queue_levels
from algorithms.engine.run import WORDS_PER_VISIT, Run
from algorithms.interests import Ints, Longs
from algorithms.jit import kernel

LEVEL, FILLED, ROW, REACH, CEILING, HIGHEST = 0, 1, 2, 3, 4, 5
"""Places in the ``gauge`` of a pass: K, entries in use, next row, rows with at least K unfinished topics, a bound on
every contribution, known from the pass before, and the highest contribution met so far."""

GROWTH = 4
ROOM = 1 << 22
"""A band may take so many times its usual number of entries, or this number (50 MB), to hold one level whole, so that
ties see all of it."""


@dataclass
class Band:
    """Entries (pairs of rows) of contribution ``lowest`` and above, queued by level."""

    lowest: int
    highest: int
    filled: int
    first: Ints
    second: Ints
    following: Ints
    head: Ints
    tail: Ints


class Pass:
    """One counting pass over the rows: hands out the best pairs that fit, as one band or, where a level alone does not
    fit, as several of that level."""

    def __init__(self, run: Run, ceiling: int, *, width: float = 1.0, included: Mask | None = None) -> None:
        c = run.components
        rows = len(c.broker)
        run.passes += 1
        self.run = run
        self.width = width
        self.included = np.ones(rows, np.bool_) if included is None else included
        self.gauge = np.array([2, 0, 0, rows, ceiling, 0], np.int64)
        largest, visits = self._largest()
        self.by_bits = run.limits.count_by_bits(rows, len(c.apart), visits)
        self._look_up(largest)
        entries = run.limits.band_entries(visits)
        most_entries = (
            run.limits.most_entries
            if width > 1
            else min(run.limits.most_entries, max(GROWTH * entries, ROOM))
        )
        self.most_entries = max(most_entries, rows)
        self.first, self.second, self.value = np.empty((3, max(entries, rows)), np.int32)
        most = int(c.row_start[1] - c.row_start[0])
        self.levels = np.zeros(most + 2, np.int64)
        self.count = np.zeros(rows, np.int16 if most < 1 << 14 else np.int32)
        self.reached = np.empty(rows, np.int32)
        if self.by_bits and width == 1:
            self.gauge[LEVEL] = likely_level(
                entries,
                ceiling,
                c.row_start,
                c.row_topic,
                c.label,
                self.interest,
                self.outside,
                c.single,
                self.count,
                self.reached,
            )

    def _largest(self) -> tuple[Ints, int]:
        c = self.run.components
        shape = c.row_start, c.row_topic, c.label, c.size, len(c.apart)
        largest, visits = largest_components(*shape, self.included)
        return largest, int(visits)

    def _look_up(self, largest: Ints) -> None:
        """Note who is outside of what in each topic, as bitsets or as lists; those not used are empty."""
        c = self.run.components
        if self.by_bits:
            bits = make_bitsets(c.row_start, c.row_topic, c.label, largest, self.included)
            self.interest, self.outside = bits
            self.list_start, self.walk_from = np.zeros(1, np.int64), np.zeros(0, np.int64)
            self.member = self.member_label = self.walk_list = np.zeros(0, np.int32)
        else:
            self.interest = self.outside = np.zeros((0, 0), np.uint64)
            self.list_start, self.member, self.member_label, self.walk_list, self.walk_from = make_lists(
                c.row_start, c.row_topic, c.label, c.size, len(c.apart), self.included
            )
        self.list_end = self.list_start[1:].copy()
        cut_lists(self.gauge, c.row_start, self.list_start, self.list_end, self.member)

    @property
    def level(self) -> int:
        """K: every pair of that contribution and above has been handed out, once the pass is complete."""
        return int(self.gauge[LEVEL])

    @property
    def complete(self) -> bool:
        """Whether every row was counted."""
        return bool(self.gauge[ROW] >= self.gauge[REACH])

    def next_band(self) -> Band:
        """Count on, to the end or until the entries are full of pairs at the ceiling."""
        run, c = self.run, self.run.components
        if self.gauge[ROW]:
            # The batch before made links: with fresh labels most of what is left falls below the ceiling uncounted.
            self._look_up(self._largest()[0])
        self.gauge[FILLED] = 0
        self.levels[:] = 0
        while not self.complete:
            room = len(self.first) < self.most_entries
            full = count_pairs(
                self.gauge,
                run.limits.visits,
                room,
                c.single,
                self.width,
                c.row_start,
                self.list_start,
                self.list_end,
                self.member,
                self.member_label,
                c.label,
                self.walk_list,
                self.walk_from,
                c.row_topic,
                self.interest,
                self.outside,
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
        filled = int(self.gauge[FILLED])
        queue_levels(0, filled, self.value, head, tail)
        highest = int(np.flatnonzero(self.levels).max(initial=0))
        return Band(self.level, highest, filled, self.first, self.second, self.value, head, tail)


@kernel
def make_lists(
    row_start: Longs, row_topic: Ints, label: Ints, size: Ints, topics: int, included: Mask
) -> tuple[Longs, Ints, Ints, Ints, Longs]:
    """Where each subscription of a row finds the rows after it that are apart in that topic.

    List 2t holds the included subscribers of topic t, list 2t + 1 those outside its giant component. Subscription i
    walks ``member[walk_from[i]:list_end[walk_list[i]]]`` and skips members with its own label; a row that is not
    included has no walk. Returns where the lists start, the members, their labels, and each walk's list and start.
    """
    start, row_of, subscription = by_topic(row_start, row_topic, topics)
    list_start = np.zeros(2 * topics + 1, np.int64)
    giant = np.full(topics, -1, np.int32)
    for t in range(topics):
        everyone = 0
        outside = 0
        for place in range(start[t], start[t + 1]):
            if 2 * size[label[subscription[place]]] > start[t + 1] - start[t]:
                giant[t] = label[subscription[place]]
                break
        for place in range(start[t], start[t + 1]):
            if included[row_of[place]]:
                everyone += 1
                outside += label[subscription[place]] != giant[t]
        list_start[2 * t + 1] = list_start[2 * t] + everyone
        # Without a giant no row walks the second list.
        list_start[2 * t + 2] = list_start[2 * t + 1] + (outside if giant[t] >= 0 else 0)
    member = np.empty(list_start[2 * topics], np.int32)
    member_label = np.empty(list_start[2 * topics], np.int32)
    walk_list = np.empty(len(row_topic), np.int32)
    walk_from = np.empty(len(row_topic), np.int64)
    for t in range(topics):
        everyone = list_start[2 * t]
        outside = list_start[2 * t + 1]
        for place in range(start[t], start[t + 1]):
            i = subscription[place]
            if not included[row_of[place]]:
                walk_list[i] = 2 * t
                walk_from[i] = list_start[2 * t + 1]
                continue
            member[everyone] = row_of[place]
            member_label[everyone] = label[i]
            everyone += 1
            if label[i] == giant[t]:
                walk_list[i] = 2 * t + 1
                walk_from[i] = outside
            else:
                if giant[t] >= 0:
                    member[outside] = row_of[place]
                    member_label[outside] = label[i]
                    outside += 1
                walk_list[i] = 2 * t
                walk_from[i] = everyone
    return list_start, member, member_label, walk_list, walk_from


@kernel
def count_visits(list_start: Longs, walk_list: Ints, walk_from: Longs) -> int:
    """How many list members all walks together visit: what a pass costs."""
    visits = 0
    for i in range(len(walk_list)):
        visits += list_start[walk_list[i] + 1] - walk_from[i]
    return visits


@kernel
def count_pairs(
    gauge: Longs,
    budget: int,
    may_grow: bool,
    single: bool,
    width: float,
    row_start: Longs,
    list_start: Longs,
    list_end: Longs,
    member: Ints,
    member_label: Ints,
    label: Ints,
    walk_list: Ints,
    walk_from: Longs,
    row_topic: Ints,
    interest: Words,
    outside: Words,
    barred_start: Longs,
    barred: Ints,
    count: Ints,
    reached: Ints,
    first: Ints,
    second: Ints,
    value: Ints,
    levels: Longs,
) -> bool:
    """Count rows from ``gauge[ROW]`` on until about ``budget`` visits are made; entries go to the three last arrays.

    ``list_end`` is where each list stops under the current K; ``interest`` and ``outside`` are the bitsets, which are
    counted by unless they are empty, ``single`` tells that every component is; ``barred[barred_start[r]:barred_start[r + 1]]`` are rows
    that row r may not be paired with; ``count`` and ``reached`` are scratch, one place a row, ``count`` all 0;
    ``levels[c]`` is the number of entries of contribution c.

    True when the entries are full and no level should go: the band would become narrower than highest / ``width``,
    and the caller may give more room; or there is none, but all entries are at the ceiling, so that any of them may be
    worked off before the rest are counted.
    """
    rows = len(row_start) - 1
    words = len(interest)
    tile = np.empty(TILE if words else 0, np.uint64)
    mark = np.full(64 * words, -1, np.int32)
    barrier = -(1 << 14) if count.itemsize == 2 else -(1 << 30)
    capacity = len(first)
    while gauge[ROW] < gauge[REACH] and budget > 0:
        r = gauge[ROW]
        for b in range(barred_start[r], barred_start[r + 1]):
            count[barred[b]] = barrier
        level = gauge[LEVEL]
        n = 0
        visits = 0
        full = False
        if words:
            visits = (gauge[REACH] - r) * words // WORDS_PER_VISIT
            n = reach_level(
                r,
                level,
                gauge[REACH],
                row_start,
                row_topic,
                label,
                interest,
                outside,
                single,
                tile,
                mark,
                count,
                reached,
            )
        for i in range(row_start[r], row_start[r] if words else row_start[r + 1]):
            own = label[i]
            end = list_end[walk_list[i]]
            visits += max(end - walk_from[i], 0)
            for place in range(walk_from[i], end):
                if member_label[place] != own:
                    w = member[place]
                    c = count[w] + 1
                    count[w] = c
                    if c == level:
                        reached[n] = w
                        n += 1
        for k in range(n):
            w = reached[k]
            c = count[w]
            if c < gauge[LEVEL]:
                continue
            while gauge[FILLED] == capacity:
                if gauge[LEVEL] * width >= gauge[HIGHEST] and (may_grow or gauge[LEVEL] >= gauge[CEILING]):
                    full = True
                    break
                raise_level(gauge, row_start, list_start, list_end, member, first, second, value, levels)
            if full:
                break
            if c >= gauge[LEVEL]:
                at = gauge[FILLED]
                first[at] = r
                second[at] = w
                value[at] = c
                levels[c] += 1
                gauge[HIGHEST] = max(gauge[HIGHEST], c)
                gauge[FILLED] = at + 1
        if words:
            for k in range(n):
                count[reached[k]] = 0
        elif 16 * visits > rows - r:
            count[r + 1 : rows] = 0
        else:
            for i in range(row_start[r], row_start[r + 1]):
                for place in range(walk_from[i], list_end[walk_list[i]]):
                    count[member[place]] = 0
        for b in range(barred_start[r], barred_start[r + 1]):
            count[barred[b]] = 0
        if full:
            while gauge[FILLED] > 0 and first[gauge[FILLED] - 1] == r:
                gauge[FILLED] -= 1
                levels[value[gauge[FILLED]]] -= 1
            return True
        gauge[ROW] = r + 1
        budget -= visits + 64
    return False


@kernel
def raise_level(
    gauge: Longs,
    row_start: Longs,
    list_start: Longs,
    list_end: Longs,
    member: Ints,
    first: Ints,
    second: Ints,
    value: Ints,
    levels: Longs,
) -> None:
    """Throw the entries of the lowest level away, raise K, and cut rows and lists to brokers with K topics."""
    lowest = gauge[LEVEL]
    gauge[LEVEL] = lowest + 1
    if levels[lowest]:
        kept = 0
        for at in range(gauge[FILLED]):
            if value[at] > lowest:
                first[kept] = first[at]
                second[kept] = second[at]
                value[kept] = value[at]
                kept += 1
        gauge[FILLED] = kept
        levels[lowest] = 0
    cut_lists(gauge, row_start, list_start, list_end, member)


@kernel
def cut_lists(gauge: Longs, row_start: Longs, list_start: Longs, list_end: Longs, member: Ints) -> None:
    """Move the ends of rows and lists back to the brokers with at least K unfinished topics."""
    reach = gauge[REACH]
    while reach > 0 and row_start[reach] - row_start[reach - 1] < gauge[LEVEL]:
        reach -= 1
    gauge[REACH] = reach
    for k in range(len(list_end)):
        while list_end[k] > list_start[k] and member[list_end[k] - 1] >= reach:
            list_end[k] -= 1
