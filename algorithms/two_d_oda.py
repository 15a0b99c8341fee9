"""2D-ODA: an overlay of diameter 2, one topic's star at a time.

Of all (broker, topic) pairs the one of largest topic density comes next: the sizes of the broker's remaining topics
summed up, by how many links the star of that topic around that broker still lacks. The star is linked and the topic is
done. A star whose links all exist is infinitely dense. Unlike CD-ODA, a centre serves only the topics where it is cheap.

The numerator is the same for all topics of a broker. So its best topic is the one whose star lacks fewest links, and a
tournament over brokers finds the best of all. Ties go to the lower broker id, then to the lower topic.

    M. Onus, A. W. Richa, "Parameterized maximum and average degree approximation in topic-based publish-subscribe
    overlay network design", Computer Networks 94, 2016, Algorithm 2

The paper's "at most 1.1 times the links of GM" does not hold on its own workloads: one star a topic needs at least
2.5 times as many at 1,000 brokers, 100 topics and 10 subscriptions, by counting.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from algorithms.components import common_slots
from algorithms.interests import Interests, Ints, Longs
from algorithms.jit import kernel
from algorithms.progress import Progress
from algorithms.registry import algorithm

_BATCH = 256


@algorithm(
    "2d-oda",
    summary="Diameter 2: the densest star of a topic, again and again",
    guarantee="topic-connected; every topic has diameter 2 at most",
    paper="Onus and Richa 2016, Algorithm 2 (low-oda-2d-oda)",
)
def densest_stars(interests: Interests, *, seed: int, progress: Progress) -> Ints:
    """2D-ODA in the order of its stars; empty interests and topics of one subscriber give no links.

    O(sum over brokers of subscriptions squared + common topics of all links) time at most; memory linear in
    subscriptions and links.

    >>> from algorithms import build
    >>> interests = Interests.from_mapping({"a": ["x", "y", "z"], "b": ["x", "y"], "c": ["y", "z"]})
    >>> build("2d-oda", interests).link_names()
    [('a', 'b'), ('a', 'c')]
    """
    sizes = interests.topic_sizes()
    left = sizes > 1
    brokers = len(interests.brokers)
    missing = (sizes[interests.broker_topics] - 1).astype(np.int32)
    owner = np.repeat(np.arange(brokers), interests.broker_sizes())
    counted = np.where(left, sizes, 0)[interests.broker_topics]
    weight = np.bincount(owner, counted, brokers).astype(np.int64)  # whole numbers below 2^53 are exact
    best = np.full(brokers, -1, np.int64)
    leaves = 1 << max(brokers - 1, 1).bit_length()
    winner = np.full(2 * leaves, -1, np.int32)
    rows = (interests.broker_start, interests.broker_topics, interests.topic_start, interests.topic_brokers)
    _prepare(*rows, left, missing, weight, best, winner)
    links = np.empty((int(sizes[left].sum() - left.sum()), 2), np.int32)
    table = np.full(1 << 10, -1, np.int64)
    scratch = np.empty((2, int(interests.broker_sizes().max(initial=0))), np.int64)
    stars, found = int(left.sum()), 0
    for done in range(0, stars, _BATCH):
        progress(done / stars, "linking stars")
        batch = min(_BATCH, stars - done)
        found, table = _link_stars(
            batch, *rows, left, missing, weight, best, winner, links, found, table, scratch[0], scratch[1]
        )
    return links[:found].copy()


@kernel
def _prepare(
    broker_start: Longs,
    broker_topics: Ints,
    topic_start: Longs,
    topic_brokers: Ints,
    left: NDArray[np.bool_],
    missing: Ints,
    weight: Longs,
    best: Longs,
    winner: Ints,
) -> None:
    """Find every broker's best topic and play the first tournament."""
    leaves = len(winner) // 2
    for v in range(len(best)):
        best[v] = _best_place(v, broker_start, broker_topics, left, missing)
        winner[leaves + v] = v
    for node in range(leaves - 1, 0, -1):
        winner[node] = _better(winner[2 * node], winner[2 * node + 1], weight, missing, best)


@kernel
def _best_place(
    v: int, broker_start: Longs, broker_topics: Ints, left: NDArray[np.bool_], missing: Ints
) -> int:
    """The place in ``broker_topics`` of the remaining topic of v whose star lacks fewest links, or -1."""
    found = -1
    for place in range(broker_start[v], broker_start[v + 1]):
        if left[broker_topics[place]] and (found < 0 or missing[place] < missing[found]):
            found = place
    return found


