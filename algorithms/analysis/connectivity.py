"""Is a graph three-connected? The growing-set test with unit-capacity flows.

A graph with more than k brokers is k-connected when k vertex-disjoint paths join any two of them. It is enough to test
the pairs among k first brokers, and then, one broker after another, k disjoint paths from it to the set of all earlier
ones: a cut of fewer than k brokers would separate some broker from the earlier ones (S. Even, "An algorithm for
determining whether the connectivity of a graph is at least k", SIAM J. Comput. 1975). In breadth-first order most
brokers have k earlier neighbours or reach them in a few steps, so the paths are short.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from algorithms.interests import Ints, Longs
from algorithms.jit import kernel

_WANTED = 3


def is_triconnected(starts: Longs, neighbours: Ints) -> bool:
    """Whether no two brokers can cut the graph apart; the graph, in compressed rows, has four brokers or more."""
    size = len(starts) - 1
    tails = np.repeat(np.arange(size, dtype=np.int64), np.diff(starts))
    # Sorted by (head, tail), the arcs are the reverses of the arcs sorted by (tail, head).
    forward = np.lexsort((neighbours, tails))
    reverse = np.empty(len(neighbours), np.int64)
    reverse[forward] = np.lexsort((tails, neighbours))
    return bool(_growing_set(starts, neighbours, reverse))


@kernel
def _growing_set(starts: Longs, neighbours: Ints, reverse: Longs) -> bool:
    """``reverse[p]`` is the place of the arc w -> v where p is the place of v -> w."""
    size = len(starts) - 1
    order = np.empty(size, np.int64)
    rank = np.full(size, -1, np.int64)
    order[0], rank[0] = 0, 0
    reached, at = 1, 0
    while at < reached:
        v = order[at]
        at += 1
        for place in range(starts[v], starts[v + 1]):
            w = neighbours[place]
            if rank[w] < 0:
                rank[w] = reached
                order[reached] = w
                reached += 1
    if reached < size:
        return False
    flow = np.zeros(len(neighbours), np.uint8)
    through = np.zeros(size, np.uint8)
    seen = np.zeros(2 * size, np.int64)
    came = np.empty(2 * size, np.int64)
    queue = np.empty(2 * size, np.int64)
    stamp = 0
    goal = np.zeros(size, np.bool_)
    for i in range(_WANTED):
        goal[order[i]] = True
        for j in range(i + 1, _WANTED):
            stamp, found = _paths(
                order[j], goal, True, starts, neighbours, reverse, flow, through, seen, came, queue, stamp
            )
            if found < _WANTED:
                return False
        goal[order[i]] = False
    goal[order[:_WANTED]] = True
    for i in range(_WANTED, size):
        v = order[i]
        earlier = 0
        for place in range(starts[v], starts[v + 1]):
            earlier += goal[neighbours[place]]
        if earlier < _WANTED:
            stamp, found = _paths(
                v, goal, False, starts, neighbours, reverse, flow, through, seen, came, queue, stamp
            )
            if found < _WANTED:
                return False
        goal[v] = True
    return True


@kernel
def _paths(
    source: int,
    goal: NDArray[np.bool_],
    shared: bool,
    starts: Longs,
    neighbours: Ints,
    reverse: Longs,
    flow: NDArray[np.uint8],
    through: NDArray[np.uint8],
    seen: Longs,
    came: Longs,
    queue: Longs,
    stamp: int,
) -> tuple[int, int]:
    """How many disjoint paths, at most three, lead from the source to the goals; also the next free stamp.

    Each broker v is an entry 2v and an exit 2v + 1 with room for one path between them. Paths end at the first goal
    they enter; with ``shared`` one goal may end several. ``flow`` (one entry an arc) and ``through`` (one a broker)
    hold the paths found so far and are zero again at the end. ``seen``: the stamp of the search that reached a state;
    ``came``: the state it was reached from.
    """
    found = 0
    while found < _WANTED:
        stamp += 1
        queue[0] = 2 * source + 1
        seen[2 * source + 1] = stamp
        seen[2 * source] = stamp
        reached, at, last = 1, 0, -1
        while at < reached and last < 0:
            state = queue[at]
            at += 1
            v = state // 2
            if state % 2:
                if through[v] and seen[2 * v] != stamp:
                    seen[2 * v], came[2 * v] = stamp, state
                    queue[reached] = 2 * v
                    reached += 1
                for place in range(starts[v], starts[v + 1]):
                    w = neighbours[place]
                    if flow[place] or seen[2 * w] == stamp:
                        continue
                    seen[2 * w], came[2 * w] = stamp, state
                    if goal[w] and (shared or not through[w]):
                        last = 2 * w
                        break
                    queue[reached] = 2 * w
                    reached += 1
            elif not through[v]:
                if seen[state + 1] != stamp:
                    seen[state + 1], came[state + 1] = stamp, state
                    queue[reached] = state + 1
                    reached += 1
            else:
                for place in range(starts[v], starts[v + 1]):
                    u = neighbours[place]
                    if flow[reverse[place]] and seen[2 * u + 1] != stamp:
                        seen[2 * u + 1], came[2 * u + 1] = stamp, state
                        queue[reached] = 2 * u + 1
                        reached += 1
        if last < 0:
            break
        found += 1
        if not shared:
            through[last // 2] = 1
        state = last
        while state != 2 * source + 1:
            before = came[state]
            v, w = before // 2, state // 2
            if v == w:
                through[v] = 1 if state % 2 else 0
            elif before % 2:
                _set_flow(v, w, 1, starts, neighbours, flow)
            else:
                _set_flow(w, v, 0, starts, neighbours, flow)
            state = before
    _forget(source, goal, starts, neighbours, flow, through)
    return stamp, found


@kernel
def _set_flow(v: int, w: int, value: int, starts: Longs, neighbours: Ints, flow: NDArray[np.uint8]) -> None:
    for place in range(starts[v], starts[v + 1]):
        if neighbours[place] == w:
            flow[place] = value
            return


@kernel
def _forget(
    source: int,
    goal: NDArray[np.bool_],
    starts: Longs,
    neighbours: Ints,
    flow: NDArray[np.uint8],
    through: NDArray[np.uint8],
) -> None:
    """Walk every path from the source to its goal and clear it."""
    for first in range(starts[source], starts[source + 1]):
        place = first
        while place >= 0 and flow[place]:
            flow[place] = 0
            v = neighbours[place]
            through[v] = 0
            place = -1
            if not goal[v]:
                for onward in range(starts[v], starts[v + 1]):
                    if flow[onward]:
                        place = onward
                        break
