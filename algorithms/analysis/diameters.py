"""Topic diameters: how many links the two subscribers furthest apart are from each other.

Measured in the topic's own subgraph, where messages of the topic travel. Exact by bounding eccentricities: each
breadth-first search from one subscriber bounds the eccentricity of all others from both sides, and whoever cannot
exceed the largest one found is left out. The next search starts in turn from the highest upper and the lowest lower
bound. Trees take a handful of searches, where searching from everyone would take n. A topic that has used up its
budget of visits gets the largest distance seen so far, a lower bound, and is marked as sampled.

    F. W. Takes, W. A. Kosters, "Determining the diameter of small world networks", CIKM 2011
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from algorithms.analysis.subgraphs import TopicSubgraphs
from algorithms.interests import Ints, Longs
from algorithms.jit import kernel

APART = -1
"""The diameter of a topic that is not connected."""

VISITS = 20_000_000
"""Neighbours looked at in one topic before its diameter is sampled: a tenth of a second."""


def topic_diameters(graphs: TopicSubgraphs, visits: int = VISITS) -> tuple[Ints, NDArray[np.bool_]]:
    """The diameter of each topic (:data:`APART` where it is not connected), and whether it was sampled.

    A topic with one subscriber has diameter 0, and so has a topic with none.
    """
    sizes = graphs.interests.topic_sizes()
    diameters = np.zeros(len(sizes), np.int32)
    sampled = np.zeros(len(sizes), np.bool_)
    rows = np.empty((5, int(sizes.max(initial=0))), np.int32)
    _diameters(
        graphs.interests.topic_start, graphs.starts, graphs.neighbours, visits, rows, diameters, sampled
    )
    return diameters, sampled


def graph_diameter(starts: Longs, neighbours: Ints, visits: int = VISITS) -> tuple[int, bool]:
    """The diameter of one graph in compressed rows, and whether it was sampled; :data:`APART` if not connected."""
    size = len(starts) - 1
    diameters = np.zeros(1, np.int32)
    sampled = np.zeros(1, np.bool_)
    rows = np.empty((5, size), np.int32)
    _diameters(np.array([0, size], np.int64), starts, neighbours, visits, rows, diameters, sampled)
    return int(diameters[0]), bool(sampled[0])


@kernel
def _distances(
    first: int, size: int, root: int, starts: Longs, neighbours: Ints, distance: Ints, queue: Ints
) -> int:
    """Breadth-first search: fills ``distance`` from the root (-1 unreached), ``queue`` in order; returns how many reached."""
    distance[:size] = -1
    distance[root] = 0
    queue[0] = root
    reached, at = 1, 0
    while at < reached:
        v = queue[at]
        at += 1
        for place in range(starts[first + v], starts[first + v + 1]):
            w = neighbours[place]
            if distance[w] < 0:
                distance[w] = distance[v] + 1
                queue[reached] = w
                reached += 1
    return reached


@kernel
def _diameters(
    topic_start: Longs,
    starts: Longs,
    neighbours: Ints,
    visits: int,
    rows: Ints,
    diameters: Ints,
    sampled: NDArray[np.bool_],
) -> None:
    """Bounding eccentricities, topic by topic.

    ``rows``: five scratch rows as long as the largest topic: distances, queue, lower bounds, upper bounds, and the
    subscribers that may still exceed the largest distance found, of which there are ``left``.
    """
    distance, queue, lower, upper, waiting = rows[0], rows[1], rows[2], rows[3], rows[4]
    for topic in range(len(topic_start) - 1):
        first = topic_start[topic]
        size = topic_start[topic + 1] - first
        if size < 2:
            continue
        cost = size + starts[first + size] - starts[first]
        spent = 0
        busiest = 0
        for v in range(size):
            lower[v], upper[v], waiting[v] = 0, size, v
            if (
                starts[first + v + 1] - starts[first + v]
                > starts[first + busiest + 1] - starts[first + busiest]
            ):
                busiest = v
        left = size
        longest = 0
        root = busiest
        highest_next = True
        while True:
            if _distances(first, size, root, starts, neighbours, distance, queue) < size:
                longest = -1
                break
            spent += cost
            reach = distance[queue[size - 1]]
            longest = max(longest, reach)
            kept = 0
            highest, lowest = -1, -1
            for i in range(left):
                v = waiting[i]
                lower[v] = max(lower[v], distance[v], reach - distance[v])
                upper[v] = min(upper[v], reach + distance[v])
                if v != root and upper[v] > longest:
                    waiting[kept] = v
                    kept += 1
                    if highest < 0 or upper[v] > upper[highest]:
                        highest = v
                    if lowest < 0 or lower[v] < lower[lowest]:
                        lowest = v
            left = kept
            if left == 0:
                break
            if spent > visits:
                sampled[topic] = True
                break
            root = highest if highest_next else lowest
            highest_next = not highest_next
        diameters[topic] = longest
