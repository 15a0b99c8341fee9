"""HararyPT: a Harary graph for every topic, over one broker order shared by all topics.

The Harary graph of m brokers has the fewest links that any k-connected graph of m brokers can have, ceil(k m / 2).
Brokers stand in a circle and each is linked with its k // 2 nearest on both sides; for odd k also with the broker
opposite. Where two brokers are near each other in the shared order they are near in every topic they share, so links
coincide between topics; with an order of its own for each topic hardly any do, which is the baseline.

    C. Chen, R. Vitenberg, H.-A. Jacobsen, "Constructing fault-tolerant overlay networks for topic-based
    publish/subscribe", Algorithm 2 and section VII
"""

from __future__ import annotations

import numpy as np

from algorithms.interests import Interests, Ints, Longs
from algorithms.jit import kernel
from algorithms.order import id_hashes, random_ranks, subscription_hashes
from algorithms.progress import Progress
from algorithms.registry import Parameter, algorithm

NEAREST_VISITS = 4096
"""Brokers looked at for one step of the nearest order."""


@algorithm(
    "hararypt",
    summary="A Harary graph a topic over one shared broker order: any k",
    guarantee=(
        "k-connected in every topic, a clique where it has at most k + 1 subscribers; "
        "at most ceil(k m / 2) links for a topic of m > k subscribers"
    ),
    paper="Chen et al., Algorithm 2 (fault-tolerant-ktco-gm2-hararypt)",
    parameters=(
        Parameter(
            "k", int, 2, "topics survive the failure of any k - 1 brokers", minimum=2, maximum=2**31 - 1
        ),
        Parameter(
            "order",
            str,
            "id",
            "the brokers' order: by id, random, or each next to the one most alike, shared by all topics; "
            "independent: a random one for each topic, the baseline",
            words=("id", "random", "nearest", "independent"),
        ),
        Parameter(
            "even_if_cheaper",
            bool,
            True,
            "for odd k, give the links of k + 1 where they are fewer: the links across the circle "
            "hardly ever coincide between topics",
        ),
    ),
    connects="k",
)
def harary_per_topic(
    interests: Interests,
    *,
    seed: int,
    progress: Progress,
    k: int = 2,
    order: str = "id",
    even_if_cheaper: bool = True,
) -> Ints:
    """A Harary graph over the subscribers of each topic.

    O(k * subscriptions) time for the links, and 4 k / 2 bytes a subscription; the order costs a sort. A topic of at
    most k + 1 subscribers becomes a clique, a topic of one or none has no links.
    """
    progress(0.0, "ordering brokers")
    members = ordered_subscribers(interests, order, seed)
    progress(0.4, "closing circles")
    links = harary_links(interests, members, k)
    if even_if_cheaper and k % 2:
        more = harary_links(interests, members, k + 1)
        if len(more) < len(links):
            progress(
                0.8, f"k = {k + 1} has fewer links than k = {k}, {len(more)} against {len(links)}: taken"
            )
            links = more
    return links


def ordered_subscribers(interests: Interests, order: str, seed: int) -> Ints:
    """The subscribers of each topic, topic after topic, in a shared order or (independent) the topic's own."""
    sizes = interests.topic_sizes()
    if order == "id":
        return interests.topic_brokers
    topic_of_place = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    if order == "independent":
        return interests.topic_brokers[np.lexsort((subscription_hashes(interests, seed), topic_of_place))]
    ranks = random_ranks(id_hashes(interests.brokers), seed)
    if order == "nearest":
        ranks = _nearest_ranks(
            interests.broker_start,
            interests.broker_topics,
            interests.topic_start,
            interests.topic_brokers,
            ranks,
            NEAREST_VISITS,
        )
    # Brokers by rank, each row copied to its topics: a topic's subscribers come out in rank order without a sort.
    members: Ints = _spread(
        interests.broker_start, interests.broker_topics, interests.topic_start, np.argsort(ranks)
    )
    return members


