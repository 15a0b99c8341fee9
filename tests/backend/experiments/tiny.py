"""Every sweep at a size that takes seconds in all: the same code, a few brokers."""

from __future__ import annotations

from typing import Any

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


def measure_tiny(sweep: Sweep, results: Results) -> Measurement:
    """Measure the sweep's first point, made tiny, and keep it."""
    point = tiny(sweep.points("quick")[0])
    found = Measurement(point, sweep.measure(point), 0.1)
    results.add(sweep, found)
    return found
