"""What a topic hangs by, for all topics at once: articulation brokers, bridges and blocks.

An articulation broker of a topic is one whose failure leaves the topic's other subscribers in more pieces than before;
a bridge is a link with that property; a block is a maximal set of links any two of which lie on a common cycle, and a
bridge is a block of its own. One depth-first search a topic finds all three (Hopcroft and Tarjan 1973).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from algorithms.analysis.subgraphs import TopicSubgraphs
from algorithms.interests import Ints, Longs
from algorithms.jit import kernel


@dataclass(frozen=True, eq=False)
class TopicCuts:
    """Articulation brokers, bridges and blocks of every topic."""

    articulates: NDArray[np.bool_]
    """One entry a place of ``interests.topic_brokers``: whether that subscriber is an articulation broker there."""
    bridge_topic: Ints
    bridge_ends: Ints
    """One row a (topic, bridge): the dense ids of its ends, the smaller first."""
    blocks: Ints
    """One entry a topic; a subscriber without links in the topic is in no block."""


def topic_cuts(graphs: TopicSubgraphs) -> TopicCuts:
    """The cuts of all topics, in time linear in the sizes of their subgraphs."""
    interests = graphs.interests
    sizes = interests.topic_sizes()
    articulates = np.zeros(interests.subscriptions, np.bool_)
    blocks = np.zeros(len(sizes), np.int32)
    # A topic's bridges lie in one of its spanning forests: fewer than it has subscribers.
    bridge_topic = np.empty(interests.subscriptions, np.int32)
    bridge_ends = np.empty((interests.subscriptions, 2), np.int32)
    largest = int(sizes.max(initial=0))
    bridges = _cuts(
        interests.topic_start,
        interests.topic_brokers,
        graphs.starts,
        graphs.neighbours,
        np.empty((4, largest), np.int32),
        np.empty(largest, np.int64),
        articulates,
        blocks,
        bridge_topic,
        bridge_ends,
    )
    return TopicCuts(articulates, bridge_topic[:bridges].copy(), bridge_ends[:bridges].copy(), blocks)


@kernel
def _cuts(
    topic_start: Longs,
    topic_brokers: Ints,
    starts: Longs,
    neighbours: Ints,
    rows: Ints,
    places: Longs,
    articulates: NDArray[np.bool_],
    blocks: Ints,
    bridge_topic: Ints,
    bridge_ends: Ints,
) -> int:
    """Depth-first search of every topic without recursion; returns the number of bridges written.

    ``rows``: four scratch rows as long as the largest topic: order of discovery (from 1; 0 unseen), low point, parent,
    and the path from the root. ``places``: where the scan of each broker's neighbours stands.
    """
    order, low, parent, path = rows[0], rows[1], rows[2], rows[3]
    bridges = 0
    for topic in range(len(topic_start) - 1):
        first = topic_start[topic]
        size = topic_start[topic + 1] - first
        order[:size] = 0
        clock = 0
        for root in range(size):
            if order[root]:
                continue
            clock += 1
            order[root], low[root], parent[root] = clock, clock, -1
            places[root] = starts[first + root]
            path[0] = root
            depth, root_blocks = 1, 0
            while depth:
                v = path[depth - 1]
                if places[v] < starts[first + v + 1]:
                    w = neighbours[places[v]]
                    places[v] += 1
                    if not order[w]:
                        clock += 1
                        order[w], low[w], parent[w] = clock, clock, v
                        places[w] = starts[first + w]
                        path[depth] = w
                        depth += 1
                    elif w != parent[v]:
                        low[v] = min(low[v], order[w])
                    continue
                depth -= 1
                above = parent[v]
                if above < 0:
                    continue
                low[above] = min(low[above], low[v])
                if low[v] >= order[above]:
                    # The links below `above` through v form a block that ends at `above`.
                    blocks[topic] += 1
                    if above == root:
                        root_blocks += 1
                    else:
                        articulates[first + above] = True
                    if low[v] > order[above]:
                        a, b = topic_brokers[first + above], topic_brokers[first + v]
                        bridge_topic[bridges] = topic
                        bridge_ends[bridges, 0], bridge_ends[bridges, 1] = min(a, b), max(a, b)
                        bridges += 1
            if root_blocks > 1:
                articulates[first + root] = True
    return bridges
