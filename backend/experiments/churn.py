"""shadow: backups by two rules, and 1,000 rounds of churn against Low-ODA from scratch."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from algorithms import Interests, LiveOverlay, Overlay, Policy
from algorithms.churn.arrivals import Arrivals
from algorithms.live import join, leave
from backend.experiments.measure import SEEDS, THREE, build_timed, interests_of, workload
from backend.experiments.sweep import Chart, Point, Record, Size, Sweep

ROUNDS = 1000
LAMBDA = 3
RHO = 3.0
KINDS = ("join", "leave")
STRATEGIES: dict[str, dict[str, Any]] = {
    "Shadow": {"strategy": "shadow"},
    "Shadow, greedy backups": {"strategy": "shadow", "backups": "greedy"},
    "Naive": {"strategy": "naive"},
}


def _interests(distribution: str, seed: int, **more: Any) -> Point:
    return workload(2000, 200, 0, distribution, seed, **more) | {
        "subscriptions": [10, 90],
        "sizes": "power-law",
    }


def _backup_points(size: Size) -> list[Point]:
    spread = ("uniform",) if size == "quick" else THREE
    return [_interests(d, seed) for seed in SEEDS for d in spread]


def _churn_points(size: Size) -> list[Point]:
    every = 25 if size == "quick" else 5
    return [{**point, "rounds": ROUNDS, "every": every} for point in _backup_points(size)]


def _lambda_points(size: Size) -> list[Point]:
    return [{**point, "rounds": ROUNDS} for point in _backup_points(size)]


def _backups(point: Point) -> list[Record]:
    """Backups of everyone by both rules, lambda 3: sizes and burdens for each tenth of the sizes of brokers."""
    interests, seed = interests_of(point), point["seed"]
    start, _ = build_timed(interests, "low-oda", {"rho": RHO}, seed)
    records: list[Record] = []
    for series, rule in (("greedy", "greedy"), ("primal-dual", "primal-dual")):
        live = LiveOverlay(start, Policy("shadow", rho=RHO, lambda_=LAMBDA, backups=rule), seed=seed)  # type: ignore[arg-type]
        live.refresh_backups()
        sizes, backups, primaries = live.topic_counts(), live.backup_counts(), live.primaries()
        for low in range(10, 90, 10):
            chosen = (sizes >= low) & (sizes < low + 10 + (low == 80))
            if chosen.any():
                records.append(
                    {
                        "series": series,
                        "subscription_size": low + 5,
                        "backups": float(backups[chosen].mean()),
                        "primaries": float(primaries[chosen].mean()),
                    }
                )
        records.append(
            {
                "series": series,
                "backup_share": float(backups.mean()) / live.brokers,
                "few_primaries": float(np.mean(primaries < 5)),
                "primaries_min": int(primaries.min()),
                "primaries_max": int(primaries.max()),
            }
        )
    return records


class _Note(NamedTuple):
    """One round."""

    kind: str
    changed: int
    """Links opened and closed."""
    shadows: int
    """Brokers in the shadow set."""
    seconds: float
    """Processor seconds to plan it."""
    subscriptions: int
    """Topics of the broker that came or went."""
    ratio: float
    """Links changed by the links there were: the repair ratio."""


@dataclass
class _Diary:
    """What is noted of one strategy from round to round."""

    live: LiveOverlay
    notes: list[_Note] = field(default_factory=list)
    links: list[int] = field(default_factory=list)


def _step(diary: _Diary, arrivals: Arrivals) -> None:
    """One round of churn, planned, applied, its backups refreshed."""
    live = diary.live
    diary.links.append(live.links)
    joins = arrivals.happens(0.5)
    change = arrivals.arrival(live) if joins else arrivals.departure(live)
    subscriptions = len(change.topics if joins else live.topics_of(change.broker))
    shadows = 0 if joins else len({*live.neighbours_of(change.broker), *live.backups_of(change.broker)})
    began = time.process_time()
    plan = live.plan(change)
    spent = time.process_time() - began
    live.apply(plan)
    live.refresh_backups()
    if joins:
        shadows = len(live.backups_of(change.broker)) + 1
    kind = "join" if joins else "leave"
    changed = len(plan.opened) + len(plan.closed)
    diary.notes.append(_Note(kind, changed, shadows, spent, subscriptions, changed / diary.links[-1]))


def _start(interests: Interests, policy: dict[str, Any], seed: int) -> tuple[_Diary, Arrivals]:
    start, _ = build_timed(interests, "low-oda", {"rho": RHO}, seed)
    live = LiveOverlay(start, Policy(rho=RHO, **{"lambda_": LAMBDA, **policy}), seed=seed)
    live.refresh_backups()
    _warm(live)
    return _Diary(live), Arrivals(interests, "workload", seed)


def _warm(live: LiveOverlay) -> None:
    """Compile what a repair needs: plans that nobody applies."""
    first = live.broker_names()[0]
    live.plan(leave(first))
    live.plan(join("a-newcomer", live.topics_of(first)))


def _churn(point: Point) -> list[Record]:
    """The same changes met by every strategy; now and then Low-ODA from scratch beside them."""
    interests, seed, every = interests_of(point), point["seed"], point["every"]
    records: list[Record] = []
    fresh_at: dict[int, Record] = {}
    shadows_at: dict[int, int] = {}
    for series, policy in STRATEGIES.items():
        diary, arrivals = _start(interests, policy, seed)
        measuring = series == "Shadow"
        before: Overlay | None = None
        for number in range(1, point["rounds"] + 1):
            if measuring and number % every == 0:
                before = _fresh(diary.live, seed)[0]
            _step(diary, arrivals)
            if number % every == 0 or number == 1:
                records.append({"series": series, "round": number, **_degrees(diary.live)})
            if number % every == 0:
                found = _repairs(diary.notes[-every:])
                records += [{"series": series, "round": number, **repairs} for repairs in found]
            if before is not None:
                fresh_at[number] = _rebuilt(before, diary, seed)
                shadows_at[number] = diary.notes[-1].shadows
                before = None
            if number in fresh_at:
                records.append(_round(series, number, diary.notes[-1], fresh_at[number], shadows_at[number]))
        records.append({"series": series, **_summary(diary, [r["seconds"] for r in fresh_at.values()])})
    records += [{"series": "Low-ODA", "round": number, **record} for number, record in fresh_at.items()]
    return records


def _fresh(live: LiveOverlay, seed: int) -> tuple[Overlay, float]:
    return build_timed(live.snapshot().interests, "low-oda", {"rho": RHO}, seed)


def _rebuilt(before: Overlay, diary: _Diary, seed: int) -> Record:
    """Low-ODA of this moment: degrees, seconds, and how many links it changes against Low-ODA a round before."""
    after, seconds = _fresh(diary.live, seed)
    note = diary.notes[-1]
    changed = len(set(before.link_names()) ^ set(after.link_names()))
    return {
        "average_degree": after.average_degree,
        "max_degree": after.max_degree,
        "seconds": seconds,
        "kind": note.kind,
        "churn": note.kind,
        "churned_subscriptions": note.subscriptions,
        "changed": changed,
        "repair_ratio": changed / len(before.links),
    }


def _round(series: str, number: int, note: _Note, fresh: Record, shadows: int) -> Record:
    """A round beside Low-ODA of that moment. All strategies stand at the first one's shadow set, as in the paper: naive has none."""
    return {
        "series": series,
        "round": number,
        "churn": note.kind,
        "shadow_set": shadows,
        "churned_subscriptions": note.subscriptions,
        "repair_ratio": note.ratio,
        "time_by_low_oda": note.seconds / fresh["seconds"],
    }


