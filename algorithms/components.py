"""Topic components: how many pieces each topic's subscribers fall into, for all topics at once.

A topic component is a connected component of the subgraph that a topic's subscribers induce; an overlay is
topic-connected when no topic has more than one. One union-find over all subscriptions answers for every topic in a
single walk of the links: a link joins its ends in each of their common topics.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from algorithms.interests import Interests, Ints, Longs
from algorithms.jit import kernel


def component_counts(interests: Interests, links: Ints) -> Longs:
    """The number of components of each topic, by dense topic id; 0 for a topic nobody subscribes to.

    O(common topics of all links + subscriptions) time, 4 bytes a subscription.

    >>> interests = Interests.from_mapping({"a": ["x", "y"], "b": ["x", "y"], "c": ["y"]})
    >>> component_counts(interests, np.array([[0, 1]], np.int32)).tolist()
    [1, 2]
    """
    return _joined(interests, links)[1]


def component_numbers(interests: Interests, links: Ints) -> Ints:
    """A number for each subscription (a place in ``broker_topics``), the same within a component of its topic."""
    parent, _ = _joined(interests, links)
    while True:
        higher: Ints = parent[parent]
        if (higher == parent).all():
            return parent
        parent = higher


def _joined(interests: Interests, links: Ints) -> tuple[Ints, Longs]:
    parent = np.arange(interests.subscriptions, dtype=np.int32)
    counts = interests.topic_sizes().copy()
    _join(
        interests.broker_start,
        interests.broker_topics,
        links,
        parent,
        counts,
        _scratch(interests),
        _scratch(interests),
    )
    return parent, counts


def _scratch(interests: Interests) -> NDArray[np.int64]:
    return np.empty(int(interests.broker_sizes().max(initial=0)), np.int64)


@kernel
def common_slots(
    broker_start: Longs, broker_topics: Ints, v: int, w: int, slots_v: Longs, slots_w: Longs
) -> int:
    """Where the common topics of two brokers stand in ``broker_topics``; returns how many there are.

    ``slots_v[i]`` and ``slots_w[i]`` are the places of the i-th common topic in the rows of v and of w. Rows of very
    unequal length (a hub with thousands of topics and a broker with three) are searched, not walked.
    """
    at_v, end_v = broker_start[v], broker_start[v + 1]
    at_w, end_w = broker_start[w], broker_start[w + 1]
    found = 0
    if (end_v - at_v) * 12 < end_w - at_w:
        for slot in range(at_v, end_v):
            at_w += np.searchsorted(broker_topics[at_w:end_w], broker_topics[slot])
            if at_w == end_w:
                break
            if broker_topics[at_w] == broker_topics[slot]:
                slots_v[found], slots_w[found] = slot, at_w
                found += 1
        return found
    if (end_w - at_w) * 12 < end_v - at_v:
        for slot in range(at_w, end_w):
            at_v += np.searchsorted(broker_topics[at_v:end_v], broker_topics[slot])
            if at_v == end_v:
                break
            if broker_topics[at_v] == broker_topics[slot]:
                slots_v[found], slots_w[found] = at_v, slot
                found += 1
        return found
    while at_v < end_v and at_w < end_w:
        if broker_topics[at_v] == broker_topics[at_w]:
            slots_v[found], slots_w[found] = at_v, at_w
            found += 1
            at_v += 1
            at_w += 1
        elif broker_topics[at_v] < broker_topics[at_w]:
            at_v += 1
        else:
            at_w += 1
    return found


@kernel
def _join(
    broker_start: Longs,
    broker_topics: Ints,
    links: Ints,
    parent: Ints,
    counts: Longs,
    slots_v: Longs,
    slots_w: Longs,
) -> None:
    """Join the ends of every link in every common topic.

    ``parent``: one entry a subscription (a place in ``broker_topics``), a union-find with halved paths.
    ``counts``: one entry a topic, lowered by one at each join.
    """
    for link in range(len(links)):
        found = common_slots(broker_start, broker_topics, links[link, 0], links[link, 1], slots_v, slots_w)
        for i in range(found):
            a, b = slots_v[i], slots_w[i]
            while parent[a] != a:
                parent[a] = parent[parent[a]]
                a = parent[a]
            while parent[b] != b:
                parent[b] = parent[parent[b]]
                b = parent[b]
            if a != b:
                # The lower place wins: halved paths alone keep the trees shallow enough, and no sizes are stored.
                parent[max(a, b)] = min(a, b)
                counts[broker_topics[slots_v[i]]] -= 1
