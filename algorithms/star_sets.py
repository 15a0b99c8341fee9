"""Star sets: brokers that together cover every topic of their part that some other part has too (dc, Algorithm 6)."""

from __future__ import annotations

import numpy as np

from algorithms.engine.entries import append
from algorithms.interests import Interests, Ints, Longs
from algorithms.jit import kernel


def star_sets(interests: Interests, part: Ints) -> Ints:
    """The stars of all parts, ascending, by the greedy set cover in each part; ties go to the lowest broker first met.

    ``part`` is a number for each broker. Topics of one part alone need no star, so with one part there are none:
    a part can only be asked to cover topics of its own.

    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x", "y"], "c": ["x", "y"], "d": ["y"]})
    >>> star_sets(interests, np.array([0, 0, 1, 1], np.int32)).tolist()
    [1, 2]
    """
    order = np.argsort(part, kind="stable").astype(np.int32)
    taken = _cover(
        order,
        part.astype(np.int32),
        interests.broker_start.copy(),
        interests.broker_topics.copy(),
        _shared_topics(interests, part),
    )
    return np.flatnonzero(taken).astype(np.int32)


def _shared_topics(interests: Interests, part: Ints) -> Ints:
    """1 for topics that at least two parts have, else 0."""
    of_subscriber = part[interests.topic_brokers]
    shared = np.zeros(len(interests.topics), np.int32)
    filled = interests.topic_sizes() > 0
    starts = interests.topic_start[:-1][filled]
    if len(starts):
        shared[filled] = np.minimum.reduceat(of_subscriber, starts) != np.maximum.reduceat(
            of_subscriber, starts
        )
    return shared


@kernel
def _cover(order: Ints, part: Ints, broker_start: Longs, broker_topics: Ints, needed: Ints) -> Ints:
    """Greedy set cover in each part, lazily: a broker's number of uncovered topics never grows."""
    brokers = len(order)
    taken = np.zeros(brokers, np.int32)
    covered = np.full(len(needed), -1, np.int32)
    widest = 0
    for v in range(brokers):
        widest = max(widest, broker_start[v + 1] - broker_start[v])
    head = np.full(widest + 1, -1, np.int32)
    tail = np.full(widest + 1, -1, np.int32)
    following = np.empty(brokers, np.int32)
    begin = 0
    while begin < brokers:
        own = part[order[begin]]
        end = begin
        while end < brokers and part[order[end]] == own:
            v = order[end]
            count = 0
            for i in range(broker_start[v], broker_start[v + 1]):
                count += needed[broker_topics[i]]
            append(v, count, head, tail, following)
            end += 1
        for level in range(widest, 0, -1):
            while head[level] >= 0:
                v = head[level]
                head[level] = following[v]
                count = 0
                for i in range(broker_start[v], broker_start[v + 1]):
                    count += needed[broker_topics[i]] and covered[broker_topics[i]] != own
                if count < level:
                    append(v, count, head, tail, following)
                    continue
                taken[v] = 1
                for i in range(broker_start[v], broker_start[v + 1]):
                    covered[broker_topics[i]] = own
        head[0] = -1
        begin = end
    return taken
