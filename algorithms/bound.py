"""A lower bound on the links of any topic-connected overlay: the certificate beside an overlay that was built.

Give every pair of brokers one unit and split it over the topics the two share, y[t][e] >= 0 with sum at most 1 for each
pair e. An overlay holds a spanning tree of every topic, and no link of it is paid for more than once; so it has at least

    sum over topics t of the weight of a minimum spanning tree of t under y[t]

links. The best split is found by projected subgradient: where a pair is in a topic's tree its share there is worth
raising, at the cost of its other shares. The bound starts from shares proportional to n_t^-p and holds at every step.

All shares are whole numbers out of ``UNIT``, so the sums are exact and rounding can never lift the bound too high. One
number for each two subscribers of each topic must fit into the memory. Where they do not, the largest topics are left
out, which weakens the bound and leaves it true: an overlay that connects all topics connects some of them.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from algorithms.errors import BadInput
from algorithms.interests import Interests, Ints, Longs
from algorithms.jit import kernel
from algorithms.progress import Progress, silent
from algorithms.workloads import Floats

Kind = Literal["lagrangian", "part of the topics", "spanning"]

UNIT = 1 << 28
_NEVER = (1 << 31) - 1
_FIRST_STEP, _LAST_STEP = 0.06, 0.0005
"""What a pair in a topic's tree is given there, as a share of the unit: falls geometrically until the time is up."""
_EXPONENTS = (0.5, 1.0, 1.5)
_ENOUGH = 2000
"""Iterations after which nothing worth waiting for is gained; tiny interests come here before their time is up."""


@dataclass(frozen=True)
class Bound:
    """No topic-connected overlay of the interests has fewer ``links``.

    >>> found = lower_bound(Interests.from_mapping({"a": ["x"], "b": ["x"], "c": ["x"]}))
    >>> found.links, found.gap(3)
    (2, 0.5)
    """

    links: int
    average_degree: float
    kind: Kind
    """``lagrangian``: over all topics; ``part of the topics``: over those that fit into the memory; ``spanning``: one
    link less than brokers in each group that shares topics, where that is more."""
    topics: int
    """How many topics the bound rests on, of those with two subscribers or more."""
    topics_left_out: int
    iterations: int
    seconds: float

    def gap(self, links: int) -> float:
        """By what share so many links can be above the fewest possible, at the most."""
        return links / self.links - 1 if self.links else 0.0

    def describe(self) -> dict[str, Any]:
        """This bound as plain JSON."""
        return asdict(self)


