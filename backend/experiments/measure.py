"""How one overlay is measured: degrees, topic diameters, and the processor seconds of its build with warm kernels."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import numpy as np

from algorithms import Interests, Overlay, build
from algorithms.analysis.diameters import APART, topic_diameters
from algorithms.analysis.subgraphs import TopicSubgraphs
from algorithms.workloads import generate
from backend.experiments.sweep import Point, Record

_Result = TypeVar("_Result")
WORKLOAD = ("brokers", "topics", "subscriptions", "distribution", "exponent", "sizes", "seed")
THREE = ("uniform", "zipf", "exponential")
SEEDS = (1, 2, 3)
"""Of every random workload that a statement of a paper is held against, and more of some in the full size."""
Build = tuple[str, str, dict[str, Any]]
"""The name of a series, the algorithm and its parameters."""


def workload(
    brokers: int, topics: int, subscriptions: int, distribution: str, seed: int, **more: Any
) -> Point:
    """The point of a random workload."""
    return {
        "brokers": brokers,
        "topics": topics,
        "subscriptions": subscriptions,
        "distribution": distribution,
        "seed": seed,
        **more,
    }


def interests_of(point: Point) -> Interests:
    """The random interests of a point."""
    given = {name: point[name] for name in WORKLOAD if name in point}
    if isinstance(given["subscriptions"], list):
        given["subscriptions"] = tuple(given["subscriptions"])
    return generate(**given)


def timed(work: Callable[[], _Result]) -> tuple[_Result, float]:
    """A result and the processor seconds it took, of all threads: other programs hardly show in them."""
    began = time.process_time()
    result = work()
    return result, time.process_time() - began


def build_timed(
    interests: Interests, algorithm: str, params: dict[str, Any], seed: int
) -> tuple[Overlay, float]:
    """An overlay and its processor seconds, compilation not counted."""
    _warm(algorithm, tuple(sorted(params.items())))
    return timed(lambda: build(algorithm, interests, seed=seed, **params))


@cache
def _warm(algorithm: str, params: tuple[tuple[str, Any], ...]) -> None:
    small = generate(brokers=40, topics=10, subscriptions=4, seed=1)
    fitting = {name: value for name, value in params if name != "parts"}  # more than there are brokers here
    build(algorithm, small, **fitting)


def degrees(overlay: Overlay) -> Record:
    """Links, average and maximum degree."""
    return {
        "links": len(overlay.links),
        "average_degree": overlay.average_degree,
        "max_degree": overlay.max_degree,
    }


def diameters(overlay: Overlay) -> Record:
    """The largest and the mean topic diameter, over topics of two subscribers and more."""
    found, _ = topic_diameters(TopicSubgraphs.of(overlay))
    spans = found[(found != APART) & (overlay.interests.topic_sizes() > 1)]
    if not len(spans):
        return {"diameter_max": None, "diameter_mean": None}
    return {"diameter_max": int(spans.max()), "diameter_mean": float(np.mean(spans))}


def compare(
    interests: Interests, builds: tuple[Build, ...], seed: int, *, spans: tuple[str, ...] = ()
) -> list[Record]:
    """One record a build; topic diameters for the series named in ``spans``."""
    records = []
    for series, algorithm, params in builds:
        overlay, seconds = build_timed(interests, algorithm, params, seed)
        record = {"series": series, **degrees(overlay), "seconds": seconds}
        if series in spans:
            record |= diameters(overlay)
        records.append(record)
    return records
