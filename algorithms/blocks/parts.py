"""Bulk GM2: 2-connect parts of the brokers apart from each other, then join them through a few stars of each.

The stars of a part hold each of its topics that another part has too twice (or wholly, where the part has one
subscriber): whichever broker fails, a star is left in every part that had two, and all others of the part reach it.
Within a part a topic is one block, so for the links across it is enough to know the stars: those of a part and topic
are in one block from the start. With every pair of stars of different parts linked, any one failure leaves the topic
connected; so while a topic is not one block, some pair of stars still contributes, and the end is a 2TCO.

The three functions are what the tasks of a distributed build run: one a part, one to pick a part's stars, one across.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from algorithms.blocks.loop import biconnect
from algorithms.blocks.weights import BlockWeights
from algorithms.engine import Limits, Rows, Ties
from algorithms.engine.entries import append
from algorithms.interests import Interests, Ints, Longs
from algorithms.jit import kernel
from algorithms.progress import Progress, part_of, silent


@dataclass(frozen=True)
class Biconnected:
    """Links inside and across parts, and the stars, all by dense broker id."""

    inner: Ints
    stars: Ints
    outer: Ints

    @property
    def links(self) -> Ints:
        """All links."""
        return np.concatenate([self.inner, self.outer])


def biconnect_parts(
    interests: Interests,
    part: Ints,
    *,
    ties: Ties = "degree",
    seed: int = 0,
    limits: Limits | None = None,
    progress: Progress = silent,
    weights: BlockWeights | None = None,
) -> Biconnected:
    """GM2 inside each part, then across; one part is GM2, and so are as many parts as brokers.

    ``weights``: score pairs, do not count, inside and across.
    """
    parts = int(part.max(initial=-1)) + 1
    inner = [np.empty((0, 2), np.int32)]
    for p in range(parts):
        brokers = np.flatnonzero(part == p).astype(np.int32)
        report = part_of(progress, 0.8 * p / parts, 0.8 * (p + 1) / parts)
        inner.append(
            biconnect_part(
                interests, brokers, ties=ties, seed=seed, limits=limits, progress=report, weights=weights
            )
        )
    links = np.concatenate(inner)
    stars = double_stars(interests, part)
    degrees = np.bincount(links.ravel(), minlength=len(interests.brokers)).astype(np.int32)
    outer = join_parts(
        interests,
        part,
        stars,
        degrees=degrees,
        ties=ties,
        seed=seed,
        limits=limits,
        progress=part_of(progress, 0.8, 1.0),
        weights=weights,
    )
    return Biconnected(links, stars, outer)


def biconnect_part(
    interests: Interests,
    brokers: Ints,
    *,
    ties: Ties = "degree",
    seed: int = 0,
    limits: Limits | None = None,
    progress: Progress = silent,
    weights: BlockWeights | None = None,
) -> Ints:
    """GM2 among some brokers: links by dense broker id."""
    rows = Rows.of(interests, brokers)
    links: Ints = brokers[
        biconnect(rows, ties=ties, seed=seed, limits=limits, progress=progress, weights=weights).links
    ]
    return links


def join_parts(
    interests: Interests,
    part: Ints,
    stars: Ints,
    *,
    degrees: Ints,
    ties: Ties = "degree",
    seed: int = 0,
    limits: Limits | None = None,
    progress: Progress = silent,
    weights: BlockWeights | None = None,
) -> Ints:
    """GM2 over pairs of stars of different parts; nothing but the stars' rows is looked at.

    ``degrees``: the links each broker has inside its part.
    """
    rows = Rows.of(interests, stars)
    links: Ints = stars[
        biconnect(
            rows,
            ties=ties,
            seed=seed,
            limits=limits,
            progress=progress,
            group=part[stars],
            degrees=degrees[stars],
            weights=weights,
        ).links
    ]
    return links


def double_stars(interests: Interests, part: Ints) -> Ints:
    """The stars of all parts, ascending: greedily those who hold most topics that lack stars, in each part.

    A topic that only one part has needs none.
    """
    sizes = interests.topic_sizes()
    topic_of_place = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
    parts = int(part.max(initial=-1)) + 1
    # How many subscribers each topic has in each part, as one table per (part, topic) pair that occurs.
    pairs, held = np.unique(
        part[interests.topic_brokers] * np.int64(len(sizes)) + topic_of_place, return_counts=True
    )
    shared = np.bincount(pairs % max(len(sizes), 1), minlength=len(sizes)) > 1
    wanted = np.where(shared[pairs % max(len(sizes), 1)], np.minimum(held, 2), 0).astype(np.int32)
    broker_of_slot = np.repeat(np.arange(len(interests.brokers)), interests.broker_sizes())
    pair_of_slot = np.searchsorted(
        pairs, part[broker_of_slot] * np.int64(len(sizes)) + interests.broker_topics
    ).astype(np.int64)
    order = np.argsort(part, kind="stable").astype(np.int32)
    bounds = np.searchsorted(part[order], np.arange(parts + 1)).astype(np.int64)
    taken = _cover_twice(order, bounds, interests.broker_start.copy(), pair_of_slot, wanted)
    return np.flatnonzero(taken).astype(np.int32)


@kernel
def _cover_twice(order: Ints, bounds: Longs, broker_start: Longs, pair_of_slot: Longs, wanted: Ints) -> Ints:
    """Greedy cover in each part, lazily: the number of topics that still want a broker never grows.

    ``pair_of_slot``: the (part, topic) of each subscription, ``wanted``: how many stars that one still wants.
    """
    brokers = len(order)
    taken = np.zeros(brokers, np.int32)
    widest = 0
    for v in range(brokers):
        widest = max(widest, broker_start[v + 1] - broker_start[v])
    head = np.full(widest + 1, -1, np.int32)
    tail = np.full(widest + 1, -1, np.int32)
    following = np.empty(brokers, np.int32)
    for p in range(len(bounds) - 1):
        for at in range(bounds[p], bounds[p + 1]):
            v = order[at]
            append(v, broker_start[v + 1] - broker_start[v], head, tail, following)
        for level in range(widest, 0, -1):
            while head[level] >= 0:
                v = head[level]
                head[level] = following[v]
                count = 0
                for slot in range(broker_start[v], broker_start[v + 1]):
                    count += wanted[pair_of_slot[slot]] > 0
                if count < level:
                    append(v, count, head, tail, following)
                    continue
                taken[v] = 1
                for slot in range(broker_start[v], broker_start[v + 1]):
                    wanted[pair_of_slot[slot]] -= 1
        head[0] = -1
    return taken
