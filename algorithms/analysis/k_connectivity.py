"""How many brokers must fail to cut a topic apart, for all topics at once, and which ones would.

A kTCO keeps every topic connected whatever k - 1 brokers fail: each topic is k-connected, and a clique where it has at
most k subscribers (Chen, Vitenberg, Jacobsen, "Constructing fault-tolerant overlay networks for topic-based
publish/subscribe", definition 1). A topic of k + 1 subscribers is k-connected only as a clique too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from algorithms.analysis.subgraphs import TopicSubgraphs
from algorithms.connectivity import Flags, scratch, weak_spot
from algorithms.errors import BadInput
from algorithms.interests import Ints, Longs
from algorithms.jit import kernel
from algorithms.overlay import Overlay


@dataclass(frozen=True)
class Shortfall:
    """A topic that is not k-connected, and why.

    >>> str(Shortfall("x", separator=("b",), parted=("a", "c"), missing_link=False))
    'x: without b, a and c are apart'
    """

    topic: str
    separator: tuple[str, ...]
    """Fewer than k brokers whose failure parts the two; empty when they are apart already, or only lack their link."""
    parted: tuple[str, str]
    missing_link: bool
    """The topic has at most k + 1 subscribers, so it must be a clique, and these two are not linked."""

    def __str__(self) -> str:
        a, b = self.parted
        if self.missing_link:
            return f"{self.topic}: must be a clique, but {a} and {b} are not linked"
        if not self.separator:
            return f"{self.topic}: {a} and {b} are apart"
        return f"{self.topic}: without {', '.join(self.separator)}, {a} and {b} are apart"


def topics_below(overlay: Overlay, k: int) -> list[Shortfall]:
    """The topics that are not k-connected (not cliques, where they have at most k subscribers), each with a reason.

    >>> from algorithms import Interests
    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x"], "c": ["x"], "d": ["x"]})
    >>> path = Overlay.from_names(interests, [("a", "b"), ("b", "c"), ("c", "d")])
    >>> [str(shortfall) for shortfall in topics_below(path, 2)]
    ['x: without b, a and d are apart']
    >>> topics_below(path, 1)
    []
    """
    interests = overlay.interests
    found, separators, parted = _tested(overlay, _checked("k", k), once=True)
    sizes = interests.topic_sizes()
    shortfalls = []
    for t in np.flatnonzero(found < np.minimum(k, sizes - 1)).tolist():
        first = int(interests.topic_start[t])
        names = [interests.brokers[v] for v in interests.subscriber_indices(t)]
        a, b = sorted((names[parted[t, 0]], names[parted[t, 1]]))
        clique = int(sizes[t]) <= k + 1
        cut = [] if clique else sorted(names[v] for v in separators[first : first + found[t]])
        shortfalls.append(Shortfall(interests.topics[t], tuple(cut), (a, b), clique))
    return shortfalls


def is_ktco(overlay: Overlay, k: int) -> bool:
    """Whether every topic survives the failure of any k - 1 brokers.

    >>> from algorithms import Interests
    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x"], "c": ["x"]})
    >>> path = Overlay.from_names(interests, [("a", "b"), ("b", "c")])
    >>> is_ktco(path, 1), is_ktco(path, 2)
    (True, False)
    """
    found, _, _ = _tested(overlay, _checked("k", k), once=True)
    return bool((found >= np.minimum(k, overlay.interests.topic_sizes() - 1)).all())


def topic_connectivity(overlay: Overlay, max_k: int = 4) -> Ints:
    """How many brokers must fail to cut each topic apart, by dense topic id, counted up to ``max_k``.

    0 where the topic is apart now; a clique of n subscribers has n - 1, as usual, and a topic of one, which nothing can
    cut apart, has 1.

    >>> from algorithms import Interests
    >>> interests = Interests.from_mapping({"a": ["x", "y"], "b": ["x", "y"], "c": ["x"]})
    >>> topic_connectivity(Overlay.from_names(interests, [("a", "b"), ("b", "c"), ("a", "c")])).tolist()
    [2, 1]
    """
    found, _, _ = _tested(overlay, _checked("max_k", max_k), once=False)
    found[overlay.interests.topic_sizes() == 1] = 1
    return found


def _checked(field: str, k: object) -> int:
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise BadInput(field, k, "must be a whole number, at least 1")
    return min(int(k), np.iinfo(np.int32).max)


def _tested(overlay: Overlay, k: int, *, once: bool) -> tuple[Ints, Ints, Ints]:
    interests = overlay.interests
    graphs = TopicSubgraphs.of(overlay)
    work, flags, clock = scratch(int(interests.topic_sizes().max(initial=0)))
    found = np.zeros(len(interests.topics), np.int32)
    # A separator of a topic has fewer members than the topic, so it fits where the topic's subscribers stand.
    separators = np.empty(interests.subscriptions, np.int32)
    parted = np.zeros((len(interests.topics), 2), np.int32)
    _test_topics(
        k,
        once,
        interests.topic_start,
        graphs.starts,
        graphs.neighbours,
        work,
        flags,
        clock,
        found,
        separators,
        parted,
    )
    return found, separators, parted


@kernel
def _test_topics(
    k: int,
    once: bool,
    topic_start: Longs,
    starts: Longs,
    neighbours: Ints,
    work: Ints,
    flags: Flags,
    clock: Longs,
    found: Ints,
    separators: Ints,
    parted: Ints,
) -> None:
    """Test every topic for k, or for n - 1 where it has n <= k subscribers.

    ``found[t]``: that number, or the size of the separator in ``separators[topic_start[t]:]``; unless ``once``, the
    topic is tested again for that size until it holds, so ``found`` is its connectivity.
    """
    for t in range(len(topic_start) - 1):
        first = topic_start[t]
        size = topic_start[t + 1] - first
        wanted = min(k, size - 1)
        while wanted > 0:
            got = weak_spot(
                wanted,
                first,
                size,
                starts[:-1],
                starts[1:],
                neighbours,
                work,
                flags,
                clock,
                separators[first : first + size],
                parted[t],
            )
            found[t] = got
            if once or got == wanted:
                break
            wanted = got
