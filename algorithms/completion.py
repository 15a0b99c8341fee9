"""Completion: the links that an overlay lacks to be a (k)TCO; none of those it has is touched.

The topics that are apart are connected by the engine's weighted score, seeded with the components they have; then k-connectivity is
restored across the separators that are left. A topology that exists already is adopted like this, and a rebuild's
links are fitted to interests that changed meanwhile.
"""

from __future__ import annotations

import numpy as np

from algorithms.components import component_counts, component_numbers
from algorithms.cover.restore import restore
from algorithms.engine import Limits, Rows
from algorithms.engine.weighted import connect_weighted
from algorithms.engine.weights import Weights
from algorithms.errors import BadInput
from algorithms.interests import Ints
from algorithms.overlay import Overlay
from algorithms.progress import Progress, part_of, silent


def missing_links(
    overlay: Overlay,
    k: int = 1,
    *,
    seed: int = 0,
    limits: Limits | None = None,
    progress: Progress = silent,
) -> Ints:
    """The links to add, as dense ids in the order they were chosen; empty where the overlay is a kTCO already.

    >>> from algorithms import Interests
    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x"], "c": ["x", "y"], "d": ["y"]})
    >>> len(missing_links(Overlay.from_names(interests, [("a", "b"), ("c", "d")])))
    1
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise BadInput("k", k, "must be a whole number, at least 1")
    interests = overlay.interests
    added = _connected(overlay, seed, limits, part_of(progress, 0.0, 1.0 if k == 1 else 0.5))
    if k > 1:
        links = np.sort(np.concatenate([overlay.links, added]).astype(np.int32), axis=1)
        added = np.concatenate([added, restore(interests, links, k, progress=part_of(progress, 0.5, 1.0))])
    return added.astype(np.int32).reshape(-1, 2)


def completed(overlay: Overlay, k: int = 1, *, seed: int = 0, progress: Progress = silent) -> Overlay:
    """The overlay with the links it lacked.

    >>> from algorithms import Interests
    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x"], "c": ["x"]})
    >>> completed(Overlay.from_names(interests, []), k=2).is_ktco(2)
    True
    """
    added = missing_links(overlay, k, seed=seed, progress=progress)
    return Overlay.from_links(overlay.interests, np.concatenate([overlay.links, added]))


def _connected(overlay: Overlay, seed: int, limits: Limits | None, progress: Progress) -> Ints:
    interests = overlay.interests
    apart = component_counts(interests, overlay.links) > 1
    if not apart.any():
        return np.empty((0, 2), np.int32)
    at_stake = apart[interests.broker_topics]
    start = np.zeros(len(interests.brokers) + 1, np.int64)
    broker = np.repeat(np.arange(len(interests.brokers)), interests.broker_sizes())
    np.cumsum(np.bincount(broker[at_stake], minlength=len(interests.brokers)), out=start[1:])
    _, group = np.unique(component_numbers(interests, overlay.links)[at_stake], return_inverse=True)
    rows = Rows(start, interests.broker_topics[at_stake], len(interests.topics))
    return connect_weighted(
        rows,
        Weights(),
        seed=seed,
        limits=limits,
        group=group.astype(np.int32),
        degrees=overlay.degrees().astype(np.int32),
        progress=progress,
    ).links
