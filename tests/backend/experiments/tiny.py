"""Every sweep at a size that takes seconds in all: the same code, a few brokers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from backend.experiments.catalogue import CHAPTERS, Chapter
from backend.experiments.origin import origin_of
from backend.experiments.results import Measurement, Results
from backend.experiments.sweep import Point, Sweep

SMALL: dict[str, Any] = {
    "brokers": 220,
    "topics": 100,
    "subscriptions": 5,
    "rounds": 6,
    "every": 3,
    "parts": 3,
    "iterations": 5,
}


def tiny(point: Point) -> Point:
    """A point of the same kind with little to do."""
    small = {name: SMALL.get(name, value) for name, value in point.items()}
    if point.get("sizes") == "power-law":
        small["subscriptions"] = [10, 18]
    return small


def shrunk(sweep: Sweep) -> Sweep:
    """The sweep with its first point alone, made tiny."""
    return replace(sweep, points=lambda _: [tiny(sweep.points("quick")[0])])


TINY: dict[str, Sweep] = {sweep.name: shrunk(sweep) for chapter in CHAPTERS for sweep in chapter.sweeps}
TINY_CHAPTERS: tuple[Chapter, ...] = tuple(
    replace(chapter, sweeps=tuple(TINY[sweep.name] for sweep in chapter.sweeps)) for chapter in CHAPTERS
)


def measure_tiny(sweep: Sweep, results: Results) -> None:
    """Measure the points of a tiny sweep and keep them."""
    for point in sweep.points(results.size):
        results.add(sweep, Measurement(point, sweep.measure(point), 0.1, origin_of(sweep, point)))
