"""The band of GM2: every pair that shares no block in at least K topics, found by counting, within fixed memory.

As in :mod:`algorithms.engine.band`, a pass counts row by row and throws the lowest level away when the entries do not
fit. What differs is whom a subscription walks past: in the *large block* of its topic, only those outside it; with no
link in the topic yet, everyone, and without a test; else everyone, three comparisons each.

The large block is the one whose children number at least half of the topic's subscribers: there is at most one, and it
stays the large one. (More than half of the members would not do: on a path of three both bridges have that.)
"""

from __future__ import annotations

import numpy as np

from algorithms.blocks.trees import BLOCK, CHILDREN, SPREAD, TREE
from algorithms.engine.band import CEILING, FILLED, LEVEL, REACH, ROW, raise_level
from algorithms.engine.bitsets import Words, reach_level
from algorithms.engine.components import by_topic
from algorithms.engine.run import WORDS_PER_VISIT
from algorithms.interests import Ints, Longs
from algorithms.jit import kernel

EVERYONE, TESTED, OUTSIDE = 0, 1, 2
"""How a subscription walks: all members and all count; all members, tested; members outside the large block, tested."""


@kernel
def make_lists(
    row_start: Longs,
    row_topic: Ints,
    node: Ints,
    top: Ints,
    hold: Ints,
    size: Ints,
) -> tuple[Longs, Ints, Ints, Ints, Longs, Ints]:
    """The members of each topic (list 2t) and those outside its large block (2t + 1).

    Returns where each list starts, the members' subscriptions, the members' rows, for each subscription how it walks
    and the place its walk starts at, which is behind itself, and the large block of each topic (-1: it has none).
    """
    topics = len(size)
    start, row_of, subscription = by_topic(row_start, row_topic, topics)
    list_start = np.zeros(2 * topics + 1, np.int64)
    large = np.full(topics, -1, np.int32)
    for t in range(topics):
        for place in range(start[t], start[t + 1]):
            b = node[subscription[place], BLOCK]
            if b < len(node) and 2 * hold[b, CHILDREN] >= start[t + 1] - start[t]:
                large[t] = b
                break
        everyone = 0
        outside = 0
        for place in range(start[t], start[t + 1]):
            i = subscription[place]
            everyone += 1
            outside += large[t] >= 0 and node[i, BLOCK] != large[t] and top[large[t]] != i
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
            if large[t] >= 0 and (node[i, BLOCK] == large[t] or top[large[t]] == i):
                kind[i] = OUTSIDE
                walk_from[i] = outside
                continue
            if large[t] >= 0:
                slots[outside] = i
                member[outside] = row_of[place]
                outside += 1
            kind[i] = EVERYONE if node[i, TREE] == i and node[i, SPREAD] == 1 else TESTED
            walk_from[i] = everyone
    return list_start, slots, member, kind, walk_from, large


@kernel
def make_kin(row_start: Longs, node: Ints, top: Ints, kind: Ints) -> tuple[Longs, Ints]:
    """For each row the later rows it shares a block with as its top, or as the top's child, once a topic.

    A walk tells members of another parent block apart by one comparison; that one is the top of the other's block is
    the exception, as often as there are subscribers with a parent block, and is taken off beforehand.
    """
    rows = len(row_start) - 1
    row_of = np.empty(len(node), np.int32)
    for r in range(rows):
        row_of[row_start[r] : row_start[r + 1]] = r
    start = np.zeros(rows + 1, np.int64)
    kin = np.empty(0, np.int32)
    for turn in range(2):
        for i in range(len(node)):
            j = top[node[i, BLOCK]]
            # Two inside the large block do not meet.
            if j >= 0 and (kind[i] != OUTSIDE or kind[j] != OUTSIDE):
                earlier, later = min(row_of[i], row_of[j]), max(row_of[i], row_of[j])
                if turn == 0:
                    start[earlier + 1] += 1
                else:
                    kin[start[earlier]] = later
                    start[earlier] += 1
        if turn == 0:
            for r in range(rows):
                start[r + 1] += start[r]
            kin = np.empty(start[rows], np.int32)
    # Filling moved each start to the next one's place.
    start[1:] = start[:-1].copy()
    start[0] = 0
    return start, kin


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
    list_start: Longs,
    list_end: Longs,
    member: Ints,
    member_block: Ints,
    kin_start: Longs,
    kin: Ints,
    kind: Ints,
    walk_from: Longs,
    interest: Words,
    tile: Words,
    count: Ints,
    reached: Ints,
    first: Ints,
    second: Ints,
    value: Ints,
    levels: Longs,
) -> bool:
    """Count rows from ``gauge[ROW]`` on until about ``budget`` visits are made; entries go to ``first``, ``second``, ``value``.

    ``block`` and ``member_block``: the parent block of each subscription and of each list member, both as they were
    when the lists were made, so that a count is the estimate of that moment and bounds all later ones. ``list_end`` is
    where each list stops under the current K. ``interest``: bitsets of all rows, ``[word, row]``, which are counted by
    where there is no link yet, or empty. ``count`` and ``reached`` are scratch, one place a row, ``count`` all 0;
    ``levels[c]`` is the number of entries of estimate c.

    True when the entries are full and all of one level, and the caller may give more room or that level is the ceiling
    (a bound on every estimate, known from the pass before), so that they may be worked off before the rest is counted.
    """
    rows = len(row_start) - 1
    words = len(interest)
    capacity = len(first)
    while gauge[ROW] < gauge[REACH] and budget > 0:
        r = gauge[ROW]
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
                row_topic,
                interest,
                interest,
                True,
                tile,
                reached,
                count,
                reached,
            )
        else:
            for at in range(kin_start[r], kin_start[r + 1]):
                count[kin[at]] -= 1
        for i in range(row_start[r], row_start[r] if words else row_start[r + 1]):
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
            for place in range(begin, end):
                w = member[place]
                apart = member_block[place] != own
                c = count[w] + apart
                count[w] = c
                if (c == level) & apart:
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
        if words:
            for k in range(n):
                count[reached[k]] = 0
        elif 16 * visits > rows - r:
            count[r + 1 : rows] = 0
        else:
            for i in range(row_start[r], row_start[r + 1]):
                for place in range(walk_from[i], list_end[2 * row_topic[i] + (kind[i] == OUTSIDE)]):
                    count[member[place]] = 0
            for at in range(kin_start[r], kin_start[r + 1]):
                count[kin[at]] = 0
        if full:
            # This row is counted again: take its entries back.
            while gauge[FILLED] > 0 and first[gauge[FILLED] - 1] == r:
                gauge[FILLED] -= 1
                levels[value[gauge[FILLED]]] -= 1
            return True
        gauge[ROW] = r + 1
        budget -= visits + 64
    return False