def harary_links(interests: Interests, members: Ints, k: int) -> Ints:
    """The links of the Harary graphs over the subscribers in the given order, each once, sorted."""
    largest = int(interests.topic_sizes().max(initial=0))
    starts = np.zeros(len(interests.brokers) + 1, np.int64)
    ends = np.empty(0, np.int32)
    offset = max(min(k // 2, largest), 1)
    _circles(interests.topic_start, members, k, offset, True, starts, ends)
    np.cumsum(starts, out=starts)
    ends = np.empty(int(starts[-1]), np.int32)
    _circles(interests.topic_start, members, k, offset, False, starts[:-1].copy(), ends)
    kept = _distinct(starts, ends)
    lows = np.repeat(np.arange(len(kept), dtype=np.int32), kept)
    return np.stack([lows, ends[: len(lows)]], axis=1)


@kernel
def _put(a: int, b: int, counting: bool, fill: Longs, ends: Ints) -> None:
    low, high = min(a, b), max(a, b)
    if counting:
        fill[low + 1] += 1
    else:
        ends[fill[low]] = high
        fill[low] += 1


@kernel
def _circles(
    topic_start: Longs, members: Ints, k: int, offset: int, counting: bool, fill: Longs, ends: Ints
) -> None:
    """Count the links of each smaller end (``fill[v + 1]``), or write the larger ends from ``fill[v]`` on.

    A topic of m <= k + 1 is a clique. Else subscriber i is linked with i + 1 to i + offset around the circle and, for
    odd k, the first half with i + m // 2, the one opposite; for odd m the one in the middle has two such links.
    """
    for t in range(len(topic_start) - 1):
        first = topic_start[t]
        m = topic_start[t + 1] - first
        if m <= k + 1:
            for i in range(m):
                for j in range(i):
                    _put(members[first + i], members[first + j], counting, fill, ends)
            continue
        for i in range(m):
            for step in range(1, offset + 1):
                _put(members[first + i], members[first + (i + step) % m], counting, fill, ends)
        if k % 2:
            half = (m + 1) // 2
            for i in range(half):
                _put(members[first + i], members[first + i + m // 2], counting, fill, ends)


@kernel
def _distinct(starts: Longs, ends: Ints) -> Ints:
    """Sort each row of larger ends, drop repeats, close the gaps; returns how many each row keeps.

    Rows are short, so sorting them one by one beats one sort over all links, and needs no wider keys.
    """
    kept = np.zeros(len(starts) - 1, np.int32)
    to = 0
    for v in range(len(starts) - 1):
        row = np.sort(ends[starts[v] : starts[v + 1]])
        for i in range(len(row)):
            if i == 0 or row[i] != row[i - 1]:
                ends[to] = row[i]
                to += 1
                kept[v] += 1
    return kept


@kernel
def _spread(broker_start: Longs, broker_topics: Ints, topic_start: Longs, brokers: Longs) -> Ints:
    """The subscribers of each topic in the order of ``brokers``."""
    fill = topic_start[:-1].copy()
    members = np.empty(len(broker_topics), np.int32)
    for v in brokers:
        for slot in range(broker_start[v], broker_start[v + 1]):
            members[fill[broker_topics[slot]]] = v
            fill[broker_topics[slot]] += 1
    return members


@kernel
def _nearest_ranks(
    broker_start: Longs,
    broker_topics: Ints,
    topic_start: Longs,
    topic_brokers: Ints,
    ranks: Ints,
    visits: int,
) -> Ints:
    """Each broker's place in a chain where the next one shares most topics with the last.

    Ties, and the next broker where nobody left shares a topic, by ``ranks``. ``waiting`` holds each topic's subscribers
    that are not in the chain yet, the first ``left[t]`` of the topic's places; a step looks at about ``visits`` of
    them, rarest topics first, since those say most about who is alike.
    """
    brokers = len(ranks)
    by_rank = np.empty(brokers, np.int32)
    for v in range(brokers):
        by_rank[ranks[v]] = v
    waiting = topic_brokers.copy()
    left = np.empty(len(topic_start) - 1, np.int64)
    for t in range(len(left)):
        left[t] = topic_start[t + 1] - topic_start[t]
    placed = np.full(brokers, -1, np.int32)
    count = np.zeros(brokers, np.int32)
    touched = np.empty(brokers, np.int32)
    current = -1
    lowest = 0
    for place in range(brokers):
        best = -1
        if current >= 0:
            topics = broker_topics[broker_start[current] : broker_start[current + 1]]
            n = 0
            budget = visits
            for t in topics[np.argsort(left[topics])]:
                if budget <= 0:
                    break
                at = topic_start[t]
                while at < topic_start[t] + left[t] and budget > 0:
                    w = waiting[at]
                    if placed[w] >= 0:
                        left[t] -= 1
                        waiting[at] = waiting[topic_start[t] + left[t]]
                        continue
                    budget -= 1
                    at += 1
                    if count[w] == 0:
                        touched[n] = w
                        n += 1
                    count[w] += 1
                    if (
                        best < 0
                        or count[w] > count[best]
                        or (count[w] == count[best] and ranks[w] < ranks[best])
                    ):
                        best = w
            for i in range(n):
                count[touched[i]] = 0
        if best < 0:
            while placed[by_rank[lowest]] >= 0:
                lowest += 1
            best = by_rank[lowest]
        placed[best] = place
        current = best
    return placed
