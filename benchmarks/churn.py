"""Churn: how fast a change is planned, what 1,000 rounds do to the degrees, and how large a live overlay loads.

    python -m benchmarks.churn              all tables (minutes)
    python -m benchmarks.churn --quick      without 100,000 brokers

Every setting is a workload of the papers by seed; times are medians of planning alone, kernels warm: by the wall
clock, and in parentheses by the process's own, which other work on the machine lengthens less.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from algorithms import Interests, Overlay, algorithms, build, workloads
from algorithms.churn import Simulation, simulate
from algorithms.churn.arrivals import Arrivals
from algorithms.errors import UnknownAlgorithm
from algorithms.live import LiveOverlay, Policy
from algorithms.live.drift import drift
from algorithms.live.plan import Strategy

PLANS = 200
REPAIRS: tuple[Strategy, ...] = ("shadow", "weave")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="without 100,000 brokers")
    parser.add_argument(
        "--backups", action="store_true", help="also build the backups of all 100,000 (minutes)"
    )
    options = parser.parse_args()
    paper = workloads.generate(brokers=2000, topics=200, subscriptions=(10, 90), sizes="power-law", seed=1)
    middle = workloads.generate(brokers=10_000, topics=1000, subscriptions=20, seed=1)
    print("| plan, median ms (processor) | policy | join | leave | must | aim |")
    print("|---|---|--:|--:|--:|--:|")
    for strategy in REPAIRS:
        _plans("2,000 brokers, 200 topics, 10..90", paper, "low-oda", Policy(strategy), "1", "0.3")
    _plans("2,000 brokers, 200 topics, 10..90", paper, "low-oda", Policy("naive"), "-", "-", plans=20)
    for strategy in REPAIRS:
        _plans("10,000 brokers, 1,000 topics, 20, k = 2", middle, "gm2", Policy(strategy, k=2), "20", "5")
    if not options.quick:
        large = workloads.generate(brokers=100_000, topics=1000, subscriptions=20, seed=1)
        overlay = _large(large)
        _load(overlay, backups=options.backups)
        for strategy in REPAIRS:
            _plans("100,000 brokers, 1,000 topics, 20", large, "", Policy(strategy), "5", "1", overlay)
    _paper(paper)
    _drift()


def _large(interests: Interests) -> Overlay:
    """An overlay to load; divide and conquer where the registry has it, because a fresh GM takes a while."""
    try:
        return build("dc", interests, parts=10)
    except UnknownAlgorithm:
        return build("gm", interests)


def _load(overlay: Overlay, *, backups: bool) -> None:
    before = _resident_mb()
    began = time.perf_counter()
    live = LiveOverlay(overlay, Policy("shadow"))
    seconds = time.perf_counter() - began
    print(
        f"| loading {live.brokers:,} brokers, {live.subscriptions:,} subscriptions | s | {seconds:.1f} | | 10 | 3 |"
    )
    after = _resident_mb()
    print(
        f"| memory: live overlay; whole process | MB | {after - before:,.0f} | {after:,.0f} | 1,000 | 400 |",
        flush=True,
    )
    if not backups:
        return
    began = time.perf_counter()
    live.refresh_backups()
    seconds = time.perf_counter() - began
    after = _resident_mb()
    print(f"| building all their backups, off the critical path | s | {seconds:.1f} | | - | - |")
    print(
        f"| memory with backups; whole process | MB | {after - before:,.0f} | {after:,.0f} | 1,000 | 400 |",
        flush=True,
    )


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def _plans(
    name: str,
    interests: Interests,
    algorithm: str,
    policy: Policy,
    must: str,
    aim: str,
    overlay: Overlay | None = None,
    plans: int = PLANS,
) -> None:
    live = LiveOverlay(overlay or build(algorithm, interests), policy, check=overlay is None)
    if policy.strategy == "shadow":
        # A repair needs none but its own broker's; of very many brokers only some leave here.
        live.refresh_backups(None if live.brokers < 20_000 else 5000)
    took = {"join": list[tuple[float, float]](), "leave": list[tuple[float, float]]()}
    for kind, seconds, spent in _planned(live, interests, plans):
        took[kind].append((seconds * 1000, spent * 1000))
    middles = [np.median(t, axis=0) for t in took.values()]
    cells = [f"{wall:.2f} ({processor:.2f})" for wall, processor in middles]
    print(f"| {name} | {policy.strategy} | {' | '.join(cells)} | {must} | {aim} |", flush=True)


def _planned(live: LiveOverlay, interests: Interests, plans: int) -> Iterator[tuple[str, float, float]]:
    arrivals = Arrivals(interests, "workload", 1)
    for number in range(2 * plans + 4):
        kind = ("join", "leave")[number % 2]
        change = arrivals.arrival(live) if kind == "join" else arrivals.departure(live)
        began, spent = time.perf_counter(), time.process_time()
        plan = live.plan(change)
        seconds, spent = time.perf_counter() - began, time.process_time() - spent
        live.apply(plan)
        live.refresh_backups(256 if live.policy.strategy == "shadow" else 1)
        if number >= 4:  # the first ones may compile
            yield kind, seconds, spent


def _paper(interests: Interests) -> None:
    print(
        "\nThe paper's setting: 2,000 brokers, 200 topics, sizes 10..90, lambda 3, 1,000 rounds, start Low-ODA(3)\n"
    )
    print(
        "| strategy | average degree | maximum degree | opened a join | changed a leave | drift, mean | fairness |"
    )
    print("|---|---|---|--:|--:|--:|--:|")
    print("| printed in the paper: shadow | mean 0.798 above Low-ODA | 13 -> 22 | 4.83 | 12.24 | - | - |")
    print("| our prototype: shadow | mean 0.68 above | 10 -> 18 | 4.22 | 11.81 | - | - |")
    for strategy, backups in (("shadow", "primal-dual"), ("shadow", "greedy"), ("weave", "primal-dual")):
        done = simulate(
            interests,
            rounds=1000,
            strategy=strategy,  # type: ignore[arg-type]
            backups=backups,  # type: ignore[arg-type]
            drift_every=100,
            seed=1,
        )
        found = done.summary()
        average, largest = found["average_degree"], found["max_degree"]
        print(
            f"| {strategy}, {backups} | {average[0]:.2f} -> {average[1]:.2f} | {largest[0]} -> {largest[1]}"
            f" | {found['opened_per_join']:.2f} | {found['changed_per_leave']:.2f} | {found['drift_mean']:.1%}"
            f" | {done.rounds[-1].fairness:.2f} |",
            flush=True,
        )


def _drift() -> None:
    print(
        "\nDrift after 500 rounds, 500 brokers, 100 topics, sizes 10..30, mean of 3 seeds; must 33 / 29%, aim 27 / 26%\n"
    )
    against = [name for name in ("low-oda", "gm", "weave") if name in {a.name for a in algorithms()}]
    print(
        f"| workload | strategy | {' | '.join(f'above a fresh {name}' for name in against)} | max degree | links changed a round |"
    )
    print(f"|---|---|{'--:|' * (len(against) + 2)}")
    for distribution in ("uniform", "zipf"):
        for strategy in ("shadow", "weave", "rebuild"):
            runs = [_drifted(distribution, strategy, seed) for seed in (1, 2, 3)]
            shares = [np.mean([drift(run.end, algorithm=name).share for run in runs]) for name in against]
            largest = np.mean([run.end.max_degree for run in runs])
            changed = np.mean([(r.opened + r.closed) for run in runs for r in run.rounds])
            name = strategy if strategy != "rebuild" else "rebuild, fresh, every 50"
            print(
                f"| {distribution} | {name} | {' | '.join(f'{share:.1%}' for share in shares)}"
                f" | {largest:.1f} | {changed:.1f} |",
                flush=True,
            )


def _drifted(distribution: str, strategy: str, seed: int) -> Simulation:
    interests = workloads.generate(
        brokers=500,
        topics=100,
        subscriptions=(10, 30),
        sizes="power-law",
        distribution=distribution,  # type: ignore[arg-type]
        seed=seed,
    )
    return simulate(
        interests,
        rounds=500,
        strategy=strategy,  # type: ignore[arg-type]
        drift_every=0,
        seed=seed,
    )


if __name__ == "__main__":
    main()
