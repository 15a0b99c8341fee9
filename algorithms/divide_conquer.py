"""DC, divide and conquer: GM inside parts, Star Merge across them (dc, Algorithm 7).

Parts come from a seeded hash of the broker's id, so every engine divides alike; or from clustering, which puts brokers
of similar interests together (dc VI-A). Parts are conquered on all cores; the links do not depend on how many.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from threading import Event

import numpy as np
from numpy.typing import NDArray

from algorithms.engine import Limits, Rows, Ties, connect_largest
from algorithms.engine.weighted import connect_weighted
from algorithms.engine.weights import Weights
from algorithms.errors import BadInput, Cancelled
from algorithms.gm import TIES
from algorithms.interests import Interests, Ints
from algorithms.merge import star_merge
from algorithms.order import id_hashes, random_parts, random_ranks, seeded
from algorithms.progress import Progress, part_of, silent
from algorithms.registry import MEMORY, Parameter, Value, algorithm
from algorithms.star_sets import star_sets

PARTS = Parameter(
    "parts",
    int,
    "auto",
    "how many parts; auto weighs the work inside against that across",
    minimum=1,
    words=("auto",),
)
DIVIDE = Parameter(
    "divide",
    str,
    "random",
    "parts at random, or of brokers with similar interests",
    words=("random", "cluster"),
)
SCORE = Parameter(
    "score",
    str,
    "contribution",
    "the link that joins most topics, or the one weave would take, inside parts and across",
    words=("contribution", "weave"),
)
SIGNATURE = 4
"""Hashes a broker's interests are summed up by for clustering."""

POLL_SECONDS = 0.25
"""How often the caller is told, and may cancel, while one part takes long."""

SMALLEST_PART = 5_000
"""Brokers a part at the least, where the number of parts is ours to choose. The paper divides the work of an eager GM,
quadratic in a part's brokers; a lazy one gains little by smaller parts, and they cost links. 50,000 brokers, 1,000
topics, 20 subscriptions: 64 parts 1.5 s and 78% above GM, 8 parts 1.7 s and 27% (processor time)."""

SAMPLED_PARTS = 3
"""Parts whose star sets are looked at for each number of parts tried."""


@dataclass(frozen=True)
class Divided:
    """What DC built: the part of each broker, the stars, links inside parts and across them.

    >>> from algorithms import Overlay
    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x", "y"], "c": ["x", "y"], "d": ["y"]})
    >>> part = np.array([0, 0, 1, 1], np.int32)  # a and b, c and d
    >>> stars, inner = np.array([1, 2], np.int32), np.array([[0, 1], [2, 3]], np.int32)
    >>> built = Divided(part, stars, inner, outer=np.array([[1, 2]], np.int32))
    >>> Overlay.from_links(interests, built.links).is_tco()
    True
    >>> built.part_sizes.tolist(), built.star_set_sizes.tolist(), built.pn_ratio
    ([2, 2], [1, 1], 0.5)
    """

    part: Ints
    stars: Ints
    inner: Ints
    outer: Ints

    @property
    def links(self) -> Ints:
        """All links, the inner ones first."""
        return np.concatenate([self.inner, self.outer])

    @cached_property
    def part_sizes(self) -> NDArray[np.int64]:
        """Brokers in each part."""
        return np.bincount(self.part)

    @cached_property
    def star_set_sizes(self) -> NDArray[np.int64]:
        """Stars in each part."""
        return np.bincount(self.part[self.stars], minlength=len(self.part_sizes))

    @property
    def pn_ratio(self) -> float:
        """The largest share of all brokers that one broker may become a neighbour of (dc VII)."""
        if not len(self.part):
            return 0.0
        known = self.part_sizes - 1 + (self.star_set_sizes > 0) * (len(self.stars) - self.star_set_sizes)
        return float(known.max() / len(self.part))


def _check(values: Mapping[str, Value], brokers: int | None) -> None:
    if values["score"] == "weave" and values["ties"] != "degree":
        raise BadInput(
            "ties", values["ties"], "is a choice of the score contribution; weave takes low degrees first"
        )
    if values["parts"] != "auto" and brokers is not None:
        _check_parts(values["parts"], brokers)


