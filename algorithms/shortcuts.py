"""Shortcuts: links beyond need that bring the subscribers of topics nearer to each other.

Few links make long paths. A link between two brokers with many topics in common shortens all of these at once, so the
unlinked pairs with the largest overlap come first; to spread them, a broker gets two at the most, and none that takes
its degree past the overlay's mean by more than three.
"""

from __future__ import annotations

import math

import numpy as np

from algorithms.engine import Limits
from algorithms.engine.band import Pass
from algorithms.engine.run import Run
from algorithms.interests import Interests, Ints
from algorithms.jit import kernel
from algorithms.progress import Progress, silent
from algorithms.registry import Parameter

SHORTCUTS = Parameter(
    "shortcuts",
    float,
    0.0,
    "spend up to that share of the links saved against GM on links that shorten topics",
    minimum=0,
    maximum=1,
)
A_BROKER = 2
ABOVE_MEAN = 3
_PAIRS_A_SHORTCUT = 256
"""How many of the best pairs are looked at for each shortcut wanted; most are ruled out by the limits of a broker."""
_ANY_WIDTH = 1e9
"""Take the room for all of those pairs before a level is dropped."""


def shortcuts(
    interests: Interests,
    links: Ints,
    most: int,
    *,
    limits: Limits | None = None,
    progress: Progress = silent,
) -> Ints:
    """At most so many links to add to an overlay, none of them there yet.

    >>> interests = Interests.from_mapping({name: ["x", "y"] for name in "abc"})
    >>> shortcuts(interests, np.array([[0, 1], [1, 2]], np.int32), 1).tolist()
    [[0, 2]]
    """
    if most <= 0 or not len(links):
        return np.empty((0, 2), np.int32)
    room = (limits or Limits()).most_entries
    run = Run(
        interests,
        seed=0,
        limits=Limits(entries=min(room, _PAIRS_A_SHORTCUT * most)),
        report=progress,
        barred=links,
    )
    if not len(run.components.broker):
        return np.empty((0, 2), np.int32)
    # Nothing is joined in this run, so a pair's contribution is its overlap.
    overlaps = Pass(run, int(run.components.row_start[1]), width=_ANY_WIDTH)
    broker = run.components.broker
    degree = np.bincount(links.ravel(), minlength=len(interests.brokers)).astype(np.int32)
    highest = math.floor(2 * len(links) / len(interests.brokers)) + ABOVE_MEAN
    found = overlaps.next_band()
    chosen = np.empty((most, 2), np.int32)
    count = _choose(
        found.first, found.second, found.following, found.head, found.highest, broker, degree, highest, chosen
    )
    return chosen[:count]


@kernel
def _choose(
    first: Ints,
    second: Ints,
    following: Ints,
    head: Ints,
    level: int,
    broker: Ints,
    degree: Ints,
    highest: int,
    chosen: Ints,
) -> int:
    """Take pairs by falling overlap while brokers have room; returns how many.

    ``head[overlap]`` starts the chain of pairs, by ``following``, of rows ``first`` and ``second``.
    """
    taken = np.zeros(len(degree), np.int32)
    count = 0
    while level > 1 and count < len(chosen):
        entry = head[level]
        while entry >= 0 and count < len(chosen):
            v, w = broker[first[entry]], broker[second[entry]]
            if max(degree[v], degree[w]) < highest and max(taken[v], taken[w]) < A_BROKER:
                chosen[count, 0] = min(v, w)
                chosen[count, 1] = max(v, w)
                count += 1
                for end in (v, w):
                    degree[end] += 1
                    taken[end] += 1
            entry = following[entry]
        level -= 1
    return count