@kernel
def _better(v: int, w: int, weight: Longs, missing: Ints, best: Longs) -> int:
    """Of two brokers, v < w, the one with the denser star; -1 stands for none."""
    if w < 0 or best[w] < 0:
        return v
    if v < 0 or best[v] < 0:
        return w
    lacks_v, lacks_w = np.int64(missing[best[v]]), np.int64(missing[best[w]])
    if lacks_v == 0 or lacks_w == 0:
        return v if lacks_v == 0 else w
    # weight / lacks as fractions: sums of topic sizes times a topic's size stay far below 2^63.
    return v if weight[v] * lacks_w >= weight[w] * lacks_v else w


@kernel
def _play(v: int, weight: Longs, missing: Ints, best: Longs, winner: Ints) -> None:
    """Broker v has changed: play its matches again, from its leaf to the root."""
    node = (len(winner) // 2 + v) // 2
    while node:
        winner[node] = _better(winner[2 * node], winner[2 * node + 1], weight, missing, best)
        node //= 2


@kernel
def _link_stars(
    stars: int,
    broker_start: Longs,
    broker_topics: Ints,
    topic_start: Longs,
    topic_brokers: Ints,
    left: NDArray[np.bool_],
    missing: Ints,
    weight: Longs,
    best: Longs,
    winner: Ints,
    links: Ints,
    found: int,
    table: Longs,
    slots_v: Longs,
    slots_w: Longs,
) -> tuple[int, Longs]:
    """Link so many more stars; returns the number of links so far and the table, which may have grown.

    ``left``: topics without a star yet. ``missing``: for each place of ``broker_topics`` the links that the star of
    that topic around that broker lacks. ``weight``: the sizes of each broker's remaining topics summed up. ``best``:
    the place of each broker's best topic, or -1. ``winner``: the tournament, brokers' leaves in the second half.
    ``table``: the links as low * brokers + high, an open-addressing hash set at most half full.
    """
    brokers = np.int64(len(best))
    for _ in range(stars):
        centre = np.int64(winner[1])
        topic = broker_topics[best[centre]]
        first, last = topic_start[topic], topic_start[topic + 1]
        left[topic] = False
        for member in range(first, last):
            v = np.int64(topic_brokers[member])
            weight[v] -= last - first
            if v == centre:
                continue
            key = min(v, centre) * brokers + max(v, centre)
            at = _seat(table, key)
            if table[at] != key:
                table[at] = key
                links[found, 0], links[found, 1] = min(v, centre), max(v, centre)
                found += 1
                if 2 * found >= len(table):
                    table = _grown(table)
                common = common_slots(broker_start, broker_topics, v, centre, slots_v, slots_w)
                for i in range(common):
                    _lack_one_less(slots_v[i], v, broker_topics, left, missing, best)
                    _lack_one_less(slots_w[i], centre, broker_topics, left, missing, best)
        for member in range(first, last):
            v = topic_brokers[member]
            if best[v] >= 0 and not left[broker_topics[best[v]]]:
                best[v] = _best_place(v, broker_start, broker_topics, left, missing)
            _play(v, weight, missing, best, winner)
    return found, table


@kernel
def _lack_one_less(
    place: int, v: int, broker_topics: Ints, left: NDArray[np.bool_], missing: Ints, best: Longs
) -> None:
    """A link of v's star of that topic is there now; the star may have become v's best."""
    missing[place] -= 1
    now = best[v]
    # A best topic that got its star just now is replaced when the star is complete.
    if not (left[broker_topics[place]] and left[broker_topics[now]]):
        return
    if missing[place] < missing[now] or (missing[place] == missing[now] and place < now):
        best[v] = place


@kernel
def _seat(table: Longs, key: int) -> int:
    """Where the key is, or where it belongs."""
    mask = len(table) - 1
    # A multiplicative hash in two halves, so that no product overflows 63 bits.
    at = (((key & 0xFFFFFFFF) * 0x5BD1E995 + (key >> 32) * 0x3C6EF372) >> 20) & mask
    while table[at] >= 0 and table[at] != key:
        at = (at + 1) & mask
    return at


@kernel
def _grown(table: Longs) -> Longs:
    """A table of twice the size with the same keys."""
    larger = np.full(2 * len(table), -1, np.int64)
    for key in table:
        if key >= 0:
            larger[_seat(larger, key)] = key
    return larger
