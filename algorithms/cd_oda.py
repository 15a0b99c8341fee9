"""CD-ODA, CD-ODA-I and CD-ODA-II: overlays of diameter 2, one centre after another.

A centre is linked to every broker it shares a remaining topic with, and all its topics are done: each then has a star,
so any two of its subscribers are at most two links apart. The three differ in which broker is the next centre:

| algorithm | next centre: the broker with |
|---|---|
| CD-ODA | most neighbours: brokers it shares a topic with |
| CD-ODA-I | most weighted neighbours: the sizes of its topics summed up |
| CD-ODA-II | largest density: weighted neighbours by neighbours |

Neighbours are counted over all topics, so scores never change and one sort gives the order of centres; links go out
over remaining topics only. Those are the readings under which the paper's own examples hold (Lemma 6, case VII). Ties
go to the lower id. Topics with one subscriber need no centre.

    M. Onus, A. W. Richa, "Parameterized maximum and average degree approximation in topic-based publish-subscribe
    overlay network design", Computer Networks 94, 2016, section 6.1
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from algorithms.interests import Interests, Ints, Longs
from algorithms.jit import kernel
from algorithms.progress import Progress
from algorithms.registry import algorithm

_GUARANTEE = (
    "topic-connected; every topic has diameter 2 at most; no bound on links better than n times the fewest"
)
_PAPER = "Onus and Richa 2016, section 6.1 (low-oda-2d-oda)"
_BATCH = 2_048


@algorithm(
    "cd-oda",
    summary="Diameter 2: centres by number of neighbours",
    guarantee=_GUARANTEE,
    paper=_PAPER,
)
def by_neighbours(interests: Interests, *, seed: int, progress: Progress) -> Ints:
    """CD-ODA; O(subscriptions x brokers / 64) time at most, 8 bytes a subscription.

    Links are in the order of their centres. Empty interests and topics of one subscriber give none.

    >>> from algorithms import build
    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x", "y"], "c": ["y"]})
    >>> build("cd-oda", interests).link_names()
    [('a', 'b'), ('b', 'c')]
    """
    return _linked_centres(interests, count_neighbours(interests, progress).astype(np.float64), progress)


@algorithm(
    "cd-oda-i",
    summary="Diameter 2: centres by sizes of their topics",
    guarantee=_GUARANTEE,
    paper=_PAPER,
)
def by_weighted_neighbours(interests: Interests, *, seed: int, progress: Progress) -> Ints:
    """CD-ODA-I; O(subscriptions + links) time, up to sorting."""
    return _linked_centres(interests, count_weighted_neighbours(interests).astype(np.float64), progress)


@algorithm(
    "cd-oda-ii",
    summary="Diameter 2: centres by density, their topics' sizes by neighbours",
    guarantee=_GUARANTEE,
    paper=_PAPER,
)
def by_density(interests: Interests, *, seed: int, progress: Progress) -> Ints:
    """CD-ODA-II; time and memory as CD-ODA."""
    weighted = count_weighted_neighbours(interests)
    # Two unequal fractions a/b and c/d with a*d < 2^52 have unequal quotients in this order, equal ones equal quotients.
    return _linked_centres(
        interests, weighted / np.maximum(count_neighbours(interests, progress), 1), progress
    )


def count_weighted_neighbours(interests: Interests) -> Longs:
    """For each broker the subscribers of its topics, one counted once for each common topic; the broker too."""
    sizes = interests.topic_sizes()[interests.broker_topics]
    sums = np.concatenate([[0], np.cumsum(sizes)])
    weighted: Longs = sums[interests.broker_start[1:]] - sums[interests.broker_start[:-1]]
    return weighted


def count_neighbours(interests: Interests, progress: Progress) -> Longs:
    """For each broker how many share a topic with it, itself among them; 0 for a broker without topics.

    >>> from algorithms.progress import silent
    >>> count_neighbours(Interests.from_mapping({"a": ["x"], "b": ["x", "y"], "c": ["y"], "d": []}), silent).tolist()
    [2, 3, 2, 0]
    """
    brokers = len(interests.brokers)
    words = (brokers + 63) // 64
    # A topic of more than `words` subscribers is cheaper to join as a bitset than one by one. There are at most
    # subscriptions / words of them, so their bitsets take 8 bytes a subscription.
    large = np.flatnonzero(interests.topic_sizes() > words)
    row_of_topic = np.full(len(interests.topics), -1, np.int32)
    row_of_topic[large] = np.arange(len(large), dtype=np.int32)
    rows = np.zeros((len(large), words), np.uint64)
    _fill_rows(interests.topic_start, interests.topic_brokers, large, rows)
    neighbours = np.zeros(brokers, np.int64)
    joined = np.zeros(words, np.uint64)
    for first in range(0, brokers, _BATCH):
        progress(0.9 * first / brokers, "counting neighbours")
        last = min(first + _BATCH, brokers)
        _count_neighbours(
            first,
            last,
            interests.broker_start,
            interests.broker_topics,
            interests.topic_start,
            interests.topic_brokers,
            row_of_topic,
            rows,
            joined,
            neighbours,
        )
    return neighbours


def _linked_centres(interests: Interests, score: NDArray[np.float64], progress: Progress) -> Ints:
    progress(0.9, "linking centres")
    order = np.argsort(-score, kind="stable")
    most = int(np.maximum(interests.topic_sizes() - 1, 0).sum())
    links = np.empty((most, 2), np.int32)
    found = _link_centres(
        order,
        interests.broker_start,
        interests.broker_topics,
        interests.topic_start,
        interests.topic_brokers,
        links,
    )
    return links[:found].copy()


@kernel
def _fill_rows(topic_start: Longs, topic_brokers: Ints, large: Longs, rows: NDArray[np.uint64]) -> None:
    """``rows[i]``: the subscribers of topic ``large[i]`` as a bitset."""
    for row in range(len(large)):
        for place in range(topic_start[large[row]], topic_start[large[row] + 1]):
            v = topic_brokers[place]
            rows[row, v >> 6] |= np.uint64(1) << np.uint64(v & 63)


@kernel
def _count_neighbours(
    first: int,
    last: int,
    broker_start: Longs,
    broker_topics: Ints,
    topic_start: Longs,
    topic_brokers: Ints,
    row_of_topic: Ints,
    rows: NDArray[np.uint64],
    joined: NDArray[np.uint64],
    neighbours: Longs,
) -> None:
    """The neighbours of brokers ``first`` to ``last``: the union of their topics' subscribers, counted.

    ``row_of_topic``: the row of a large topic in ``rows``, or -1. ``joined``: scratch, one bit a broker, zero between
    calls.
    """
    for v in range(first, last):
        for place in range(broker_start[v], broker_start[v + 1]):
            topic = broker_topics[place]
            row = row_of_topic[topic]
            if row >= 0:
                for word in range(len(joined)):
                    joined[word] |= rows[row, word]
            else:
                for member in range(topic_start[topic], topic_start[topic + 1]):
                    w = topic_brokers[member]
                    joined[w >> 6] |= np.uint64(1) << np.uint64(w & 63)
        total = 0
        for word in range(len(joined)):
            bits = joined[word]
            joined[word] = np.uint64(0)
            # The usual sum of bits in parallel: pairs, nibbles, bytes, then the bytes folded together.
            bits -= (bits >> np.uint64(1)) & np.uint64(0x5555555555555555)
            bits = (bits & np.uint64(0x3333333333333333)) + (
                (bits >> np.uint64(2)) & np.uint64(0x3333333333333333)
            )
            bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
            bits += bits >> np.uint64(8)
            bits += bits >> np.uint64(16)
            bits += bits >> np.uint64(32)
            total += int(bits & np.uint64(0x7F))
        neighbours[v] = total


@kernel
def _link_centres(
    order: Longs,
    broker_start: Longs,
    broker_topics: Ints,
    topic_start: Longs,
    topic_brokers: Ints,
    links: Ints,
) -> int:
    """Link the centres in order over their remaining topics; returns the number of links written.

    A pair is met twice at most: while its first end is the centre. Afterwards none of the centre's topics remains.
    """
    done = np.zeros(len(topic_start) - 1, np.bool_)
    linked_to = np.full(len(broker_start) - 1, -1, np.int32)
    found = 0
    for centre in order:
        for place in range(broker_start[centre], broker_start[centre + 1]):
            topic = broker_topics[place]
            if done[topic]:
                continue
            done[topic] = True
            for member in range(topic_start[topic], topic_start[topic + 1]):
                v = topic_brokers[member]
                if v != centre and linked_to[v] != centre:
                    linked_to[v] = centre
                    links[found, 0], links[found, 1] = min(v, centre), max(v, centre)
                    found += 1
    return found
