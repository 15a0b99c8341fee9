"""RingPT, CyclePT and TreePT: the baselines that treat every topic by itself.

Each topic's subscribers are put in an order and linked in a shape, and the overlay is the union over topics. With one
order shared by all topics (the ids), neighbours in one topic tend to be neighbours in the next and links coincide; with
an order of its own for each topic, hardly any do, and the average degree nears twice the number of subscriptions.

    G. Chockler, R. Melamed, Y. Tock, R. Vitenberg, "Constructing scalable overlays for pub-sub with many topics",
    PODC 2007, section 8.3 (RingPT); C. Chen, R. Vitenberg, H.-A. Jacobsen, "Constructing fault-tolerant overlay
    networks for topic-based publish/subscribe", section VIII (CyclePT); TreePT is ours.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from algorithms.interests import Interests, Ints
from algorithms.order import subscription_hashes
from algorithms.progress import Progress
from algorithms.registry import Parameter, algorithm

_RING = (
    "topic-connected, and 2-connected in every topic of three subscribers or more; "
    "at most one link a subscription, topic diameters up to half the subscribers"
)


def _order(default: str) -> Parameter:
    return Parameter(
        "order",
        str,
        default,
        "the order of subscribers: by id, shared by all topics, or a random one for each topic",
        words=("id", "random"),
    )


@algorithm(
    "ringpt",
    summary="A ring a topic, subscribers in the order of their ids",
    guarantee=_RING,
    paper="Chockler et al. 2007, section 8.3 (greedy-merge-min-tco)",
    parameters=(_order("id"),),
    connects=2,
)
def ring_per_topic(interests: Interests, *, seed: int, progress: Progress, order: str = "id") -> Ints:
    """A ring through the subscribers of each topic; O(subscriptions log subscriptions) time.

    A topic of two subscribers gets one link, a topic of one none; empty interests give no links.

    >>> from algorithms import build
    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x", "y"], "c": ["x"], "d": ["x", "y"]})
    >>> build("ringpt", interests).link_names()
    [('a', 'b'), ('a', 'd'), ('b', 'c'), ('b', 'd'), ('c', 'd')]
    """
    progress(0.0, "ordering subscribers")
    members, starts, sizes = _ordered(interests, order, seed)
    progress(0.5, "closing rings")
    topic_of_place = np.repeat(np.arange(len(sizes)), sizes)
    following = np.arange(1, len(members) + 1)
    last = starts[1:][sizes > 0] - 1
    following[last] = starts[:-1][sizes > 0]
    rings = np.stack([members, members[following]], axis=1)
    return _distinct_links(rings[sizes[topic_of_place] > 1], len(interests.brokers))


@algorithm(
    "cyclept",
    summary="A cycle a topic, subscribers in a random order of the topic's own",
    guarantee=_RING,
    paper="Chen et al., section VIII (fault-tolerant-ktco-gm2-hararypt)",
    parameters=(_order("random"),),
    connects=2,
)
def cycle_per_topic(interests: Interests, *, seed: int, progress: Progress, order: str = "random") -> Ints:
    """RingPT with independent orders: what separate overlays for separate topics cost."""
    return ring_per_topic(interests, seed=seed, progress=progress, order=order)


@algorithm(
    "treept",
    summary="A balanced binary tree a topic",
    guarantee=(
        "topic-connected; fewer than one link a subscription, at most three links a broker and topic, "
        "topic diameters at most twice the logarithm of the subscribers"
    ),
    paper="ours; the separate trees that the papers compare with",
    parameters=(_order("id"),),
)
def tree_per_topic(interests: Interests, *, seed: int, progress: Progress, order: str = "id") -> Ints:
    """A binary tree over the subscribers of each topic: the i-th in order hangs below the (i-1)//2-th.

    >>> from algorithms import build
    >>> build("treept", Interests.from_mapping({name: ["x"] for name in "abcde"})).link_names()
    [('a', 'b'), ('a', 'c'), ('b', 'd'), ('b', 'e')]
    """
    progress(0.0, "ordering subscribers")
    members, starts, sizes = _ordered(interests, order, seed)
    progress(0.5, "growing trees")
    first = np.repeat(starts[:-1], sizes)
    rank = np.arange(len(members)) - first
    children = np.flatnonzero(rank > 0)
    parents = first[children] + (rank[children] - 1) // 2
    trees = np.stack([members[children], members[parents]], axis=1)
    return _distinct_links(trees, len(interests.brokers))


def _ordered(
    interests: Interests, order: str, seed: int
) -> tuple[Ints, NDArray[np.int64], NDArray[np.int64]]:
    """The subscribers of each topic in the wanted order, topic after topic, with starts and sizes."""
    sizes = interests.topic_sizes()
    members = interests.topic_brokers
    if order == "random":
        topic_of_place = np.repeat(np.arange(len(sizes)), sizes)
        members = members[np.lexsort((subscription_hashes(interests, seed), topic_of_place))]
    return members, interests.topic_start, sizes


def _distinct_links(links: Ints, brokers: int) -> Ints:
    """The links, each once, with the smaller end first, sorted."""
    keys = np.unique(links.min(axis=1).astype(np.int64) * brokers + links.max(axis=1))
    return np.stack(np.divmod(keys, max(brokers, 1)), axis=1).astype(np.int32)
