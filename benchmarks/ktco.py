"""K-connected overlays: GM2, HararyPT, degree-cover, weave, prune and the test of k, one table.

``python -m benchmarks.ktco [WORD ...]`` runs the rows whose text has all the words; the folder of real interests is
TOPICWEAVE_DATA. Degree, maximum degree and topic diameters stand together, because they trade against each other. Times
are processor seconds of one thread with warm kernels, the floor measured just before; of several runs the best, up to
fifteen of them within two seconds, because other programs' use of the same memory and caches shows in short ones. Every
overlay of up to two million subscriptions is tested for its k, and the seconds of that test are given.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from algorithms import Interests, Overlay, build
from algorithms.analysis.diameters import APART, topic_diameters
from algorithms.analysis.subgraphs import TopicSubgraphs
from algorithms.blocks import BlockWeights, biconnect_parts
from algorithms.files import read_interests
from algorithms.order import id_hashes, random_parts
from algorithms.workloads import generate
from backend.experiments.sources import data_file, left_out
from benchmarks.floor import floor_seconds

PROVEN_UP_TO = 2_000_000
"""Subscriptions up to which k is proven and diameters are measured."""
TIMED_FOR, MOST_RUNS = 2.0, 15
"""Processor seconds after which no further run is timed, and the most runs."""
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Row:
    """One line of the table: what to run, and the seconds and average degree it is held against."""

    source: str
    algorithm: str
    params: dict[str, Any]
    seconds: float | None = None
    average_degree: float | None = None

    @property
    def title(self) -> str:
        return " ".join([self.source, self.algorithm, *(f"{k}={v}" for k, v in self.params.items())])

    @property
    def k(self) -> int:
        return int(self.params.get("k", 1 if self.algorithm == "gm" else 2))


SMALL = ("1000/200/30", "1000/200/30/zipf", "1000/200/30/exponential")
COVER = {2: (9.87, 7.94, 7.14), 4: (17.85, 15.00, 13.16), 6: (25.87, 22.57, 19.30), 10: (42.18, 38.38, 31.80)}
WEAVE = {2: (9.68, 6.94, 6.33), 4: (17.14, 13.02, 11.39)}
REAL = (
    "ha_codeowners",
    "ha_git_authors",
    "dt_codeowners",
    "ros_autoware",
    "lastfm_asia_mutual_follow",
    "github_mutual_follow",
    "twitter_top100",
)
ROWS = [
    *(Row(source, "gm", {}) for source in SMALL),
    Row("1000/200/30", "gm2", {}, 0.033, 11.15),
    Row("1000/200/30/zipf", "gm2", {}, None, 11.75),
    Row("1000/200/30/exponential", "gm2", {}, None, 10.15),
    *(Row(source, "gm2", {"ties": "row"}) for source in SMALL),
    *(Row(source, "gm2", {"prune": True}) for source in SMALL),
    *(
        Row(source, "gm2", {"weighted": True}, None, degree)
        for source, degree in zip(SMALL, (10.14, 7.42, 6.67), strict=True)
    ),
    *(
        Row(source, "gm2", {"parts": parts, **more})
        for source in (*SMALL, "10000/200/30")
        for parts in (2, 10)
        for more in ({}, {"weighted": True})
    ),
    *(
        Row(source, "weave", {"k": k}, None, degree)
        for k, degrees in WEAVE.items()
        for source, degree in zip(SMALL, degrees, strict=True)
    ),
    *(
        Row(source, "degree-cover", {"k": k}, None, degree)
        for k, degrees in COVER.items()
        for source, degree in zip(SMALL, degrees, strict=True)
    ),
    Row("1000/200/30", "degree-cover", {"k": 4, "needs": "plain"}, None, 17.85),
    *(Row(source, "hararypt", {"k": 4, "order": order}) for source in SMALL for order in ("id", "nearest")),
    *(Row(source, "hararypt", {"k": 4, "prune": True}) for source in SMALL),
    Row("1000/200/30", "hararypt", {"k": 3, "even_if_cheaper": False}, None, 54),
    Row("1000/200/30", "hararypt", {"k": 3}, None, 46),
    Row("10000/200/30", "gm2", {}, 2.5, 9.56),
    Row("10000/1000/100", "gm2", {}, 7.4, 19.5),
    Row("10000/200/30", "degree-cover", {"k": 4}, 15),
    Row("10000/200/30", "hararypt", {"k": 3}),
    Row("1000000/1000/20", "hararypt", {"k": 4}, 30),
    *(Row(source, "gm", {}) for source in REAL),
    *(Row(source, "gm2", {}) for source in REAL),
    *(Row(source, "degree-cover", {"k": k}) for source in REAL for k in (2, 3)),
    *(Row(source, "hararypt", {"k": k}) for source in REAL for k in (2, 3)),
]


@lru_cache(maxsize=1)
def interests_of(source: str) -> Interests:
    """A real file by name, or V/T/s and a distribution of the workload of fixed size."""
    if "/" not in source:
        file = data_file(source)
        assert file is not None, source
        return read_interests(file)
    brokers, topics, subscriptions, *distribution = source.split("/")
    return generate(
        brokers=int(brokers),
        topics=int(topics),
        subscriptions=int(subscriptions),
        distribution=distribution[0] if distribution else "uniform",  # type: ignore[arg-type]
        seed=1,
    )


@lru_cache(maxsize=1)
def floor_of(source: str) -> float:
    return floor_seconds(interests_of(source))


def timed(run: Callable[[], _Result]) -> tuple[_Result, float]:
    """The result and the processor seconds of the best of some runs."""
    spent: list[float] = []
    while not spent or (sum(spent) < TIMED_FOR and len(spent) < MOST_RUNS):
        start = time.process_time()
        result = run()
        spent.append(time.process_time() - start)
    return result, min(spent)


def built(row: Row, interests: Interests) -> Overlay:
    if "parts" not in row.params:
        return build(row.algorithm, interests, **row.params)
    part = random_parts(id_hashes(interests.brokers), 0, row.params["parts"])
    weights = BlockWeights() if row.params.get("weighted") else None
    return Overlay.from_links(interests, biconnect_parts(interests, part, weights=weights).links)


def diameters(overlay: Overlay) -> str:
    """Mean and largest topic diameter, over topics of two subscribers or more."""
    if overlay.interests.subscriptions > PROVEN_UP_TO:
        return "- | -"
    found, sampled = topic_diameters(TopicSubgraphs.of(overlay))
    spans = found[(found != APART) & (overlay.interests.topic_sizes() > 1)]
    mark = "*" if sampled.any() else ""
    return f"{spans.mean():.1f} | {spans.max(initial=0)}{mark}" if len(spans) else "- | -"


def lines(rows: list[Row]) -> Iterator[str]:
    yield "| case | seconds | held against | x floor | links | average degree | held against | max degree | topic diameter, mean | largest | seconds to prove k | peak MB so far |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    warm = generate(brokers=60, topics=12, subscriptions=5, seed=1)
    missing = {row.source for row in rows if "/" not in row.source and data_file(row.source) is None}
    for row in sorted(rows, key=lambda row: (row.source, row.k)):
        if row.source in missing:
            continue
        built(row, warm).is_ktco(row.k)
        interests, floor = interests_of(row.source), floor_of(row.source)
        overlay, seconds = timed(lambda row=row, interests=interests: built(row, interests))  # type: ignore[misc]
        proof = "-"
        if interests.subscriptions <= PROVEN_UP_TO:
            proven, test_seconds = timed(lambda overlay=overlay, k=row.k: overlay.is_ktco(k))  # type: ignore[misc]
            proof = f"{test_seconds:.2f}" if proven else "NOT A kTCO"
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        yield (
            f"| {row.title} | {seconds:.3f} | {row.seconds or '-'} | {seconds / max(floor, 1e-6):.1f} "
            f"| {len(overlay.links)} | {overlay.average_degree:.2f} | {row.average_degree or '-'} | {overlay.max_degree} "
            f"| {diameters(overlay)} | {proof} | {np.round(peak):.0f} |"
        )
    if missing:
        yield left_out(sorted(missing))


def main(words: list[str]) -> None:
    for line in lines([row for row in ROWS if all(word in row.title for word in words)]):
        print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