def _check_parts(parts: Value, brokers: int) -> int:
    if not isinstance(parts, int) or parts < 1 or parts > max(brokers, 1):
        raise BadInput("parts", parts, f"must be auto, or from 1 to the number of brokers, {brokers}")
    return parts


@algorithm(
    "dc",
    summary="Divide and conquer: greedy merge inside parts, then across their star sets",
    guarantee="topic-connected; links at most p times a logarithmic factor above the fewest possible",
    paper="Chen, Jacobsen and Vitenberg 2010, Algorithms 3-7 (star-merge-divide-and-conquer)",
    parameters=(PARTS, DIVIDE, SCORE, TIES, MEMORY),
    check=_check,
)
def divide_and_conquer(
    interests: Interests,
    *,
    seed: int,
    progress: Progress,
    parts: int | str = "auto",
    divide: str = "random",
    score: str = "contribution",
    ties: Ties = "degree",
    memory_mb: int = 2048,
) -> NDArray[np.int32]:
    """The links of :func:`conquer_parts` for parts divided as asked; what ``build("dc", ...)`` calls.

    >>> from algorithms import Overlay
    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x", "y"], "c": ["x", "y"], "d": ["y"]})
    >>> links = divide_and_conquer(interests, seed=0, progress=silent, parts=2)
    >>> Overlay.from_links(interests, links).is_tco()
    True
    """
    part = divide_brokers(interests, parts, divide, seed)
    return conquer_parts(
        interests, part, seed=seed, score=score, ties=ties, memory_mb=memory_mb, progress=progress
    ).links


def conquer_parts(
    interests: Interests,
    part: Ints,
    *,
    seed: int = 0,
    score: str = "contribution",
    ties: Ties = "degree",
    memory_mb: int = 2048,
    threads: int | None = None,
    progress: Progress = silent,
) -> Divided:
    """GM inside each part, Star Merge across; one part is GM, as many parts as brokers is GM again.

    With the score of weave, weave inside by each part's own topic sizes, and across by those of all brokers.

    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x", "y"], "c": ["x", "y"], "d": ["y"]})
    >>> built = conquer_parts(interests, np.array([0, 0, 1, 1], np.int32))
    >>> built.inner.tolist(), built.outer.tolist()
    ([[0, 1], [2, 3]], [[1, 2]])
    """
    inner = list(
        _inner_links(interests, part, seed, score, ties, memory_mb, threads, part_of(progress, 0.0, 0.8))
    )
    links = np.concatenate(inner) if inner else np.empty((0, 2), np.int32)
    merged = star_merge(
        interests,
        part,
        ties=ties,
        weights=Weights() if score == "weave" else None,
        degrees=np.bincount(links.ravel(), minlength=len(interests.brokers)).astype(np.int32),
        seed=seed,
        limits=Limits(memory_mb),
        progress=part_of(progress, 0.8, 1.0),
    )
    return Divided(part, merged.stars, links, merged.outer)


def divide_brokers(interests: Interests, parts: int | str, divide: str, seed: int) -> Ints:
    """The part of each broker, from 0 up.

    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x", "y"], "c": ["x", "y"], "d": ["y"]})
    >>> divide_brokers(interests, 1, "random", seed=0).tolist()
    [0, 0, 0, 0]
    >>> divide_brokers(interests, 2, "random", seed=1).tolist()
    [0, 0, 1, 0]
    """
    brokers = len(interests.brokers)
    if parts == "auto":
        parts = best_parts(interests, divide, seed)
    parts = _check_parts(parts, brokers)
    if parts == 1:
        return np.zeros(brokers, np.int32)
    if parts == brokers:
        return np.arange(brokers, dtype=np.int32)
    hashes = id_hashes(interests.brokers)
    if divide == "cluster":
        return _clusters(interests, random_ranks(hashes, seed), parts, seed)
    return random_parts(hashes, seed, parts)