def _repairs(notes: list[_Note]) -> list[Record]:
    """Links changed and seconds to plan, means over some rounds, joins and leaves by themselves."""
    return [
        {
            "kind": kind,
            "changed": fmean(note.changed for note in chosen),
            "seconds": fmean(note.seconds for note in chosen),
        }
        for kind in KINDS
        if (chosen := [note for note in notes if note.kind == kind])
    ]


def _degrees(live: LiveOverlay) -> Record:
    return {"average_degree": live.average_degree, "max_degree": live.max_degree}


def _summary(diary: _Diary, rebuilds: list[float]) -> Record:
    """Means over all rounds."""
    found: Record = {}
    rebuild = fmean(rebuilds) if rebuilds else None
    size = diary.live.brokers
    for repairs in _repairs(diary.notes):
        kind = repairs["kind"]
        found[f"changed_{kind}"] = repairs["changed"]
        found[f"repair_ratio_{kind}"] = repairs["changed"] / fmean(diary.links)
        found[f"time_{kind}"] = repairs["seconds"] / rebuild if rebuild else None
    shadows = [note.shadows / size for note in diary.notes]
    found["time_max"] = max(note.seconds for note in diary.notes) / rebuild if rebuild else None
    return {**found, "shadow_mean": fmean(shadows), "shadow_max": max(shadows)}


