"""The run: sweep after sweep, point after point, each kept as soon as it is measured; what is there is not measured again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from backend.experiments.origin import origin_of
from backend.experiments.results import Measurement, Results
from backend.experiments.sweep import Point, Sweep

Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class Left:
    """What a sweep still has to measure."""

    sweep: Sweep
    points: list[Point]
    wanted: int


def left_to_do(sweeps: Iterable[Sweep], results: Results) -> list[Left]:
    """The points of each sweep that have no result yet, or one of other code or data."""
    return [Left(sweep, results.missing(sweep), len(results.wanted(sweep))) for sweep in sweeps]


def run(
    sweeps: Iterable[Sweep],
    results: Results,
    *,
    progress: Progress = lambda *_: None,
    finished: Callable[[Sweep, int, float], None] = lambda *_: None,
) -> int:
    """Measure what is left; how many points that were.

    ``finished`` hears of each sweep that had something left: its points and their processor seconds. An interrupt
    leaves every point measured until then in the results.
    """
    plan = left_to_do(sweeps, results)
    total = sum(len(left.points) for left in plan)
    done = 0
    for left in plan:
        spent = 0.0
        try:
            for point in left.points:
                progress(done / total, left.sweep.name)
                began = time.process_time()
                records = left.sweep.measure(point)
                cpu = time.process_time() - began
                results.add(left.sweep, Measurement(point, records, cpu, origin_of(left.sweep, point)))
                spent += cpu
                done += 1
        finally:
            results.settle(left.sweep)
        if left.points:
            finished(left.sweep, len(left.points), spent)
    return done
