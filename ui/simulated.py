"""What happened in a simulation, in figures and as rows for charts: nothing here is longer than a page shows."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import pandas as pd

from ui.answers import Round, Simulation
from ui.wording import count, degree, number, share

POINTS = 300
AVERAGED = ("changed", "plan_ms")
"""What jumps from round to round, and is shown as a mean."""
REBUILT = "+ rebuild"


@dataclass(frozen=True)
class Happened:
    """Rounds by what happened in them, and the brokers that failed at once."""

    joins: int
    leaves: int
    failures: int
    failed: int
    topics: int
    rebuilds: int

    @classmethod
    def in_run(cls, run: Simulation) -> Happened:
        """Counted over all rounds; how many failed is what a round of failures has fewer than the one before it."""
        kinds = [one["change"] for one in run["rounds"]]
        joins, leaves, failures = (
            sum(kind.startswith(word) for kind in kinds) for word in ("join", "leave", "failure")
        )
        before = int(run["summary"]["brokers"][0]) if run["summary"] else 0
        failed = 0
        for one in run["rounds"]:
            if one["change"].startswith("failure"):
                failed += before - one["brokers"]
            before = one["brokers"]
        return cls(
            joins,
            leaves,
            failures,
            failed,
            len(kinds) - joins - leaves - failures,
            sum(kind.endswith(REBUILT) for kind in kinds),
        )

    def said(self) -> str:
        """In words: "3 joins, 2 leaves and 1 failure (of 12 brokers)"."""
        parts = [
            words
            for rounds, words in (
                (self.joins, count(self.joins, "join")),
                (self.leaves, count(self.leaves, "leave")),
                (
                    self.failures,
                    f"{count(self.failures, 'failure')} of {count(self.failed, 'broker')} in all",
                ),
                (self.topics, count(self.topics, "change of topics", "changes of topics")),
            )
            if rounds
        ]
        return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def points(name: str, run: Simulation, window: int) -> pd.DataFrame:
    """A run's rounds as rows, no more than a chart can show: a run may have 100,000, and is drawn while it goes on."""
    rounds = run["rounds"]
    every = -(-len(rounds) // POINTS)
    chosen = [
        place
        for place, one in enumerate(rounds)
        if one["round"] % every == 0 or one["drift"] is not None or place == len(rounds) - 1
    ]
    table = pd.DataFrame([rounds[place] for place in chosen])
    for column, values in (
        ("changed", [one["opened"] + one["closed"] for one in rounds]),
        ("plan_ms", [one["plan_ms"] for one in rounds]),
    ):
        sums = [0.0, *accumulate(values)]
        table[column] = [
            (sums[place + 1] - sums[max(0, place + 1 - window)]) / min(window, place + 1) for place in chosen
        ]
    table["run"] = f"{name}: {run['request']['strategy']}"
    return table


def summary(runs: Sequence[tuple[str, Simulation]]) -> pd.DataFrame:
    """Named runs in figures, so far."""
    columns: dict[str, list[str]] = {"figure": list(FIGURES)}
    for name, run in runs:
        rounds = run["rounds"]
        columns[name] = [figure(rounds) if rounds else "–" for figure in FIGURES.values()]
    return pd.DataFrame(columns)


def _last_drift(rounds: Sequence[Round]) -> str:
    return share(next((r["drift"] for r in reversed(rounds) if r["drift"] is not None), None))


FIGURES: dict[str, Callable[[Sequence[Round]], str]] = {
    "Rounds": lambda rounds: number(len(rounds)),
    "Brokers at the end": lambda rounds: number(rounds[-1]["brokers"]),
    "Average degree at the end": lambda rounds: degree(rounds[-1]["average_degree"]),
    "Maximum degree at any time": lambda rounds: number(max(r["max_degree"] for r in rounds)),
    "Links opened": lambda rounds: number(sum(r["opened"] for r in rounds)),
    "Links closed": lambda rounds: number(sum(r["closed"] for r in rounds)),
    "Links changed a round": lambda rounds: (
        f"{sum(r['opened'] + r['closed'] for r in rounds) / len(rounds):.2f}"
    ),
    "Time to plan, median (ms)": lambda rounds: f"{statistics.median(r['plan_ms'] for r in rounds):,.2f}",
    "Time to plan, longest (ms)": lambda rounds: f"{max(r['plan_ms'] for r in rounds):,.2f}",
    "Drift at the end": _last_drift,
}
