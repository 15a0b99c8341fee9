"""weave against GM in the same run, and against the lower bound: links, degrees, topic diameters, time.

``python -m benchmarks.weave [TABLE ...] [--seconds N]`` prints the tables named (links, bound, connected, sticky; all
without a name). Three seeds of each random workload, means; a file of TOPICWEAVE_DATA once. Times are processor seconds of
one thread with warm kernels, the best of three runs on small inputs. The bound gets so many seconds; its limit is what ten
times as many iterations, with steps that fall as slowly, come to.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from algorithms import Interests, Overlay, build
from algorithms.analysis.diameters import topic_diameters
from algorithms.analysis.subgraphs import TopicSubgraphs
from algorithms.bound import lower_bound
from algorithms.churn.simulate import simulate
from algorithms.files import read_interests
from algorithms.workloads import generate
from backend.experiments.sources import data_file, left_out

SEEDS = (1, 2, 3)
WORKLOADS: dict[str, dict[str, Any]] = {
    "uniform": {"distribution": "uniform"},
    "Zipf 0.5": {"distribution": "zipf", "exponent": 0.5},
    "Zipf 2": {"distribution": "zipf", "exponent": 2.0},
    "exponential": {"distribution": "exponential"},
}
WANTED = {
    "1000/200/30 uniform": -6.3,
    "1000/200/30 Zipf 0.5": -9.0,
    "1000/200/30 Zipf 2": -21.0,
    "1000/200/30 exponential": -23.0,
    "10000/1000/20 uniform": -5.4,
    "lastfm_asia_mutual_follow": -2.2,
    "github_mutual_follow": -3.1,
}
"""Percent of links against GM that each case must reach."""
CONNECTED = {2: (4839, 3468, 3163), 4: (8571, 6512, 5697)}
"""Links that k-connected overlays are held against, on uniform, Zipf 2 and exponential interests of 1000/200/30."""


@dataclass(frozen=True)
class Outcome:
    """One overlay: what it costs and what it gives."""

    links: int
    max_degree: int
    diameter_mean: float
    diameter_max: int
    seconds: float


def main() -> None:
    """Print the tables asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", metavar="TABLE", help="links, bound, connected or sticky")
    parser.add_argument("--seconds", type=float, default=30.0, help="of each bound")
    options = parser.parse_args()
    tables = {
        "links": lambda: _links(options.seconds),
        "bound": lambda: _bound(options.seconds),
        "connected": _connected,
        "sticky": _sticky,
    }
    unknown = set(options.tables) - set(tables)
    if unknown:
        parser.error(f"no such table: {', '.join(sorted(unknown))}")
    for name, table in tables.items():
        if not options.tables or name in options.tables:
            for line in table():
                print(line, flush=True)
            print()


def _links(seconds: float) -> Iterator[str]:
    yield (
        "| case | GM links | weave | against GM | must | bound | GM, weave above it | max degree GM, weave"
        " | mean topic diameter GM, weave, with shortcuts | largest | links with shortcuts | s GM, weave | x GM |"
    )
    yield "|---|--:|--:|--:|--:|--:|---|---|---|---|--:|---|--:|"
    missing = []
    for case, must in WANTED.items():
        runs = []
        for interests in _inputs(case):
            _run("gm", interests)
            _run("weave", interests)
            runs.append(
                (
                    _run("gm", interests),
                    _run("weave", interests),
                    _run("weave", interests, shortcuts=1),
                    lower_bound(interests, seconds=seconds),
                )
            )
        if not runs:
            missing.append(case)
            continue
        merged = [run[0] for run in runs]
        woven = [run[1] for run in runs]
        short = [run[2] for run in runs]
        gm, weave, extra = (fmean(o.links for o in column) for column in (merged, woven, short))
        bounds = [run[3] for run in runs]
        bound = fmean(b.links for b in bounds)
        note = "" if bounds[0].kind == "lagrangian" else f" ({bounds[0].kind})"
        gm_s, weave_s = (fmean(o.seconds for o in column) for column in (merged, woven))
        spans = ", ".join(
            f"{fmean(o.diameter_mean for o in column):.1f}" for column in (merged, woven, short)
        )
        largest = ", ".join(f"{max(o.diameter_max for o in column)}" for column in (merged, woven, short))
        degrees = ", ".join(f"{max(o.max_degree for o in column):,}" for column in (merged, woven))
        yield (
            f"| {case} | {gm:,.0f} | {weave:,.0f} | {weave / gm - 1:+.1%} | {must:+.1f}% | {bound:,.0f}{note}"
            f" | {gm / bound - 1:.1%}, {weave / bound - 1:.1%} | {degrees} | {spans} | {largest} | {extra:,.0f}"
            f" | {gm_s:.2f}, {weave_s:.2f} | {weave_s / gm_s:.1f} |"
        )
    if missing:
        yield left_out(missing)


