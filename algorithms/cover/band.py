"""The band of a degree cover: every pair whose score reaches a level, found by counting, within fixed memory.

As in :mod:`algorithms.engine.band`, a pass counts row by row and throws the lowest level away when the entries do not
fit. A subscription with a need walks past everyone in its topic, one without only past those who have one; so a pass
costs less and less. Here a row is a broker, by dense id.
"""

from __future__ import annotations

import numpy as np

from algorithms.connectivity import Flags
from algorithms.cover.score import kept, least_score, level_of
from algorithms.interests import Ints, Longs
from algorithms.jit import kernel

LEVEL, FILLED, ROW, CEILING = 0, 1, 2, 3
"""Places in the ``gauge`` of a pass: the lowest level kept, entries in use, next row, a bound on every level."""


@kernel
def make_lists(
    topic_start: Longs,
    topic_brokers: Ints,
    place: Longs,
    need: Ints,
    unit: Ints,
    gain: Ints,
    label: Ints,
    worth: Ints,
) -> tuple[Longs, Ints, Ints, Ints, Ints, Longs]:
    """The members of each topic (list 2t) and those with a need (2t + 1), with what their need weighs.

    Returns where each list starts, the members, their weights, their components, what joining these is worth, and for
    each place of ``topic_brokers`` where its walk starts, behind itself. ``place``: subscription -> place; ``need``:
    subscription -> need; ``label``: subscription -> component; ``worth``: component -> what joining it is worth.
    """
    topics = len(topic_start) - 1
    need_at = np.empty(len(need), np.int32)
    label_at = np.empty(len(need), np.int32)
    for i in range(len(need)):
        need_at[place[i]] = need[i]
        label_at[place[i]] = label[i]
    list_start = np.zeros(2 * topics + 1, np.int64)
    for t in range(topics):
        needy = 0
        for p in range(topic_start[t], topic_start[t + 1]):
            needy += need_at[p] > 0
        # A topic where nobody needs anything is walked by nobody.
        everyone = topic_start[t + 1] - topic_start[t] if needy else 0
        list_start[2 * t + 1] = list_start[2 * t] + everyone
        list_start[2 * t + 2] = list_start[2 * t + 1] + needy
    member = np.empty(list_start[2 * topics], np.int32)
    weight = np.empty(list_start[2 * topics], np.int32)
    component = np.empty(list_start[2 * topics], np.int32)
    joining = np.empty(list_start[2 * topics], np.int32)
    walk_from = np.empty(len(need), np.int64)
    for t in range(topics):
        everyone = list_start[2 * t]
        needy = list_start[2 * t + 1]
        for p in range(topic_start[t], topic_start[t + 1]):
            if list_start[2 * t + 1] == list_start[2 * t]:
                walk_from[p] = list_start[2 * t + 1]
                continue
            own = unit[t] * gain[need_at[p]]
            join = worth[label_at[p]]
            member[everyone], weight[everyone] = topic_brokers[p], own
            component[everyone], joining[everyone] = label_at[p], join
            everyone += 1
            if need_at[p] > 0:
                member[needy], weight[needy] = topic_brokers[p], own
                component[needy], joining[needy] = label_at[p], join
                needy += 1
            walk_from[p] = everyone if need_at[p] > 0 else needy
    return list_start, member, weight, component, joining, walk_from