def best_parts(interests: Interests, divide: str, seed: int) -> int:
    """The number of parts p that makes 1/p + (k~/k)^2 least, k brokers and k~ stars a part (dc VII).

    Tries powers of two, and measures k~ on a few parts each. Few brokers are best left whole:

    >>> best_parts(Interests.from_mapping({"a": ["x"], "b": ["x"]}), "random", seed=0)
    1
    """
    best, least = 1, 1.0
    for parts in parts_to_try(len(interests.brokers)):
        part = divide_brokers(interests, parts, divide, seed)
        sample = np.flatnonzero(part < SAMPLED_PARTS).astype(np.int32)
        # Everyone else is one part more: what it lacks, no sampled part has to cover.
        stars = star_sets(interests, np.minimum(part, SAMPLED_PARTS))
        share = np.count_nonzero(part[stars] < SAMPLED_PARTS) / max(len(sample), 1)
        cost = 1 / parts + share**2
        if cost < least:
            best, least = parts, cost
    return best


def parts_to_try(brokers: int) -> list[int]:
    """Powers of two that leave parts of ``SMALLEST_PART`` brokers or more.

    >>> parts_to_try(40_000)
    [2, 4, 8]
    """
    return [1 << n for n in range(1, brokers.bit_length()) if brokers >> n >= SMALLEST_PART]


def _inner_links(
    interests: Interests,
    part: Ints,
    seed: int,
    score: str,
    ties: Ties,
    memory_mb: int,
    threads: int | None,
    progress: Progress,
) -> Iterator[Ints]:
    """The links inside each part, part by part."""
    order = np.argsort(part, kind="stable").astype(np.int32)
    bounds = np.concatenate([[0], np.cumsum(np.bincount(part))])
    members = [order[a:b] for a, b in pairwise(bounds.tolist()) if b - a > 1]
    workers = threads or os.cpu_count() or 1
    stop = Event()

    def connect(rows: Rows, limits: Limits, report: Progress) -> Ints:
        if score == "weave":
            return connect_weighted(rows, Weights(), seed=seed, limits=limits, progress=report).links
        return connect_largest(rows, ties=ties, seed=seed, limits=limits, progress=report).links

    def conquer(brokers: Ints) -> Ints:
        def watch(_done: float, _stage: str) -> None:
            if stop.is_set():
                raise Cancelled

        limits = Limits(max(memory_mb // workers, 1))
        return brokers[connect(Rows.of(interests, brokers), limits, watch)]

    if len(members) == 1:
        yield members[0][connect(Rows.of(interests, members[0]), Limits(memory_mb), progress)]
        return
    with ThreadPoolExecutor(workers) as pool:
        waiting = [pool.submit(conquer, brokers) for brokers in members]
        try:
            for done, part_links in enumerate(waiting):
                while wait([part_links], POLL_SECONDS).not_done:
                    progress(done / len(members), f"part {done + 1} of {len(members)}")
                yield part_links.result()
                progress((done + 1) / len(members), f"part {done + 1} of {len(members)}")
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)


def _clusters(interests: Interests, rank: Ints, parts: int, seed: int) -> Ints:
    """Equal parts of the brokers in the order of a few min-hashes of their topics: similar interests, similar hashes."""
    sizes = interests.broker_sizes()
    with_topics = np.flatnonzero(sizes)
    topic_hashes = id_hashes(interests.topics)
    signature = np.full((SIGNATURE, len(sizes)), np.iinfo(np.uint64).max, np.uint64)
    for k in range(SIGNATURE if len(with_topics) else 0):
        of_topic = seeded(topic_hashes, seed, stream=k + 1)
        starts = interests.broker_start[with_topics]
        signature[k, with_topics] = np.minimum.reduceat(of_topic[interests.broker_topics], starts)
    order = np.lexsort((rank, *signature[::-1]))
    part = np.empty(len(sizes), np.int32)
    part[order] = np.arange(len(sizes)) * parts // max(len(sizes), 1)
    return part