def _bound(bound_seconds: float) -> Iterator[str]:
    yield "| bound, 1000/200/30, seed 1 | links | iterations | processor s | limit | below it, must 1% |"
    yield "|---|--:|--:|--:|--:|--:|"
    for name in WORKLOADS:
        interests = next(_inputs(f"1000/200/30 {name}"))
        lower_bound(interests, seconds=0)
        started = time.process_time()
        found = lower_bound(interests, seconds=bound_seconds)
        seconds = time.process_time() - started
        limit = lower_bound(interests, seconds=3600, iterations=10 * found.iterations)
        yield (
            f"| {name} | {found.links:,} | {found.iterations:,} | {seconds:.1f} | {limit.links:,}"
            f" | {1 - found.links / limit.links:.2%} |"
        )


def _connected() -> Iterator[str]:
    yield "| k, 1000/200/30 | weave links | held against | difference | max degree | mean topic diameter | s |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for k, held in CONNECTED.items():
        for name, reference in zip(("uniform", "Zipf 2", "exponential"), held, strict=True):
            runs = [_run("weave", interests, k=k) for interests in _inputs(f"1000/200/30 {name}")]
            links = fmean(o.links for o in runs)
            yield (
                f"| {k} {name} | {links:,.0f} | {reference:,} | {links / reference - 1:+.1%}"
                f" | {max(o.max_degree for o in runs)} | {fmean(o.diameter_mean for o in runs):.1f}"
                f" | {fmean(o.seconds for o in runs):.2f} |"
            )


def _sticky() -> Iterator[str]:
    yield (
        "| after 500 rounds at 500/100/20 | links | above a fresh build | opened | closed"
        " | changes against it | max degree |"
    )
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for k, name in ((1, "uniform"), (2, "uniform"), (2, "Zipf 2")):
        yield from _sticky_rows(k, name)


def _sticky_rows(k: int, name: str) -> Iterator[str]:
    ends = [
        simulate(interests, rounds=500, strategy="weave", k=k, seed=seed, drift_every=0).end
        for seed, interests in zip(SEEDS, _inputs(f"500/100/20 {name}"), strict=True)
    ]
    fresh: list[tuple[int, int]] = []
    yield (
        f"| k = {k}, {name}: as it is | {fmean(len(end.links) for end in ends):,.0f} | | | | "
        f"| {max(end.max_degree for end in ends)} |"
    )
    for keep in (0.0, 0.25, 0.5, 0.7, 1.0):
        links, opened, closed, degrees = [], [], [], []
        for end in ends:
            after = build("weave", end.interests, k=k, keep=keep, earlier=end)
            degrees.append(after.max_degree)
            kept = len(set(map(tuple, end.links.tolist())) & set(map(tuple, after.links.tolist())))
            links.append(len(after.links))
            opened.append(len(after.links) - kept)
            closed.append(len(end.links) - kept)
        if not fresh:
            fresh = [(n, o + c) for n, o, c in zip(links, opened, closed, strict=True)]
        drift = sum(links) / sum(n for n, _ in fresh) - 1
        changes = (sum(opened) + sum(closed)) / sum(c for _, c in fresh)
        yield (
            f"| weave --k {k} --keep {keep:g} | {fmean(links):,.0f} | {drift:.1%} | {fmean(opened):,.0f}"
            f" | {fmean(closed):,.0f} | {changes:.2f} | {max(degrees)} |"
        )


def _inputs(case: str) -> Iterator[Interests]:
    if "/" not in case:
        if file := data_file(case):
            yield read_interests(file)
        return
    shape, name = case.split(maxsplit=1)
    brokers, topics, subscriptions = map(int, shape.split("/"))
    for seed in SEEDS:
        yield generate(
            brokers=brokers, topics=topics, subscriptions=subscriptions, seed=seed, **WORKLOADS[name]
        )


def _run(algorithm: str, interests: Interests, **params: object) -> Outcome:
    seconds = float("inf")
    for _ in range(3 if interests.subscriptions < 100_000 else 1):
        started = time.process_time()
        overlay: Overlay = build(algorithm, interests, **params)  # type: ignore[arg-type]
        seconds = min(seconds, time.process_time() - started)
    spans = topic_diameters(TopicSubgraphs.of(overlay))[0][interests.topic_sizes() > 1]
    return Outcome(len(overlay.links), overlay.max_degree, float(np.mean(spans)), int(spans.max()), seconds)


if __name__ == "__main__":
    main()