@kernel
def count_pairs(
    gauge: Longs,
    budget: int,
    may_grow: bool,
    bits: int,
    broker_start: Longs,
    broker_topics: Ints,
    place: Longs,
    need: Ints,
    unit: Ints,
    gain: Ints,
    list_start: Longs,
    member: Ints,
    weight: Ints,
    component: Ints,
    joining: Ints,
    walk_from: Longs,
    joined: Flags,
    label: Ints,
    worth: Ints,
    linked_start: Longs,
    linked: Ints,
    earlier_start: Longs,
    earlier: Ints,
    bonus: int,
    count: Ints,
    reached: Ints,
    first: Ints,
    second: Ints,
    value: Ints,
    levels: Longs,
) -> bool:
    """Count rows from ``gauge[ROW]`` on until about ``budget`` visits are made; entries go to ``first``, ``second``, ``value``.

    ``joined``: the topics whose components count; ``label`` and ``worth``: the component of each subscription, what
    joining each component is worth.
    ``linked[linked_start[r]:linked_start[r + 1]]``: the links of row r, which are no candidates; ``earlier`` in the same
    way: the links of before, whose scores get the ``bonus``; ``count`` (all 0) and ``reached`` are scratch, one place a row; ``value`` holds levels and ``levels[c]`` the number of entries of level c.

    True when the entries are full and all of one level, and the caller may give more room or that level is the ceiling,
    so that they may be worked off before the rest is counted.
    """
    rows = len(broker_start) - 1
    capacity = len(first)
    while gauge[ROW] < rows and budget > 0:
        r = gauge[ROW]
        for b in range(linked_start[r], linked_start[r + 1]):
            count[linked[b]] = -(1 << 30)
        floor = least_score(gauge[LEVEL], bits)
        n = 0
        visits = 0
        full = False
        for i in range(broker_start[r], broker_start[r + 1]):
            t = broker_topics[i]
            own = unit[t] * gain[need[i]]
            parted = joined[t]
            mine = label[i]
            join = worth[mine]
            end = list_start[2 * t + 1 + (need[i] == 0)]
            visits += end - walk_from[place[i]]
            for at in range(walk_from[place[i]], end):
                w = member[at]
                before = count[w]
                after = before + own + weight[at]
                if parted and component[at] != mine:
                    after += max(join, joining[at])
                count[w] = after
                if before < floor and after >= floor:
                    reached[n] = w
                    n += 1
        for b in range(earlier_start[r], earlier_start[r + 1]):
            w = earlier[b]
            before = count[w]
            if before > 0:
                count[w] = kept(before, bonus)
                if before < floor and count[w] >= floor:
                    reached[n] = w
                    n += 1
        for k in range(n):
            w = reached[k]
            level = level_of(count[w], bits)
            if level < gauge[LEVEL]:
                continue
            while gauge[FILLED] == capacity:
                while levels[gauge[LEVEL]] == 0:
                    gauge[LEVEL] += 1
                if levels[gauge[LEVEL]] == capacity and (may_grow or gauge[LEVEL] >= gauge[CEILING]):
                    full = True
                    break
                _raise_level(gauge, first, second, value, levels)
            if full:
                break
            if level >= gauge[LEVEL]:
                at = gauge[FILLED]
                first[at] = r
                second[at] = w
                value[at] = level
                levels[level] += 1
                gauge[FILLED] = at + 1
        if 16 * visits > rows - r:
            count[r + 1 :] = 0
        else:
            for i in range(broker_start[r], broker_start[r + 1]):
                end = list_start[2 * broker_topics[i] + 1 + (need[i] == 0)]
                for at in range(walk_from[place[i]], end):
                    count[member[at]] = 0
        for b in range(linked_start[r], linked_start[r + 1]):
            count[linked[b]] = 0
        if full:
            # This row is counted again: take its entries back.
            while gauge[FILLED] > 0 and first[gauge[FILLED] - 1] == r:
                gauge[FILLED] -= 1
                levels[value[gauge[FILLED]]] -= 1
            return True
        gauge[ROW] = r + 1
        budget -= visits + 64
    return False


@kernel
def _raise_level(gauge: Longs, first: Ints, second: Ints, value: Ints, levels: Longs) -> None:
    """Throw the entries of the lowest level away."""
    lowest = gauge[LEVEL]
    kept = 0
    for at in range(gauge[FILLED]):
        if value[at] > lowest:
            first[kept], second[kept], value[kept] = first[at], second[at], value[at]
            kept += 1
    gauge[FILLED] = kept
    levels[lowest] = 0
    gauge[LEVEL] = lowest + 1
