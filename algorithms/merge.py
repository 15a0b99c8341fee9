"""Naive Merge, Star Merge and the join of overlays: one topic-connected overlay from several, all links kept.

Parts that are topic-connected in themselves are components from the start, so pairs inside a part contribute nothing
and the engine links across parts only (dc, Algorithms 3-5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from algorithms.engine import Limits, Rows, Ties, connect_largest
from algorithms.engine.weighted import connect_weighted
from algorithms.engine.weights import Weights
from algorithms.errors import BadInput
from algorithms.interests import Interests, Ints
from algorithms.overlay import Overlay
from algorithms.progress import Progress, silent
from algorithms.star_sets import star_sets


@dataclass(frozen=True)
class Merged:
    """Links across parts, in the order they were accepted, and the stars (all brokers, for Naive Merge).

    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x", "y"], "c": ["x", "y"], "d": ["y"]})
    >>> part = np.array([0, 0, 1, 1], np.int32)  # a and b, c and d
    >>> found = Merged(part, stars=np.array([1, 2], np.int32), outer=np.array([[1, 2]], np.int32))
    >>> [interests.brokers[star] for star in found.stars], found.outer.tolist()
    (['b', 'c'], [[1, 2]])
    """

    part: Ints
    stars: Ints
    outer: Ints


def naive_merge(
    interests: Interests,
    part: Ints,
    *,
    ties: Ties = "degree",
    degrees: Ints | None = None,
    seed: int = 0,
    limits: Limits | None = None,
    progress: Progress = silent,
) -> Merged:
    """Join topic-connected parts by the best links among all pairs across parts (dc, Algorithm 3).

    ``part`` and ``degrees`` are those of :func:`star_merge`.

    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x", "y"], "c": ["x", "y"], "d": ["y"]})
    >>> part = np.array([0, 0, 1, 1], np.int32)  # a and b, c and d
    >>> naive_merge(interests, part).outer.tolist()
    [[1, 2]]
    """
    everyone = np.arange(len(interests.brokers), dtype=np.int32)
    return _across(interests, part, everyone, ties, None, degrees, seed, limits, progress)


def star_merge(
    interests: Interests,
    part: Ints,
    *,
    ties: Ties = "degree",
    weights: Weights | None = None,
    degrees: Ints | None = None,
    seed: int = 0,
    limits: Limits | None = None,
    progress: Progress = silent,
) -> Merged:
    """Join topic-connected parts by the best links among pairs of stars (dc, Algorithm 5).

    ``part`` is a number for each broker, ``degrees`` the links each has inside its part, by which ties are broken.
    With ``weights`` the best link is the one of the largest weighted score, topics weighed by all their subscribers.

    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x", "y"], "c": ["x", "y"], "d": ["y"]})
    >>> part = np.array([0, 0, 1, 1], np.int32)  # a and b, c and d
    >>> found = star_merge(interests, part)
    >>> found.stars.tolist(), found.outer.tolist()
    ([1, 2], [[1, 2]])
    """
    stars = star_sets(interests, part)
    return _across(interests, part, stars, ties, weights, degrees, seed, limits, progress)


def join_overlays(overlays: Sequence[Overlay], *, seed: int = 0, progress: Progress = silent) -> Overlay:
    """One topic-connected overlay from running ones that share no broker; no link is torn down (dc, Definition 2).

    >>> one = Overlay.from_names(Interests.from_mapping({"a": ["x"], "b": ["x", "y"]}), [("a", "b")])
    >>> other = Overlay.from_names(Interests.from_mapping({"c": ["x", "y"], "d": ["y"]}), [("c", "d")])
    >>> joined = join_overlays([one, other])
    >>> joined.link_names(), joined.is_tco()
    ([('a', 'b'), ('b', 'c'), ('c', 'd')], True)
    """
    topics_by_broker: dict[str, list[str]] = {}
    part_of: dict[str, int] = {}
    for number, overlay in enumerate(overlays):
        apart = overlay.topics_apart()
        if apart:
            raise BadInput("overlays", apart[0], f"overlay {number} is not topic-connected in this topic")
        for broker in overlay.interests.brokers:
            if broker in part_of:
                raise BadInput("overlays", broker, "this broker is in two of the overlays")
            part_of[broker] = number
            topics_by_broker[broker] = overlay.interests.topics_of(broker)
    interests = Interests.from_mapping(topics_by_broker)
    inner = Overlay.from_names(interests, [link for overlay in overlays for link in overlay.link_names()])
    merged = star_merge(
        interests,
        np.array([part_of[broker] for broker in interests.brokers], np.int32),
        degrees=inner.degrees().astype(np.int32),
        seed=seed,
        progress=progress,
    )
    return Overlay.from_links(interests, np.concatenate([inner.links, merged.outer]))


def _across(
    interests: Interests,
    part: Ints,
    brokers: Ints,
    ties: Ties,
    weights: Weights | None,
    degrees: Ints | None,
    seed: int,
    limits: Limits | None,
    progress: Progress,
) -> Merged:
    rows = Rows.of(interests, brokers)
    group = np.repeat(part[brokers].astype(np.int32), np.diff(rows.broker_start))
    before = None if degrees is None else degrees[brokers]
    if weights is None:
        accepted = connect_largest(
            rows, ties=ties, seed=seed, limits=limits, progress=progress, group=group, degrees=before
        )
    else:
        accepted = connect_weighted(
            rows,
            weights,
            seed=seed,
            limits=limits,
            progress=progress,
            group=group,
            degrees=before,
            topic_sizes=interests.topic_sizes(),
        )
    return Merged(part, brokers, brokers[accepted.links])
