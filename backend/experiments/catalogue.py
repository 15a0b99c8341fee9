"""Every sweep and every statement, paper by paper, in the order of the page."""

from __future__ import annotations

from dataclasses import dataclass

from backend.errors import BadValue
from backend.experiments import (
    beyond,
    churn,
    churn_statements,
    diameter_two,
    divide_conquer,
    divide_conquer_statements,
    examples,
    greedy_merge,
    k_connected,
    low_degree,
)
from backend.experiments.sweep import Finding, Statement, Sweep


@dataclass(frozen=True)
class Chapter:
    """One paper, or what lies beyond them: a heading of the page."""

    title: str
    source: str
    sweeps: tuple[Sweep, ...]
    statements: tuple[Statement, ...] = ()
    findings: tuple[Finding, ...] = ()


CHAPTERS = (
    Chapter(
        "Greedy merge",
        "gm: Chockler, Melamed, Tock and Vitenberg, Constructing scalable overlays for pub-sub with many topics, 2007",
        greedy_merge.SWEEPS,
        greedy_merge.STATEMENTS,
    ),
    Chapter(
        "Divide and conquer",
        "dc: Chen, Jacobsen and Vitenberg, Divide and conquer algorithms for publish/subscribe overlay design, 2010",
        divide_conquer.SWEEPS,
        divide_conquer_statements.STATEMENTS,
    ),
    Chapter(
        "Low maximum degree, and diameter 2",
        "low: Onus and Richa, Parameterized maximum and average degree approximation in topic-based publish-subscribe"
        " overlay network design, 2016",
        low_degree.SWEEPS + diameter_two.SWEEPS,
        low_degree.STATEMENTS + diameter_two.STATEMENTS,
    ),
    Chapter(
        "Overlays that survive failures",
        "ktco: Chen, Vitenberg and Jacobsen, Constructing fault-tolerant overlay networks for topic-based"
        " publish/subscribe",
        k_connected.SWEEPS,
        k_connected.STATEMENTS,
    ),
    Chapter(
        "Churn",
        "shadow: Chen, Vitenberg and Jacobsen, Reinforce your overlay with shadows",
        churn.SWEEPS,
        churn_statements.STATEMENTS,
    ),
    Chapter("Instances with known answers", "", examples.SWEEPS, examples.STATEMENTS),
    Chapter("Beyond the papers", "", beyond.SWEEPS, findings=beyond.FINDINGS),
)

SWEEPS: dict[str, Sweep] = {sweep.name: sweep for chapter in CHAPTERS for sweep in chapter.sweeps}


def choose(names: tuple[str, ...]) -> list[Sweep]:
    """The sweeps named, each by its own name or by the beginning of several (``dc`` for all of dc's); all without any."""
    if not names:
        return list(SWEEPS.values())
    chosen: dict[str, Sweep] = {}
    for name in names:
        found = {n: s for n, s in SWEEPS.items() if n == name or n.startswith(f"{name}-")}
        if not found:
            raise BadValue(
                f"sweep: no such sweep, there are {', '.join(SWEEPS)} (got {name!r})", field="sweep"
            )
        chosen |= found
    return [sweep for sweep in SWEEPS.values() if sweep.name in chosen]
