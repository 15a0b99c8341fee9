"""Drift: how far the live degree has moved above what a fresh build would give, and whether a rebuild is due.

Repairs keep every topic connected, but each is chosen locally, so the number of links creeps up. A fresh build of all
brokers tells by how much exactly; for many brokers that is too slow to ask often, so it is estimated: random samples of
the brokers, each twice as large as the one before and containing it, are built, and the logarithm of their average
degree is carried on in a straight line over the logarithm of their size.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from algorithms.errors import BadInput
from algorithms.interests import Interests
from algorithms.order import id_hashes, random_ranks
from algorithms.overlay import Overlay
from algorithms.progress import Progress, silent
from algorithms.registry import algorithms, build, find_algorithm

THRESHOLD = 0.3
SAMPLE = 2000
_SMALLEST_SAMPLE = 64


@dataclass(frozen=True)
class Drift:
    """The live degree beside that of a fresh build.

    >>> found = Drift("gm", live_degree=6.0, fresh_degree=4.0, sampled=2000, exact=False, threshold=0.3)
    >>> found.share, found.rebuild_due, found.describe()["sampled"]
    (0.5, True, 2000)
    """

    algorithm: str
    live_degree: float
    fresh_degree: float
    sampled: int
    """How many brokers were built to tell; all of them where the answer is exact."""
    exact: bool
    threshold: float

    @property
    def share(self) -> float:
        """By which share the live degree is above the fresh one."""
        return self.live_degree / self.fresh_degree - 1 if self.fresh_degree else 0.0

    @property
    def rebuild_due(self) -> bool:
        """Whether the threshold is passed: time for a rebuild."""
        return self.share > self.threshold

    def describe(self) -> dict[str, Any]:
        """This figure as plain JSON."""
        return {**asdict(self), "share": self.share, "rebuild_due": self.rebuild_due}


def fresh_algorithm(k: int = 1) -> str:
    """The algorithm a fresh overlay is built by: low degrees where the registry has them.

    >>> fresh_algorithm(), fresh_algorithm(2)
    ('low-oda', 'gm2')
    """
    known = {algorithm.name for algorithm in algorithms()}
    return next(name for name in (("low-oda", "gm") if k == 1 else ("gm2",)) if name in known)


def drift(
    overlay: Overlay,
    *,
    k: int = 1,
    algorithm: str | None = None,
    sample: int = SAMPLE,
    threshold: float = THRESHOLD,
    seed: int = 0,
    progress: Progress = silent,
) -> Drift:
    """How far an overlay's degree is above a fresh build's; exact when it has at most ``sample`` brokers.

    ``algorithm``: what builds it; one that takes k is told it, another must promise it.

    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x"], "c": ["x"]})
    >>> found = drift(Overlay.from_names(interests, [("a", "b"), ("b", "c"), ("a", "c")]))
    >>> found.share, found.exact, found.rebuild_due
    (0.5, True, True)
    """
    if isinstance(sample, bool) or not isinstance(sample, int) or sample < _SMALLEST_SAMPLE:
        raise BadInput("sample", sample, f"must be a whole number, at least {_SMALLEST_SAMPLE}")
    name = algorithm or fresh_algorithm(k)
    asked = find_algorithm(name).asked_for(k)

    def fresh_degree(interests: Interests) -> float:
        return build(name, interests, seed=seed, progress=progress, **asked).average_degree

    brokers = len(overlay.interests.brokers)
    if brokers <= sample:
        fresh = fresh_degree(overlay.interests)
        return Drift(name, overlay.average_degree, fresh, brokers, True, threshold)
    rank = random_ranks(id_hashes(overlay.interests.brokers), seed)
    sizes = [sample // 4, sample // 2, sample]
    degrees = [fresh_degree(_only(overlay.interests, rank < size)) for size in sizes]
    return Drift(name, overlay.average_degree, _carried_on(sizes, degrees, brokers), sample, False, threshold)


def _carried_on(sizes: list[int], degrees: list[float], to: int) -> float:
    if min(degrees) <= 0:
        return degrees[-1]
    slope = np.polyfit(np.log(sizes), np.log(degrees), 1)[0]
    # A larger population offers better partners, never worse: where the samples say otherwise they are too small to tell.
    return float(degrees[-1] * (to / sizes[-1]) ** min(slope, 0.0))


def _only(interests: Interests, included: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Interests:
    """The interests of some brokers alone; topics nobody of them has are kept out."""
    broker = np.repeat(np.arange(len(interests.brokers)), interests.broker_sizes())
    rows = included[broker]
    rank = np.cumsum(included) - 1
    topics, topic = np.unique(interests.broker_topics[rows], return_inverse=True)
    return Interests.from_dense(
        [interests.brokers[v] for v in np.flatnonzero(included)],
        [interests.topics[t] for t in topics],
        rank[broker[rows]].astype(np.int32),
        topic.astype(np.int32),
    )
