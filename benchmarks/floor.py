"""The floor: what it costs to count the co-subscribers of every broker once, by which every time is also given."""

from __future__ import annotations

import time

import numpy as np

from algorithms.interests import Interests, Ints, Longs
from algorithms.jit import kernel


def floor_seconds(interests: Interests) -> float:
    """Seconds for one thread to count every co-subscriber pair, kernels warm."""
    arrays = [
        array.copy()
        for array in (
            interests.broker_start,
            interests.broker_topics,
            interests.topic_start,
            interests.topic_brokers,
        )
    ]
    _count_all(np.zeros(1, np.int64), np.empty(0, np.int32), np.zeros(1, np.int64), np.empty(0, np.int32))
    start = time.perf_counter()
    _count_all(*arrays)
    return time.perf_counter() - start


def co_subscriber_pairs(interests: Interests) -> int:
    """How many (pair, common topic) there are."""
    sizes = interests.topic_sizes()
    return int((sizes * (sizes - 1) // 2).sum())


@kernel
def _count_all(broker_start: Longs, broker_topics: Ints, topic_start: Longs, topic_brokers: Ints) -> int:
    """Brokers in order; for each, its topics; for each, the subscribers after it. The sum keeps the reads alive."""
    brokers = len(broker_start) - 1
    after = topic_start[:-1].copy()
    count = np.zeros(brokers, np.int32)
    touched = np.empty(brokers, np.int32)
    total = 0
    for v in range(brokers):
        n = 0
        for i in range(broker_start[v], broker_start[v + 1]):
            t = broker_topics[i]
            after[t] += 1
            for place in range(after[t], topic_start[t + 1]):
                w = topic_brokers[place]
                if count[w] == 0:
                    touched[n] = w
                    n += 1
                count[w] += 1
        for k in range(n):
            total += count[touched[k]]
            count[touched[k]] = 0
    return total
