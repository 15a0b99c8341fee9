"""Churn: how fast a change is planned, what 1,000 rounds do to the degrees, and how large a live overlay loads.

    python -m benchmarks.churn                 all tables (minutes)
    python -m benchmarks.churn drift sticky    some of: plans, large, paper, drift, sticky, hub

Every setting is a workload of the papers by seed; times are medians of planning alone, kernels warm: by the wall
clock, and in parentheses by the process's own, which other work on the machine lengthens less.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from algorithms import Interests, Overlay, algorithms, build, workloads
from algorithms.churn import Simulation, simulate
from algorithms.churn.arrivals import Arrivals
from algorithms.files import read_interests
from algorithms.live import LiveOverlay, Policy, leave
from algorithms.live.drift import drift
from algorithms.live.plan import Strategy
from backend.experiments.sources import data_file, left_out

TABLES = ("plans", "large", "paper", "drift", "sticky", "hub")
PLANS = 200
SEEDS = (1, 2, 3)
REPAIRS: tuple[Strategy, ...] = ("shadow", "weave")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", choices=[[], *TABLES], metavar="WORD", help=", ".join(TABLES))
    parser.add_argument(
        "--backups", action="store_true", help="also build the backups of all 100,000 (minutes)"
    )
    options = parser.parse_args()
    for word in options.tables or TABLES:
        {
            "plans": _small,
            "large": lambda: _hundred_thousand(backups=options.backups),
            "paper": _paper,
            "drift": _drift,
            "sticky": _sticky,
            "hub": _hub,
        }[word]()


def _head() -> None:
    print("\n| plan, median ms (processor) | policy | join | leave | must | aim |")
    print("|---|---|--:|--:|--:|--:|")


def _small() -> None:
    _head()
    paper, name = _of_the_paper(), "2,000 brokers, 200 topics, 10..90"
    for strategy in REPAIRS:
        _plans(name, paper, "low-oda", Policy(strategy), "1", "0.3")
    _plans(name, paper, "low-oda", Policy("naive"), "-", "-", plans=20)
    middle = workloads.generate(brokers=10_000, topics=1000, subscriptions=20, seed=1)
    for strategy in REPAIRS:
        _plans("10,000 brokers, 1,000 topics, 20, k = 2", middle, "gm2", Policy(strategy, k=2), "20", "5")


def _hundred_thousand(*, backups: bool) -> None:
    _head()
    large = workloads.generate(brokers=100_000, topics=1000, subscriptions=20, seed=1)
    overlay = build("dc", large, parts=10)
    _load(overlay, backups=backups)
    for strategy in REPAIRS:
        _plans("100,000 brokers, 1,000 topics, 20", large, "", Policy(strategy), "5", "1", overlay)


def _of_the_paper() -> Interests:
    return workloads.generate(brokers=2000, topics=200, subscriptions=(10, 90), sizes="power-law", seed=1)


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


def _paper() -> None:
    interests = _of_the_paper()
    print(
        "\nThe paper's setting: 2,000 brokers, 200 topics, sizes 10..90, lambda 3, 1,000 rounds, start Low-ODA(3)\n"
    )
    print(
        "| strategy | average degree | maximum degree | opened a join | changed a leave | drift, mean | fairness |"
    )
    print("|---|---|---|--:|--:|--:|--:|")
    print("| printed in the paper: shadow | mean 0.798 above Low-ODA | 13 -> 22 | 4.83 | 12.24 | - | - |")
    print("| reference: shadow | mean 0.68 above | 10 -> 18 | 4.22 | 11.81 | - | - |")
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
            runs = [_drifted(distribution, strategy=strategy, drift_every=0, seed=seed) for seed in SEEDS]
            shares = [np.mean([drift(run.end, algorithm=name).share for run in runs]) for name in against]
            largest = np.mean([run.end.max_degree for run in runs])
            changed = np.mean([(r.opened + r.closed) for run in runs for r in run.rounds])
            name = strategy if strategy != "rebuild" else "rebuild, fresh, every 50"
            print(
                f"| {distribution} | {name} | {' | '.join(f'{share:.1%}' for share in shares)}"
                f" | {largest:.1f} | {changed:.1f} |",
                flush=True,
            )


def _sticky() -> None:
    print(
        "\nweave with a rebuild every 50 rounds, otherwise as above; drift from a fresh weave, every 10 rounds;"
        " must 11%, aim 7%\n"
    )
    print(
        "| workload | rebuild | mean drift | at the end | above a fresh GM | max degree | changed a round |"
    )
    print("|---|---|--:|--:|--:|--:|--:|")
    for distribution in ("uniform", "zipf"):
        for keep in (None, 0.25, 0.5, 0.7):
            options = {"rebuild": "fresh"} if keep is None else {"rebuild": "sticky", "keep": keep}
            runs = [
                _drifted(
                    distribution, rebuild_every=50, drift_every=10, algorithm="weave", seed=seed, **options
                )
                for seed in SEEDS
            ]
            found = [run.summary() for run in runs]
            mean, end = (np.mean([one[name] for one in found]) for name in ("drift_mean", "drift_end"))
            above = np.mean([drift(run.end, algorithm="gm").share for run in runs])
            largest = np.mean([run.end.max_degree for run in runs])
            changed = np.mean([(r.opened + r.closed) for run in runs for r in run.rounds])
            print(
                f"| {distribution} | {'fresh' if keep is None else f'sticky, keep {keep:g}'} | {mean:.1%}"
                f" | {end:.1%} | {above:+.1%} | {largest:.1f} | {changed:.1f} |",
                flush=True,
            )


def _drifted(distribution: str, **options: Any) -> Simulation:
    interests = workloads.generate(
        brokers=500,
        topics=100,
        subscriptions=(10, 30),
        sizes="power-law",
        distribution=distribution,  # type: ignore[arg-type]
        seed=options["seed"],
    )
    return simulate(interests, rounds=500, **options)


def _hub() -> None:
    """The broker with most links leaves; beside it what GM would open between the topics it leaves apart."""
    path = data_file("github_mutual_follow")
    if path is None:
        print(f"\nThe leave of a hub: {left_out(['github_mutual_follow'])}")
        return
    overlay = build("gm", read_interests(path))
    hub = overlay.interests.brokers[int(np.argmax(overlay.degrees()))]
    print(
        f"\nThe leave of a hub: {overlay.max_degree:,} links, {len(overlay.interests.topics_of(hub)):,} topics\n"
    )
    print("| strategy | opened | links then | max degree then | processor s |")
    print("|---|--:|--:|--:|--:|")
    for strategy in REPAIRS:
        live = LiveOverlay(overlay, Policy(strategy), check=False)
        live.plan(leave(hub))  # compiles, and makes room
        spent = time.process_time()
        plan = live.plan(leave(hub))
        spent = time.process_time() - spent
        live.apply(plan)
        print(f"| {strategy} | {len(plan.opened):,} | {live.links:,} | {live.max_degree:,} | {spent:.1f} |")
    fresh = build("gm", live.snapshot().interests)
    print(f"| a fresh gm without the hub | - | {len(fresh.links):,} | {fresh.max_degree:,} | - |", flush=True)


if __name__ == "__main__":
    main()
