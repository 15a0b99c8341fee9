"""The simulator: rounds of churn on a live overlay, with what an operator would see of each.

One round is a join or a leave, or now and then a broker that changes its topics; failures of many brokers at once come
between. The first overlay is built fresh; ``shadow``, ``naive`` and ``weave`` repair it from round to round, and
``rebuild`` does so too, as weave, but goes over to another overlay every so many rounds; any of them may be asked to do
that. A rebuild is fresh, or sticky: weave with a bonus for the links of before, so that most of them stay. (shadow VI;
the console and the command line call this same function.)
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

import numpy as np

from algorithms.churn.arrivals import Arrivals
from algorithms.errors import BadInput
from algorithms.interests import Interests
from algorithms.live import Change, LiveOverlay, Policy, join, leave
from algorithms.live.drift import THRESHOLD, drift, fresh_algorithm
from algorithms.overlay import Overlay
from algorithms.progress import Progress, part_of, silent
from algorithms.registry import build, find_algorithm

SimulatedStrategy = Literal["shadow", "naive", "weave", "rebuild"]
Newcomers = Literal["workload", "departed"]
Rebuild = Literal["fresh", "sticky"]
REBUILD_EVERY = 50
KEEP = 0.5
"""The bonus of links that exist in a sticky rebuild; docs/decisions/0040-weave.md has what others give."""
LARGEST_KEEP = 1_000_000
_REBUILT = " + rebuild"


@dataclass(frozen=True)
class Round:
    """One round, after its change.

    >>> from algorithms import workloads
    >>> done = simulate(workloads.generate(brokers=30, topics=8, subscriptions=3, seed=1), rounds=3, join_share=1)
    >>> [(one.round, one.change, one.brokers) for one in done.rounds]
    [(1, 'join', 31), (2, 'join', 32), (3, 'join', 33)]
    """

    round: int
    change: str
    """join, leave, subscriptions or failure; with "+ rebuild" where the round ended with one."""
    brokers: int
    links: int
    average_degree: float
    max_degree: int
    opened: int
    closed: int
    plan_ms: float
    """To find what the round opens and closes, its rebuild included."""
    fairness: float
    """How evenly backups burden brokers (Jain's index of their primaries): 1 all alike, 1/n one bears all."""
    primaries_max: int
    drift: float | None
    """By which share the average degree is above a fresh build's; measured every so many rounds."""


Watch = Callable[[Round, tuple[Change, ...]], None]


@dataclass(frozen=True)
class Simulation:
    """All rounds, the parameters they were simulated with, and the overlay they ended in.

    >>> from algorithms import workloads
    >>> done = simulate(workloads.generate(brokers=30, topics=8, subscriptions=3, seed=1), rounds=3, join_share=0)
    >>> done.summary()["brokers"], done.parameters["strategy"], done.end.is_tco()
    ([30, 27], 'weave', True)
    >>> done.csv().splitlines()[0].split(",")[:3]
    ['round', 'change', 'brokers']
    """

    parameters: dict[str, Any]
    start: Overlay
    rounds: tuple[Round, ...]
    end: Overlay

    def summary(self) -> dict[str, Any]:
        """The figures of the whole run."""
        joins = [r for r in self.rounds if r.change == "join"]
        leaves = [r for r in self.rounds if r.change == "leave"]
        drifts = [r.drift for r in self.rounds if r.drift is not None]
        return {
            "rounds": len(self.rounds),
            "brokers": [len(self.start.interests.brokers), len(self.end.interests.brokers)],
            "links": [len(self.start.links), len(self.end.links)],
            "average_degree": [self.start.average_degree, self.end.average_degree],
            "max_degree": [self.start.max_degree, self.end.max_degree],
            "plan_ms_median": _median(r.plan_ms for r in self.rounds),
            "opened_per_join": _mean(r.opened for r in joins),
            "changed_per_leave": _mean(r.opened + r.closed for r in leaves),
            "rebuilds": sum(r.change.endswith(_REBUILT) for r in self.rounds),
            "opened": sum(r.opened for r in self.rounds),
            "closed": sum(r.closed for r in self.rounds),
            "drift_mean": _mean(drifts),
            "drift_end": drifts[-1] if drifts else None,
            "rebuild_due": drifts[-1] > THRESHOLD if drifts else None,
        }

    def describe(self) -> dict[str, Any]:
        """The simulation as plain JSON."""
        return {
            "parameters": self.parameters,
            "summary": self.summary(),
            "rounds": [asdict(r) for r in self.rounds],
        }

    def csv(self) -> str:
        """The rounds as a table with a header."""
        text = io.StringIO()
        writer = csv.DictWriter(text, [field.name for field in fields(Round)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(r) for r in self.rounds)
        return text.getvalue()


def simulate(
    interests: Interests,
    *,
    rounds: int,
    strategy: SimulatedStrategy = "weave",
    k: int = 1,
    rho: float = 3.0,
    lambda_: int = 3,
    backups: Literal["primal-dual", "greedy"] = "primal-dual",
    join_share: float = 0.5,
    newcomers: Newcomers = "workload",
    subscription_churn: float = 0.0,
    failures: float = 0.0,
    failure_every: int = 100,
    rebuild: Rebuild = "fresh",
    rebuild_every: int | None = None,
    keep: float = KEEP,
    drift_every: int = 50,
    algorithm: str | None = None,
    overlay: Overlay | None = None,
    seed: int = 0,
    progress: Progress = silent,
    watch: Watch = lambda *_: None,
) -> Simulation:
    """Simulate churn; the same arguments give the same links.

    ``join_share`` of the rounds are joins, the others leaves; ``subscription_churn`` of all rounds are a change of one
    broker's topics instead. Every ``failure_every`` rounds the share ``failures`` of the brokers leaves at once.
    Every ``rebuild_every`` rounds (none for 0; without it 50 for the strategy rebuild and none for the others) the
    overlay is rebuilt, fresh or sticky, which raises the score of links that exist by the share ``keep``.
    ``algorithm`` builds the first overlay (unless one is given), fresh rebuilds, and what drift is measured against.
    ``progress`` may raise :class:`Cancelled`; ``watch`` is called after each round, with it and with what changed in it.

    >>> from algorithms import workloads
    >>> interests = workloads.generate(brokers=30, topics=8, subscriptions=3, seed=1)
    >>> done = simulate(interests, rounds=20, strategy="shadow", drift_every=10)
    >>> done.end.is_tco(), len(done.rounds)
    (True, 20)
    """
    if rebuild_every is None:
        rebuild_every = REBUILD_EVERY if strategy == "rebuild" else 0
    given = {
        name: value
        for name, value in locals().items()
        if name not in ("interests", "overlay", "progress", "watch")
    }
    _check(given)
    name = find_algorithm(algorithm or fresh_algorithm(k)).name
    policy = Policy(
        "weave" if strategy == "rebuild" else strategy, k=k, rho=rho, lambda_=lambda_, backups=backups
    )
    progress(0.0, "building the first overlay")
    asked = find_algorithm(name).asked_for(k)
    start = overlay or build(name, interests, seed=seed, progress=part_of(progress, 0.0, 0.0), **asked)
    live = LiveOverlay(start, policy, seed=seed)
    live.refresh_backups()
    _warm(policy)
    arrivals = Arrivals(start.interests, newcomers, seed)
    table: list[Round] = []
    for number in range(1, rounds + 1):
        within = part_of(progress, (number - 1) / rounds, (number - 1) / rounds)
        kind, change = _next_change(arrivals, live, number, given)
        began = time.perf_counter()
        plan = live.plan(change)
        plan_ms = (time.perf_counter() - began) * 1000
        live.apply(plan)
        opened, closed = len(plan.opened), len(plan.closed)
        if rebuild_every and number % rebuild_every == 0:
            before = live.snapshot()
            began = time.perf_counter()
            if rebuild == "sticky":
                target = build(
                    "weave", before.interests, k=k, keep=keep, earlier=before, seed=seed, progress=within
                )
            else:
                target = build(name, before.interests, seed=seed, progress=within, **asked)
            rebuilt = live.plan_links(target)
            plan_ms += (time.perf_counter() - began) * 1000
            live.apply(rebuilt)
            opened, closed = opened + len(rebuilt.opened), closed + len(rebuilt.closed)
            kind += _REBUILT
        live.refresh_backups()
        primaries = live.primaries()
        measured = None
        if drift_every and number % drift_every == 0:
            measured = drift(live.snapshot(), k=k, algorithm=name, seed=seed, progress=within).share
        table.append(
            Round(
                number,
                kind,
                live.brokers,
                live.links,
                live.average_degree,
                live.max_degree,
                opened,
                closed,
                plan_ms,
                _evenness(primaries),
                int(primaries.max(initial=0)),
                measured,
            )
        )
        watch(table[-1], (change,) if isinstance(change, Change) else tuple(change))
        progress(number / rounds, f"round {number}")
    return Simulation({**given, "algorithm": name}, start, tuple(table), live.snapshot())


def _next_change(
    arrivals: Arrivals, live: LiveOverlay, number: int, given: dict[str, Any]
) -> tuple[str, Change | list[Change]]:
    if given["failures"] and number % given["failure_every"] == 0 and arrivals.present > 1:
        return "failure", arrivals.failure(live, given["failures"])
    if arrivals.present and arrivals.happens(given["subscription_churn"]):
        return "subscriptions", arrivals.change_of_mind(live)
    # The last broker stays: without any there would be nothing to simulate.
    if arrivals.present <= 1 or arrivals.happens(given["join_share"]):
        return "join", arrivals.arrival(live)
    return "leave", arrivals.departure(live)


def _warm(policy: Policy) -> None:
    """Compile the kernels on a tiny overlay, so that no round's time is the compiler's."""
    names = [f"b{i}" for i in range(6)]
    interests = Interests.from_mapping({name: ["x", "y"] for name in names})
    complete = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    live = LiveOverlay(Overlay.from_names(interests, complete), policy)
    live.refresh_backups()
    live.change([leave("b0"), join("c", ["x"])])


def _evenness(primaries: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float:
    total = float(primaries.sum())
    return total * total / (len(primaries) * float((primaries**2).sum())) if total else 1.0


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return float(np.mean(found)) if found else None


def _median(values: Iterable[float]) -> float | None:
    found = list(values)
    return float(np.median(found)) if found else None


def _check(given: dict[str, Any]) -> None:
    if given["strategy"] not in get_args(SimulatedStrategy):
        raise BadInput(
            "strategy", given["strategy"], f"must be one of {', '.join(get_args(SimulatedStrategy))}"
        )
    for name, words in (("newcomers", get_args(Newcomers)), ("rebuild", get_args(Rebuild))):
        if given[name] not in words:
            raise BadInput(name, given[name], f"must be one of {', '.join(words)}")
    keep = given["keep"]
    if isinstance(keep, bool) or not isinstance(keep, (int, float)) or not 0 <= keep <= LARGEST_KEEP:
        raise BadInput("keep", keep, f"must be a number, at least 0 and at most {LARGEST_KEEP}")
    if given["strategy"] == "rebuild" and given["rebuild_every"] == 0:
        raise BadInput("rebuild_every", 0, "must be at least 1 for the strategy rebuild")
    for name in ("join_share", "subscription_churn", "failures"):
        value = given[name]
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            raise BadInput(name, value, "must be a share, at least 0 and at most 1")
    for name, low in (
        ("rounds", 1),
        ("failure_every", 1),
        ("rebuild_every", 0),
        ("drift_every", 0),
        ("seed", 0),
    ):
        value = given[name]
        if isinstance(value, bool) or not isinstance(value, int) or value < low:
            raise BadInput(name, value, f"must be a whole number, at least {low}")