def lower_bound(
    interests: Interests,
    *,
    seconds: float = 10.0,
    memory_mb: int = 2048,
    iterations: int = _ENOUGH,
    progress: Progress = silent,
) -> Bound:
    """A number of links that every topic-connected overlay needs; more seconds give a higher one.

    An iteration takes time in the sum of n_t^2. The time is looked at between iterations, so the first one is always
    finished. Nothing is random; with ``iterations`` reached before the time is up, the result is always the same.

    >>> interests = Interests.from_mapping({"a": ["x", "y"], "b": ["y", "z"], "c": ["x", "z"]})
    >>> bound = lower_bound(interests)
    >>> bound.links, bound.kind
    (3, 'lagrangian')
    """
    if not 0 <= seconds < float("inf"):
        raise BadInput("seconds", seconds, "must be a number, at least 0")
    _compile()
    started = time.perf_counter()
    sizes = interests.topic_sizes()
    chosen, left_out = _that_fit(sizes, memory_mb)
    spanning = _spanning(interests)
    total, done = 0, 0
    if len(chosen):
        shares = _Shares(interests, chosen)
        total = shares.start(started + seconds)
        while done < iterations:
            spent = (time.perf_counter() - started) / seconds if seconds else 1.0
            share = min(max(spent, done / iterations), 1.0)
            progress(share, f"splitting pairs: at least {-(-total // UNIT):,} links")
            if spent >= 1:
                break
            shares.move(_FIRST_STEP * (_LAST_STEP / _FIRST_STEP) ** share)
            total = max(total, shares.trees())
            done += 1
    links = -(-total // UNIT)
    kind: Kind = "lagrangian" if not left_out else "part of the topics"
    return Bound(
        links=max(links, spanning),
        average_degree=2 * max(links, spanning) / max(len(interests.brokers), 1),
        kind="spanning" if spanning > links else kind,
        topics=len(chosen),
        topics_left_out=left_out,
        iterations=done,
        seconds=time.perf_counter() - started,
    )


@cache
def _compile() -> None:
    """Load the kernels before the clock starts, or the first bound of a process would spend its seconds on that."""
    shares = _Shares(
        Interests.from_mapping({"a": ["x", "y"], "b": ["x", "y"], "c": ["x"]}), np.arange(2, dtype=np.int32)
    )
    shares.start(float("inf"))
    shares.move(_FIRST_STEP)
    shares.trees()


def _that_fit(sizes: Longs, memory_mb: int) -> tuple[Ints, int]:
    """The topics whose shares fit into the memory, smallest first, in order; and how many do not fit."""
    wanted = np.flatnonzero(sizes > 1)
    by_size = wanted[np.argsort(sizes[wanted], kind="stable")]
    room = memory_mb * 1_000_000 // 4
    fits = int(np.searchsorted(np.cumsum(sizes[by_size] ** 2), room, side="right"))
    return np.sort(by_size[:fits]).astype(np.int32), len(wanted) - fits


def _spanning(interests: Interests) -> int:
    """Brokers less groups: whoever shares topics with whom, directly or not, is connected in any overlay."""
    parent = np.arange(len(interests.brokers), dtype=np.int32)
    return int(_join_members(interests.topic_start, interests.topic_brokers, parent))


class _Shares:
    """The shares of all pairs in the chosen topics, and their minimum spanning trees."""

    def __init__(self, interests: Interests, chosen: Ints) -> None:
        sizes = interests.topic_sizes()[chosen]
        kept = np.full(len(interests.topics), -1, np.int32)
        kept[chosen] = np.arange(len(chosen), dtype=np.int32)
        topics = kept[interests.broker_topics]
        owner = np.repeat(np.arange(len(interests.brokers)), interests.broker_sizes())[topics >= 0]
        self.brokers = len(interests.brokers)
        self.sizes = sizes
        self.broker_start = np.zeros(self.brokers + 1, np.int64)
        np.cumsum(np.bincount(owner, minlength=self.brokers), out=self.broker_start[1:])
        self.broker_topics = topics[topics >= 0]
        self.topic_start = np.zeros(len(chosen) + 1, np.int64)
        np.cumsum(sizes, out=self.topic_start[1:])
        self.corner = np.zeros(len(chosen) + 1, np.int64)
        np.cumsum(sizes**2, out=self.corner[1:])
        self.topic_brokers, self.place = _members(self.broker_start, self.broker_topics, self.topic_start)
        self.share = np.empty(int(self.corner[-1]), np.int32)
        self.scratch = np.empty((3, int(sizes.max())), np.int32)
        edges = int((sizes - 1).sum())
        self.pair = np.empty(edges, np.int64)
        self.topic = np.empty(edges, np.int32)
        most = int(np.diff(self.broker_start).max())
        self.cells = np.empty((2, most), np.int64)
        self.values = np.empty(most, np.int64)

    def start(self, deadline: float) -> int:
        """Shares proportional to n_t^-p for the p that gives the highest bound; returns that bound times UNIT."""
        best, best_p = -1, _EXPONENTS[0]
        for p in _EXPONENTS:
            total = self._split(p)
            if total > best:
                best, best_p = total, p
            if time.perf_counter() > deadline:
                break
        if p != best_p:
            self._split(best_p)
        return best

    def _split(self, p: float) -> int:
        _split(
            self.broker_start,
            self.broker_topics,
            self.topic_start,
            self.topic_brokers,
            self.place,
            self.corner,
            self.sizes.astype(np.float64) ** -p,
            self.share,
        )
        return self.trees()

    def trees(self) -> int:
        """The weight of all trees, out of UNIT; the trees are kept for the next move."""
        return int(
            _trees(
                self.brokers,
                self.topic_start,
                self.topic_brokers,
                self.corner,
                self.share,
                self.scratch,
                self.pair,
                self.topic,
            )
        )

    def move(self, step: float) -> None:
        """Raise the shares of pairs in trees, lower the others of those pairs so that each pair stays within its unit."""
        _move(
            np.argsort(self.pair, kind="stable"),
            self.pair,
            self.topic,
            self.brokers,
            round(step * UNIT),
            self.broker_start,
            self.broker_topics,
            self.topic_start,
            self.place,
            self.corner,
            self.share,
            self.cells,
            self.values,
        )


@kernel
def _join_members(topic_start: Longs, topic_brokers: Ints, parent: Ints) -> int:
    """Union-find of brokers over shared topics; returns the number of unions."""
    joined = 0
    for t in range(len(topic_start) - 1):
        for at in range(topic_start[t] + 1, topic_start[t + 1]):
            a, b = topic_brokers[at - 1], topic_brokers[at]
            while parent[a] != a:
                parent[a] = parent[parent[a]]
                a = parent[a]
            while parent[b] != b:
                parent[b] = parent[parent[b]]
                b = parent[b]
            if a != b:
                parent[max(a, b)] = min(a, b)
                joined += 1
    return joined


@kernel
def _members(broker_start: Longs, broker_topics: Ints, topic_start: Longs) -> tuple[Ints, Ints]:
    """The subscribers of each topic, and for each subscription its place among them."""
    fill = topic_start[:-1].copy()
    member = np.empty(len(broker_topics), np.int32)
    place = np.empty(len(broker_topics), np.int32)
    for v in range(len(broker_start) - 1):
        for i in range(broker_start[v], broker_start[v + 1]):
            t = broker_topics[i]
            member[fill[t]] = v
            place[i] = fill[t] - topic_start[t]
            fill[t] += 1
    return member, place


@kernel
def _split(
    broker_start: Longs,
    broker_topics: Ints,
    topic_start: Longs,
    topic_brokers: Ints,
    place: Ints,
    corner: Longs,
    weight: Floats,
    share: Ints,
) -> None:
    """Split every pair's unit over its common topics by their weights, rounded down.

    ``share[corner[t] + i * n_t + j]`` is what the i-th and the j-th subscriber of topic t are given there, both ways.
    """
    brokers = len(broker_start) - 1
    whole = np.zeros(brokers)
    for v in range(brokers):
        for i in range(broker_start[v], broker_start[v + 1]):
            t = broker_topics[i]
            for at in range(topic_start[t], topic_start[t + 1]):
                whole[topic_brokers[at]] += weight[t]
        for i in range(broker_start[v], broker_start[v + 1]):
            t = broker_topics[i]
            size = topic_start[t + 1] - topic_start[t]
            row = corner[t] + place[i] * size
            for j in range(size):
                share[row + j] = np.int32(UNIT * (weight[t] / whole[topic_brokers[topic_start[t] + j]]))
        for i in range(broker_start[v], broker_start[v + 1]):
            t = broker_topics[i]
            for at in range(topic_start[t], topic_start[t + 1]):
                whole[topic_brokers[at]] = 0.0


@kernel
def _trees(
    brokers: int,
    topic_start: Longs,
    topic_brokers: Ints,
    corner: Longs,
    share: Ints,
    scratch: Ints,
    pair: Longs,
    topic: Ints,
) -> int:
    """A minimum spanning tree of every topic by Prim's algorithm on the full matrix; returns their weight.

    ``pair`` and ``topic`` get the edges: v * brokers + w for v < w, topics ascending. ``scratch``: for each subscriber
    outside the tree its lightest edge into it, whether it is in (all bits set, so that no edge to it is light), and the
    other end of the edge.
    """
    lightest, closed, other = scratch[0], scratch[1], scratch[2]
    weight = 0
    edge = 0
    for t in range(len(topic_start) - 1):
        first = topic_start[t]
        size = topic_start[t + 1] - first
        lightest[:size] = _NEVER
        closed[:size] = 0
        u = 0
        for _ in range(size - 1):
            closed[u] = _NEVER
            lightest[u] = _NEVER
            row = share[corner[t] + u * size : corner[t] + (u + 1) * size]
            best = _NEVER
            # Without branches, so that the compiler makes vector code of it.
            for j in range(size):
                here = row[j] | closed[j]
                before = lightest[j]
                if here < before:
                    other[j] = u
                now = min(here, before)
                lightest[j] = now
                best = min(best, now)
            u = 0
            while lightest[u] != best:
                u += 1
            weight += best
            v, w = topic_brokers[first + u], topic_brokers[first + other[u]]
            pair[edge] = np.int64(min(v, w)) * brokers + max(v, w)
            topic[edge] = t
            edge += 1
    return weight


@kernel
def _move(
    order: Longs,
    pair: Longs,
    topic: Ints,
    brokers: int,
    step: int,
    broker_start: Longs,
    broker_topics: Ints,
    topic_start: Longs,
    place: Ints,
    corner: Longs,
    share: Ints,
    cells: Longs,
    values: Longs,
) -> None:
    """One step of the subgradient for every pair in a tree, then its projection onto shares that sum to UNIT at most.

    ``order`` sorts the edges by pair and keeps topics ascending; ``cells`` and ``values`` are scratch: where a pair's
    shares stand, both ways, and what they are.
    """
    at = 0
    while at < len(order):
        both = pair[order[at]]
        v, w = both // brokers, both % brokers
        i, j = broker_start[v], broker_start[w]
        common = 0
        excess = -UNIT
        while i < broker_start[v + 1] and j < broker_start[w + 1]:
            t = broker_topics[i]
            if t < broker_topics[j]:
                i += 1
            elif t > broker_topics[j]:
                j += 1
            else:
                size = topic_start[t + 1] - topic_start[t]
                cells[0, common] = corner[t] + place[i] * size + place[j]
                cells[1, common] = corner[t] + place[j] * size + place[i]
                values[common] = share[cells[0, common]]
                if at < len(order) and pair[order[at]] == both and topic[order[at]] == t:
                    values[common] += step
                    at += 1
                excess += values[common]
                common += 1
                i += 1
                j += 1
        while excess > 0:
            positive = 0
            for n in range(common):
                positive += values[n] > 0
            even = (excess + positive - 1) // positive
            for n in range(common):
                less = min(even, values[n])
                values[n] -= less
                excess -= less
        for n in range(common):
            share[cells[0, n]] = values[n]
            share[cells[1, n]] = values[n]
