"""The engine's figures: exact GM, Low-ODA and DC on the papers' workloads and on real interests, one table.

``python -m benchmarks.engine [WORD ...]`` runs the rows whose text has all the words; the folder of real interests is
TOPICWEAVE_DATA. Times are of one run each with warm kernels, the floor measured just before; DC uses all cores.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

# A cache of its own for the compile time of a first use; must be set before the kernels are imported.
if __name__ == "__main__" and "NUMBA_CACHE_DIR" not in os.environ:
    os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp(prefix="topicweave-kernels-")

from algorithms import Interests, build
from algorithms.files import read_interests
from algorithms.workloads import generate
from backend.experiments.sources import data_file, left_out
from benchmarks.floor import floor_seconds


@dataclass(frozen=True)
class Row:
    """One line of the table: what to run, and what it is held against."""

    source: str
    algorithm: str
    params: dict[str, Any]
    seconds: float
    average_degree: float
    max_degree: int | None

    @property
    def title(self) -> str:
        return " ".join([self.source, self.algorithm, *(f"{k}={v}" for k, v in self.params.items())])


ROWS = [
    Row("1000/100/20", "gm", {}, 0.011, 5.26, 12),
    Row("10000/100/20", "gm", {}, 0.67, 4.62, 13),
    Row("10000/1000/100", "gm", {}, 5.4, 12.97, 22),
    Row("100000/1000/20", "gm", {}, 19, 10.03, 60),
    Row("1000/100/20", "low-oda", {}, 0.028, 5.45, 7),
    Row("4000/100/20", "low-oda", {}, 0.39, 4.93, 7),
    Row("10000/100/20", "low-oda", {}, 2.2, 4.68, 6),
    Row("10000/1000/100", "low-oda", {}, 15, 13.3, None),
    Row("1000000/1000/20", "dc", {"parts": 200}, 18, 13.7, None),
    Row("1000000/1000/20", "dc", {"parts": 50}, 47, 11.3, None),
    Row("1000000/10000/20", "dc", {"parts": 20}, 70, 22.1, None),
    Row("ha_git_authors", "gm", {}, 0.03, 2.02, 47),
    Row("dt_codeowners", "gm", {}, 0.01, 1.18, 113),
    Row("lastfm_asia_mutual_follow", "gm", {}, 0.04, 4.59, 161),
    Row("twitter_top100", "gm", {}, 0.5, 2.02, 140),
    Row("github_mutual_follow", "gm", {}, 2.0, 6.26, 11834),
    Row("deezer_hu_genres", "gm", {}, 9.9, 2.02, 94),
    Row("ha_git_authors", "gm", {"ties": "row"}, 0.01, 2.02, 2282),
    Row("dt_codeowners", "gm", {"ties": "row"}, 0.01, 1.18, 208),
    Row("lastfm_asia_mutual_follow", "gm", {"ties": "row"}, 0.02, 4.61, 395),
    Row("twitter_top100", "gm", {"ties": "row"}, 0.2, 2.03, 6601),
    Row("github_mutual_follow", "gm", {"ties": "row"}, 0.8, 6.24, 20611),
    Row("deezer_hu_genres", "gm", {"ties": "row"}, 5.2, 2.03, 30927),
    Row("ha_git_authors", "low-oda", {}, 0.04, 2.41, 31),
    Row("dt_codeowners", "low-oda", {}, 0.01, 1.19, 111),
    Row("lastfm_asia_mutual_follow", "low-oda", {}, 0.04, 4.90, 53),
    Row("twitter_top100", "low-oda", {}, 0.9, 2.11, 7),
    Row("github_mutual_follow", "low-oda", {}, 3.4, 7.52, 1304),
    Row("deezer_hu_genres", "low-oda", {}, 24, 2.15, 8),
]


@lru_cache(maxsize=1)
def interests_of(source: str) -> Interests:
    """A real file by name, or V/T/s of the uniform workload of fixed size."""
    if "/" in source:
        brokers, topics, subscriptions = map(int, source.split("/"))
        return generate(brokers=brokers, topics=topics, subscriptions=subscriptions, seed=1)
    file = data_file(source)
    assert file is not None, source
    return read_interests(file)


@lru_cache(maxsize=1)
def floor_of(source: str) -> float:
    return floor_seconds(interests_of(source))


def timed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def lines(rows: list[Row]) -> Iterator[str]:
    shapes = [interests_of("100/20/5"), interests_of("1000/100/20")]  # counted by lists, and by bitsets
    names = ("gm", "low-oda", "dc")
    compiled = {name: sum(timed(partial(build, name, shape)) for shape in shapes) for name in names}
    yield (
        "compile time of all kernels, first use: "
        + ", ".join(f"{name} {seconds:.1f} s" for name, seconds in compiled.items())
        + f", together {sum(compiled.values()):.1f} s"
    )
    yield ""
    yield "| case | seconds | reference | floor | x floor | average degree | reference | max degree | reference | peak MB so far |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    missing = {row.source for row in rows if "/" not in row.source and data_file(row.source) is None}
    for row in sorted(rows, key=lambda row: row.source):
        if row.source in missing:
            continue
        interests, floor = interests_of(row.source), floor_of(row.source)
        start = time.perf_counter()
        overlay = build(row.algorithm, interests, **row.params)
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        yield (
            f"| {row.title} | {seconds:.3f} | {row.seconds} | {floor:.3f} | {seconds / floor:.1f} "
            f"| {overlay.average_degree:.2f} | {row.average_degree} | {overlay.max_degree} | {row.max_degree or '-'} "
            f"| {peak:.0f} |"
        )
    if missing:
        yield left_out(sorted(missing))


def main(words: list[str]) -> None:
    for line in lines([row for row in ROWS if all(word in row.title for word in words)]):
        print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
