"""Vertex-disjoint paths and the growing-set test: is a topic k-connected, and if not, which brokers cut it?

A topic of more than k subscribers is k-connected when no k - 1 of them cut it apart. By Menger's theorem that is a
question of disjoint paths, and few pairs have to be asked: those among k first brokers, then for one broker after the
other k disjoint paths to the set of all earlier ones. A cut of fewer than k brokers misses one of the first k; either
it parts two of them, or it parts the first broker on the far side from all that came before (S. Even, "An algorithm
for determining whether the connectivity of a graph is at least k", SIAM J. Comput. 1975). The next broker is always one
with most earlier neighbours: with k of them it needs no search at all.

Every broker has room for one path, links have room for any number. (A link of room one carries the same flow, but the
search that fails then stops short of brokers it should reach, and what it names is no separator.)

Graphs are rows of local numbers: the neighbours of subscriber v of a topic are
``neighbours[starts[first + v]:ends[first + v]]``, where ``first`` is the topic's first place in ``topic_brokers``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from algorithms.interests import Ints, Longs
from algorithms.jit import kernel

Flags = NDArray[np.bool_]

WORK_ROWS = 12
"""Scratch rows of a test, each as long as the largest topic; rows 3 and 4 hold -1 between calls."""

_CANCELLED = -2


def scratch(largest: int) -> tuple[Ints, Flags, Longs]:
    """The scratch of the kernels here: rows of numbers, two rows of flags, and the clock that stamps searches."""
    work = np.zeros((WORK_ROWS, max(largest, 1) + 1), np.int32)
    work[3:5] = -1
    return work, np.zeros((2, max(largest, 1)), np.bool_), np.zeros(1, np.int64)


@kernel
def fan(
    source: int,
    barred: int,
    wanted: int,
    first: int,
    starts: Longs,
    ends: Longs,
    neighbours: Ints,
    goal: Flags,
    work: Ints,
    clock: Longs,
) -> int:
    """How many paths, at most ``wanted``, lead from the source to different goals and share nothing but the source.

    No path enters ``barred`` (-1: nobody). Augmenting paths by breadth-first search; a broker has an entry and an exit,
    with room for one path between them. Scratch, by local number: ``seen_in`` and ``seen_out`` the last search that
    reached the entry or the exit, ``came`` the broker whose exit led to the entry (or that the path through the broker
    itself was cancelled), ``before`` and ``after`` the neighbours on the path through it, -1 off every path. ``queue``
    holds exits; ``tips`` the goals that end a path, which later searches never take away.

    When fewer are found, the brokers whose entry the last search reached, but not their exit, part the source from all
    goals outside them, and are as many as the paths.
    """
    seen_in, seen_out, came = work[0], work[1], work[2]
    before, after, queue, tips = work[3], work[4], work[5], work[6]
    found = 0
    for place in range(starts[first + source], ends[first + source]):
        w = neighbours[place]
        if goal[w]:
            before[w] = source
            tips[found] = w
            found += 1
            if found == wanted:
                break
    while found < wanted:
        clock[0] += 1
        stamp = np.int32(clock[0])
        seen_in[source], seen_out[source] = stamp, stamp
        if barred >= 0:
            seen_in[barred] = stamp
        queue[0] = source
        reached, at, last = 1, 0, -1
        while at < reached and last < 0:
            u = queue[at]
            at += 1
            for place in range(starts[first + u], ends[first + u]):
                w = neighbours[place]
                if seen_in[w] == stamp:
                    continue
                seen_in[w], came[w] = stamp, u
                if before[w] < 0:
                    if goal[w]:
                        last = w
                        break
                    seen_out[w] = stamp
                    queue[reached] = w
                    reached += 1
                    continue
                # Taken: the way on is back along its path, out of the broker before it, and so on.
                z = before[w]
                while seen_out[z] != stamp:
                    seen_out[z] = stamp
                    queue[reached] = z
                    reached += 1
                    if seen_in[z] == stamp:
                        break
                    seen_in[z], came[z] = stamp, _CANCELLED
                    z = before[z]
        if last < 0:
            break
        tips[found] = last
        found += 1
        x = last
        while True:
            u = came[x]
            before[x] = u
            if u == source:
                break
            on = after[u]
            after[u] = x
            if on < 0:
                x = u
                continue
            while came[on] == _CANCELLED:
                x = on
                on = after[x]
                before[x], after[x] = -1, -1
            x = on
    for i in range(found):
        x = tips[i]
        while x != source:
            z = before[x]
            before[x], after[x] = -1, -1
            x = z
    return found


@kernel
def _cut(source: int, size: int, work: Ints, separator: Ints) -> int:
    """Write the separator that the fan which just failed has found; returns its size."""
    seen_in, seen_out = work[0], work[1]
    stamp = seen_in[source]
    n = 0
    for v in range(size):
        if seen_in[v] == stamp and seen_out[v] != stamp:
            separator[n] = v
            n += 1
    return n


@kernel
def _move(v: int, to: int, level: Ints, onward: Ints, back: Ints, head: Ints) -> None:
    """Take v out of the list of its level and put it in front of another one (-1: of none)."""
    if back[v] >= 0:
        onward[back[v]] = onward[v]
    else:
        head[level[v]] = onward[v]
    if onward[v] >= 0:
        back[onward[v]] = back[v]
    level[v] = to
    if to >= 0:
        onward[v], back[v] = head[to], -1
        if head[to] >= 0:
            back[head[to]] = v
        head[to] = v


@kernel
def weak_spot(
    k: int,
    first: int,
    size: int,
    starts: Longs,
    ends: Longs,
    neighbours: Ints,
    work: Ints,
    flags: Flags,
    clock: Longs,
    separator: Ints,
    parted: Ints,
) -> int:
    """Test one topic of more than k subscribers: k if it is k-connected, else the size of a separator.

    ``separator`` (as long as the topic) gets local numbers, ``parted`` two subscribers it parts. In a topic of k + 1
    the separator may be everybody else: the link between those two is missing.
    """
    busiest = 0
    for v in range(size):
        degree = int(ends[first + v] - starts[first + v])
        if degree < k:
            goal = flags[0]
            goal[v] = True
            for i in range(degree):
                separator[i] = neighbours[starts[first + v] + i]
                goal[separator[i]] = True
            parted[0] = v
            for w in range(size):
                if not goal[w]:
                    parted[1] = w
            goal[:size] = False
            return degree
        if degree > ends[first + busiest] - starts[first + busiest]:
            busiest = v
    if k == 0:
        return 0
    goal, near = flags[0], flags[1]
    level, onward, back, head, chosen = work[7], work[8], work[9], work[10], work[11]
    head[: k + 1] = -1
    head[0] = 0
    for v in range(size):
        level[v], onward[v], back[v] = 0, v + 1, v - 1
    onward[size - 1] = -1
    answer = k
    for absorbed in range(size):
        v = busiest
        if absorbed:
            top = k
            while head[top] < 0:
                top -= 1
            v = int(head[top])
        if absorbed < k:
            for place in range(starts[first + v], ends[first + v]):
                near[neighbours[place]] = True
            for i in range(absorbed):
                u = int(chosen[i])
                # The neighbours of v are the goals, so no path runs through v.
                if not near[u] and fan(u, -1, k, first, starts, ends, neighbours, near, work, clock) < k:
                    answer = _cut(u, size, work, separator)
                    parted[0], parted[1] = u, v
                    break
            for place in range(starts[first + v], ends[first + v]):
                near[neighbours[place]] = False
            chosen[absorbed] = v
        elif level[v] < k and fan(v, -1, k, first, starts, ends, neighbours, goal, work, clock) < k:
            answer = _cut(v, size, work, separator)
            stamp = work[0][v]
            for w in range(size):
                if goal[w] and work[0][w] != stamp:
                    parted[0], parted[1] = v, w
                    break
        if answer < k:
            break
        _move(v, -1, level, onward, back, head)
        goal[v] = True
        for place in range(starts[first + v], ends[first + v]):
            w = neighbours[place]
            if not goal[w] and level[w] < k:
                _move(w, level[w] + 1, level, onward, back, head)
    goal[:size] = False
    return answer
