"""The band of GM2: every pair that shares no block in at least K topics, found by counting, within fixed memory.

As in :mod:`algorithms.engine.band`, a pass counts row by row and throws the lowest level away when the entries do not
fit. What differs is whom a subscription walks past: in the *large block* of its topic, only those outside it; with no
link in the topic yet, everyone, and without a test; else everyone, three comparisons each.

The large block is the one whose children number at least half of the topic's subscribers: there is at most one, and it
stays the large one. (More than half of the members would not do: on a path of three both bridges have that.)
"""

from __future__ import annotations

import numpy as np

from algorithms.engine.band import CEILING, FILLED, LEVEL, REACH, ROW, raise_level
from algorithms.engine.components import by_topic
from algorithms.interests import Ints, Longs
from algorithms.jit import kernel

EVERYONE, TESTED, OUTSIDE = 0, 1, 2
"""How a subscription walks: all members and all count; all members, tested; members outside the large block, tested."""


@kernel
def make_lists(
    row_start: Longs,
    row_topic: Ints,
    block: Ints,
    top: Ints,
    children: Ints,
    tree: Ints,
    spread: Ints,
    size: Ints,
) -> tuple[Longs, Ints, Ints, Ints, Longs]:
    """The members of each topic (list 2t) and those outside its large block (2t + 1).

    Returns where each list starts, the members' subscriptions, the members' rows, and for each subscription how it
    walks and the place its walk starts at, which is behind itself.
    """
    topics = len(size)
    start, row_of, subscription = by_topic(row_start, row_topic, topics)
    list_start = np.zeros(2 * topics + 1, np.int64)
    large = np.full(topics, -1, np.int32)
    for t in range(topics):
        for place in range(start[t], start[t + 1]):
            b = block[subscription[place]]
            if b < len(block) and 2 * children[b] >= start[t + 1] - start[t]:
                large[t] = b
                break
        everyone = 0
        outside = 0
        for place in range(start[t], start[t + 1]):
            i = subscription[place]
            everyone += 1
            outside += large[t] >= 0 and block[i] != large[t] and top[large[t]] != i
        list_start[2 * t + 1] = list_start[2 * t] + everyone
        list_start[2 * t + 2] = list_start[2 * t + 1] + outside
    slots = np.empty(list_start[2 * topics], np.int32)
    member = np.empty(list_start[2 * topics], np.int32)
    kind = np.empty(len(row_topic), np.int32)
    walk_from = np.empty(len(row_topic), np.int64)
    for t in range(topics):
        everyone = list_start[2 * t]
        outside = list_start[2 * t + 1]
        for place in range(start[t], start[t + 1]):
            i = subscription[place]
            slots[everyone] = i
            member[everyone] = row_of[place]
            everyone += 1
            if large[t] >= 0 and (block[i] == large[t] or top[large[t]] == i):
                kind[i] = OUTSIDE
                walk_from[i] = outside
                continue
            if large[t] >= 0:
                slots[outside] = i
                member[outside] = row_of[place]
                outside += 1
            kind[i] = EVERYONE if tree[i] == i and spread[i] == 1 else TESTED
            walk_from[i] = everyone
    return list_start, slots, member, kind, walk_from


@kernel
def count_visits(list_start: Longs, row_topic: Ints, kind: Ints, walk_from: Longs) -> int:
    """How many members all walks together visit: what a pass costs."""
    visits = 0
    for i in range(len(row_topic)):
        visits += list_start[2 * row_topic[i] + 1 + (kind[i] == OUTSIDE)] - walk_from[i]
    return visits


@kernel
def count_pairs(
    gauge: Longs,
    budget: int,
    may_grow: bool,
    row_start: Longs,
    row_topic: Ints,
    block: Ints,
    top: Ints,
    list_start: Longs,
    list_end: Longs,
    member: Ints,
    member_slot: Ints,
    member_block: Ints,
    member_top: Ints,
    kind: Ints,
    walk_from: Longs,
    count: Ints,
    reached: Ints,
    first: Ints,
    second: Ints,
    value: Ints,
    levels: Longs,
) -> bool:
    """Count rows from ``gauge[ROW]`` on until about ``budget`` visits are made; entries go to ``first``, ``second``, ``value``.

    ``member_slot``, ``member_block``, ``member_top``: the subscription of each list member, its parent block and that
    block's top. ``list_end`` is where each list stops under the current K; ``count``
    and ``reached`` are scratch, one place a row, ``count`` all 0; ``levels[c]`` is the number of entries of estimate c.

    True when the entries are full and all of one level, and the caller may give more room or that level is the ceiling
    (a bound on every estimate, known from the pass before), so that they may be worked off before the rest is counted.
    """
    rows = len(row_start) - 1
    capacity = len(first)
    while gauge[ROW] < gauge[REACH] and budget > 0:
        r = gauge[ROW]
        level = gauge[LEVEL]
        n = 0
        visits = 0
        full = False
        for i in range(row_start[r], row_start[r + 1]):
            end = list_end[2 * row_topic[i] + (kind[i] == OUTSIDE)]
            begin = walk_from[i]
            visits += max(end - begin, 0)
            if kind[i] == EVERYONE:
                for place in range(begin, end):
                    w = member[place]
                    c = count[w] + 1
                    count[w] = c
                    if c == level:
                        reached[n] = w
                        n += 1
                continue
            own = block[i]
            own_top = top[own]
            for place in range(begin, end):
                if (member_block[place] != own) & (member_top[place] != i) & (member_slot[place] != own_top):
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
                if levels[gauge[LEVEL]] == capacity and (may_grow or gauge[LEVEL] >= gauge[CEILING]):
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
                gauge[FILLED] = at + 1
        if 16 * visits > rows - r:
            count[r + 1 : rows] = 0
        else:
            for i in range(row_start[r], row_start[r + 1]):
                for place in range(walk_from[i], list_end[2 * row_topic[i] + (kind[i] == OUTSIDE)]):
                    count[member[place]] = 0
        if full:
            # This row is counted again: take its entries back.
            while gauge[FILLED] > 0 and first[gauge[FILLED] - 1] == r:
                gauge[FILLED] -= 1
                levels[value[gauge[FILLED]]] -= 1
            return True
        gauge[ROW] = r + 1
        budget -= visits + 64
    return False
