"""Questions to a live overlay about one broker, one link or one topic, answered from its arrays without a snapshot."""

from __future__ import annotations

import numpy as np

from algorithms.interests import Ints, Longs
from algorithms.jit import kernel
from algorithms.live.alter import common_topics
from algorithms.live.rows import KINDS, LENGTH, NEIGHBOURS, START, SUBSCRIBERS, TOPICS
from algorithms.live.state import State


def shared_topics(state: State, a: int, b: int) -> Ints:
    """The topics that two brokers share."""
    shorter = min(state.rows[KINDS * v + TOPICS, LENGTH] for v in (a, b))
    common = np.empty(shorter, np.int32)
    return common[: common_topics(a, b, state.pool, state.rows, common)]


def split_topics(state: State, broker: int) -> Ints:
    """The topics that come apart when a broker fails: those in which it is an articulation broker."""
    found: Ints = _split_topics(broker, state.pool, state.rows)
    return found


def topic_links(state: State, topic: int) -> Ints:
    """The links between subscribers of a topic, as pairs of positions in its row of subscribers."""
    links: Ints = _topic_links(topic, state.pool, state.rows)
    return links


@kernel
def _split_topics(broker: int, pool: Ints, rows: Longs) -> Ints:
    slots = len(rows) // KINDS
    member = np.zeros(slots, np.int32)
    reached = np.zeros(slots, np.int32)
    waiting = np.empty(slots, np.int32)
    first = rows[KINDS * broker + TOPICS, START]
    count = rows[KINDS * broker + TOPICS, LENGTH]
    split = np.empty(count, np.int32)
    n = 0
    for i in range(count):
        topic, stamp = pool[first + i], i + 1
        start = rows[KINDS * topic + SUBSCRIBERS, START]
        size = rows[KINDS * topic + SUBSCRIBERS, LENGTH]
        if size < 3:
            continue
        root = -1
        for at in range(start, start + size):
            member[pool[at]] = stamp
            if pool[at] != broker:
                root = pool[at]
        member[broker] = 0
        reached[root] = stamp
        waiting[0] = root
        head, tail = 0, 1
        while head < tail:
            v = waiting[head]
            head += 1
            low = rows[KINDS * v + NEIGHBOURS, START]
            for at in range(low, low + rows[KINDS * v + NEIGHBOURS, LENGTH]):
                w = pool[at]
                if member[w] == stamp and reached[w] != stamp:
                    reached[w] = stamp
                    waiting[tail] = w
                    tail += 1
        if tail < size - 1:
            split[n] = topic
            n += 1
    return split[:n]


@kernel
def _topic_links(topic: int, pool: Ints, rows: Longs) -> Ints:
    start = rows[KINDS * topic + SUBSCRIBERS, START]
    size = rows[KINDS * topic + SUBSCRIBERS, LENGTH]
    place = np.full(len(rows) // KINDS, -1, np.int32)
    ends = 0
    for i in range(size):
        place[pool[start + i]] = i
        ends += rows[KINDS * pool[start + i] + NEIGHBOURS, LENGTH]
    links = np.empty((ends, 2), np.int32)
    n = 0
    for i in range(size):
        low = rows[KINDS * pool[start + i] + NEIGHBOURS, START]
        for at in range(low, low + rows[KINDS * pool[start + i] + NEIGHBOURS, LENGTH]):
            j = place[pool[at]]
            if j > i:
                links[n, 0], links[n, 1] = i, j
                n += 1
    return links[:n]