def _lambda(point: Point) -> list[Record]:
    """The maximum degree over the rounds for each coverage factor."""
    interests, seed = interests_of(point), point["seed"]
    records: list[Record] = []
    for coverage in (1, 2, 3, 4):
        diary, arrivals = _start(interests, {"strategy": "shadow", "lambda_": coverage}, seed)
        for number in range(1, point["rounds"] + 1):
            _step(diary, arrivals)
            if number % 50 == 0 or number == point["rounds"]:
                records.append({"series": f"lambda {coverage}", "round": number, **_degrees(diary.live)})
    return records


SWEEPS = (
    Sweep(
        "shadow-backups",
        "Backups: greedy and primal-dual",
        "shadow Figs 2 and 3",
        "2,000 brokers, 200 topics, 10 to 90 subscriptions by a power law, lambda 3.",
        _backup_points,
        _backups,
        (
            Chart("shadow-backups", "Backups a broker", "subscription_size", "backups", panels=None),
            Chart("shadow-primaries", "Primaries a broker", "subscription_size", "primaries", panels=None),
        ),
        series=("greedy", "primal-dual"),
    ),
    Sweep(
        "shadow-churn",
        "Churn: shadows, all pairs, and Low-ODA from scratch",
        "shadow Figs 4, 6, 7 and 8",
        "The same interests, 1,000 rounds, each a join or a leave with probability 0.5; every strategy meets the same ones."
        " Links changed and seconds are means over the rounds since the last mark; Low-ODA's are of that round, built anew."
        " In the last two plots a dot is one such round: its time by Low-ODA's at that moment, against the shadow set (of"
        " Shadow, for both), and the share of links changed, against the topics of the broker that came or went; rounds that"
        " change nothing have no place on the second.",
        _churn_points,
        _churn,
        (
            Chart("shadow-churn-maximum", "Maximum degree", "round", "max_degree"),
            Chart("shadow-churn-degree", "Average degree", "round", "average_degree"),
            Chart(
                "shadow-churn-links",
                "Links changed by a round, uniform interests",
                "round",
                "changed",
                panels="kind",
                where={"distribution": "uniform"},
                log_y=True,
            ),
            Chart(
                "shadow-churn-time",
                "Processor seconds to plan a round, uniform interests",
                "round",
                "seconds",
                panels="kind",
                where={"distribution": "uniform"},
                log_y=True,
            ),
            Chart(
                "shadow-churn-set",
                "Time of a round by Low-ODA's, uniform interests",
                "shadow_set",
                "time_by_low_oda",
                ("Shadow", "Naive"),
                panels="churn",
                where={"distribution": "uniform"},
                log_y=True,
                dots=True,
            ),
            Chart(
                "shadow-churn-size",
                "Repair ratio of a round, uniform interests",
                "churned_subscriptions",
                "repair_ratio",
                ("Shadow", "Low-ODA"),
                panels="churn",
                where={"distribution": "uniform"},
                log_y=True,
                dots=True,
            ),
        ),
        series=(*STRATEGIES, "Low-ODA"),
    ),
    Sweep(
        "shadow-lambda",
        "The coverage factor",
        "shadow Fig 5",
        "The same interests and rounds; how often backups cover a topic.",
        _lambda_points,
        _lambda,
        (Chart("shadow-lambda-maximum", "Maximum degree", "round", "max_degree"),),
        series=tuple(f"lambda {coverage}" for coverage in (1, 2, 3, 4)),
    ),
)
