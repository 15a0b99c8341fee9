"""Statements of the papers on tables made by hand, whose answers are known: the figure, and whether it agrees."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pytest

from backend.experiments.catalogue import CHAPTERS
from backend.experiments.sweep import POINT, Statement, Table
from tests.backend.experiments.committed import committed

DIRECTIONS = ("falls", "rises", "raise", "lower", "higher", "grows", "shrinks", "always fewer")

DC_MERGE = [
    ({"brokers": v, "distribution": "uniform"}, {"Naive Merge": naive, "Star Merge": star, "GM": 5.0})
    for v, naive, star in ((1000, 6.0, 6.1), (8000, 6.2, 6.35))
]


def table(points: Iterable[tuple[dict[str, Any], dict[str, Any]]], column: str) -> Table:
    """A point for each pair, a record for each of its series; a value, or whole columns."""
    return Table.of(
        (
            point,
            [
                {"series": series, **(value if isinstance(value, dict) else {column: value})}
                for series, value in values.items()
            ],
        )
        for point, values in points
    )


def statement(paper: str, text: str) -> Statement:
    (found,) = [s for c in CHAPTERS for s in c.statements if s.paper == paper and s.text.startswith(text)]
    return found


def runs(series: str, column: str, values: list[float]) -> Table:
    return Table.of(
        ({"seed": seed, "sizes": "fixed"}, [{"series": series, column: value}])
        for seed, value in enumerate(values)
    )


def spans(gm: float, gm2: float, brokers: int, distribution: str) -> tuple[dict[str, Any], dict[str, Any]]:
    return (
        {"brokers": brokers, "distribution": distribution},
        {name: {"diameter_max": d, "diameter_mean": d / 2} for name, d in (("GM", gm), ("GM2", gm2))},
    )


SPANS = table(
    [
        spans(10, 4, 100, "uniform"),
        spans(30, 12, 1000, "uniform"),
        spans(10, 5, 100, "zipf"),
        spans(20, 10, 1000, "zipf"),
        spans(10, 6, 100, "exponential"),
        spans(20, 12, 1000, "exponential"),
    ],
    "",
)
BY_SUBSCRIPTIONS = table(
    [
        (
            {"subscriptions": s, "distribution": "uniform"},
            {
                "GM": {"average_degree": gm, "time_ratio": 1.0},
                "DC": {"average_degree": dc, "time_ratio": time},
                "DC, 10 parts": {"average_degree": gm + s / 10, "time_ratio": 1 / s},
            },
        )
        for s, gm, dc, time in ((10, 8.0, 12.0, 0.5), (40, 7.5, 12.5, 0.9), (100, 6.0, 8.0, 0.3))
    ],
    "",
)
GM_SIZES = table(
    [
        (
            {"brokers": v, "topics": t, "distribution": d},
            {"GM": {"average_degree": degree * t / 100, "seconds": (v / 1000) ** 2 * t}},
        )
        for v, degree in ((1000, 6.0), (2000, 5.0), (4000, 4.0))
        for t in (100, 200)
        for d in ("uniform", "zipf", "exponential")
    ],
    "",
)
RINGS = table(
    [
        ({"brokers": 1000, "distribution": d}, {"GM": gm, "DC": gm + 2.12, "RingPT": ring})
        for d, gm, ring in (("uniform", 5.0, 40.0), ("zipf", 5.0, 32.0))
    ],
    "average_degree",
)
BY_TOPICS = table(
    [
        ({"subscriptions": s, "topics": t}, {"GM": 5.0, "RingPT": ring})
        for s, t, ring in ((10, 100, 20.0), (20, 100, 40.0), (20, 200, 30.0))
    ],
    "average_degree",
)
GAPS = table(
    [
        ({"subscriptions": s, "distribution": d}, {"GM": 4.0, "GM2": gm2})
        for s, d, gm2 in ((10, "uniform", 6.0), (100, "uniform", 5.0), (10, "zipf", 6.0), (100, "zipf", 6.5))
    ],
    "average_degree",
)
CHURN = Table.of(
    [
        (
            {"distribution": "uniform", "seed": 1},
            [
                {"series": "Shadow", "round": 1, "max_degree": 13, "average_degree": 6.0},
                {"series": "Shadow", "round": 500, "max_degree": 18, "average_degree": 7.0},
                {"series": "Shadow", "round": 1000, "max_degree": 22, "average_degree": 8.0},
                {"series": "Naive", "round": 1000, "max_degree": 30},
                {"series": "Low-ODA", "round": 500, "max_degree": 9, "average_degree": 6.5}
                | {"kind": "join", "repair_ratio": 0.113, "changed": 500},
                {"series": "Low-ODA", "round": 1000, "max_degree": 18, "average_degree": 6.5}
                | {"kind": "leave", "repair_ratio": 0.075, "changed": 720},
                {"series": "Shadow", "round": 500, "kind": "leave", "seconds": 0.004},
                {"series": "Shadow", "round": 1000, "kind": "leave", "seconds": 0.002},
                {"series": "Shadow", "round": 1000, "kind": "join", "seconds": 0.001},
                {"series": "Naive", "time_max": 0.7, "time_leave": 0.3},
                {"series": "Shadow", "shadow_mean": 0.02, "shadow_max": 0.06, "changed_join": 4.5},
            ],
        )
    ]
)


@pytest.mark.parametrize(
    ("paper", "text", "rows", "figure", "verdict"),
    [
        ("gm 1", "RingPT's average degree by GM's, the high", BY_TOPICS, 8.0, "agree"),
        ("gm 8.1", "GM's average degree falls as brokers", GM_SIZES, -1.0, "agree"),
        ("gm 8.1", "more topics raise", GM_SIZES, 2.0, "agree"),
        ("gm 8.1", "GM's average degree is lowest", GM_SIZES, 1.0, "agree"),
        ("gm 8.2", "GM's time grows", GM_SIZES, 2.0, "agree"),
        ("gm 8.2", "GM's time falls with", GM_SIZES, 2.0, "differ"),
        ("gm Fig 3", "GM's processing steps", GM_SIZES, None, "not measured"),
        ("dc Fig 4", "Star Merge's average degree above N", table(DC_MERGE, "average_degree"), 0.15, "agree"),
        ("dc Fig 4", "Star Merge's average degree above G", table(DC_MERGE, "average_degree"), 1.35, "agree"),
        ("dc Fig 11", "parts of 100 brokers: what DC's", BY_SUBSCRIPTIONS, -2.0, "agree"),
        ("dc Fig 11", "10 parts: what DC's", BY_SUBSCRIPTIONS, 9.0, "differ"),
        ("dc Fig 11", "parts of 100 brokers: DC's time", BY_SUBSCRIPTIONS, 0.4, "differ"),
        ("dc Fig 11", "10 parts: DC's time", BY_SUBSCRIPTIONS, -0.015, "agree"),
        ("dc Table I", "DC's average degree, smallest", runs("DC", "average_degree", [6.4, 6.5]), 6.4, "agree"),
        ("dc Table I", "DC's average degree, largest", runs("DC", "average_degree", [6.4, 7.5]), 7.5, "differ"),
        ("dc Table I", "GM's average degree, variance", runs("GM", "average_degree", [5.0, 5.2]), 0.02, "differ"),
        ("dc Table I", "brokers in the star set of one part, var", runs("DC", "star_set_variance", [0.2, 0.4]), 0.3, "agree"),
        ("dc Table I", "brokers in the star set of one part, small", runs("DC", "star_set_min", [8, 9]), 8, "agree"),
        ("dc Table I", "brokers in the star set of one part, large", runs("DC", "star_set_max", [10, 13]), 13, "differ"),
        ("dc Fig 12", "DC's average degree above GM's", RINGS, 2.12, "agree"),
        ("dc Fig 12", "RingPT's average degree by twice", RINGS, 0.9, "agree"),
        ("ktco Fig 5", "what GM2's average degree is above", GAPS, 0.5, "differ"),
        ("ktco I", "GM2's average degree by GM's", GAPS, (5.5 + 6.25) / 8, "agree"),
        ("ktco IX", "GM2's average degree by GM's", GAPS, (5.5 + 6.25) / 8, "differ"),
        ("ktco Fig 6", "GM2's largest topic diameter by GM's, uniform", SPANS, 0.4, "agree"),
        ("ktco Fig 8", "GM2's largest topic diameter by GM's, mean over", SPANS, 0.5, "differ"),
        ("ktco Fig 8", "GM2's mean topic diameter by GM's, mean over", SPANS, 0.5, "agree"),
        ("ktco Fig 6", "largest topic diameter of GM less GM2's, uniform", SPANS, 18.0, "agree"),
        ("ktco Fig 8", "largest topic diameter of GM less GM2's, zipf", SPANS, 10.0, "agree"),
        ("ktco Fig 8", "largest topic diameter of GM less GM2's, exp", SPANS, 8.0, "differ"),
        ("ktco Fig 8", "that gap grows", SPANS, 7.0, "agree"),
        ("shadow Fig 6", "Shadow's maximum degree after the first", CHURN, 13, "agree"),
        ("shadow Fig 6", "Shadow's maximum degree after 1,000 rounds by", CHURN, 22 / 30, "differ"),
        ("shadow Fig 6", "Shadow's maximum degree above Low-ODA's", CHURN, 6.5, "differ"),
        ("shadow Fig 6", "Shadow's average degree above Low-ODA's", CHURN, 1.0, "differ"),
        ("shadow Fig 7", "Shadow's time of a leave, ms", CHURN, 3.0, "not applicable"),
        ("shadow Fig 7", "Naive's time of a round by Low-ODA's, the", CHURN, 0.7, "agree"),
        ("shadow Fig 7", "shadow set by brokers, the worst", CHURN, 0.06, "differ"),
        ("shadow Fig 8", "links that Low-ODA from scratch changes by links, join", CHURN, 0.113, "agree"),
        ("shadow Fig 8", "links that Low-ODA from scratch changes by links, mean", CHURN, 0.094, "agree"),
        ("shadow Fig 8", "links that Low-ODA from scratch changes, mean", CHURN, 610, "agree"),
        ("shadow Fig 8", "links changed by a join, Shadow", CHURN, 4.5, "agree"),
    ],
)  # fmt: skip
def test_the_figure_and_the_verdict(
    paper: str, text: str, rows: Table, figure: float | None, verdict: str
) -> None:
    found = statement(paper, text)
    value, said = found.judge({found.sweep: rows})
    assert value == (None if figure is None else pytest.approx(figure))
    assert said == verdict


@pytest.mark.parametrize(
    ("fastest", "above", "verdict"),
    [(1, 0.0, "not applicable"), (10, 3.0, "agree"), (10, 4.0, "differ"), (1000, 0.0, "not applicable")],
)
def test_where_dc_is_gm_itself_its_degree_says_nothing(fastest: int, above: float, verdict: str) -> None:
    """dc Fig 6, beside skewed interests with a peak of their own."""
    parts = [
        ({"brokers": 1000, "distribution": d, "parts": p}, {"DC": {"time_ratio": time, "above_gm": high}})
        for d, most in (("uniform", 5.0), ("zipf", 30.0))
        for p in (1, 10, 100, 1000)
        for time, high in ((0.5, above) if p == fastest else (1.0, most if p == 100 else 0.0),)
    ]
    tables = {"dc-parts": table(parts, "")}
    least = statement("dc Fig 6", "DC's average degree above GM's where its time is least, uniform")
    assert least.judge(tables) == (above, verdict)
    peak = statement("dc Fig 6", "DC's average degree above GM's at its peak, uniform")
    assert peak.judge(tables) == (5.0, "agree")


@pytest.mark.parametrize(
    "one", [s for c in CHAPTERS for s in c.statements if s.printed_as in DIRECTIONS], ids=lambda s: s.text
)
def test_a_direction_has_no_room(one: Statement) -> None:
    assert one.kind != "about"
    assert one.room == 0


@pytest.mark.parametrize(
    "one",
    [
        s
        for c in CHAPTERS
        for s in c.statements
        if s.paper.startswith("shadow") or re.search("uniform|zipf|exponential", s.text)
    ],
    ids=lambda s: f"{s.paper}, {s.text}",
)
def test_a_statement_of_some_interests_asks_no_others(one: Statement) -> None:
    """The same figure when the page's own tables get three times everything for interests of another kind."""
    own = committed(one.sweep)
    points = max(row[POINT] for row in own.rows) + 1
    strange = [
        {
            **{name: 3 * v if isinstance(v, float) else v for name, v in row.items()},
            POINT: row[POINT] + points,
            "distribution": "another",
        }
        for row in own.rows
    ]
    mixed = {one.sweep: Table((*own.rows, *strange))}
    assert one.judge(mixed) == one.judge({one.sweep: own})
    assert one.judge(mixed)[0] is not None


def test_a_figure_of_another_sweep_says_nothing() -> None:
    found = statement("ktco Fig 8", "that gap grows")
    assert found.verdict(found.measured({"ktco-topics": SPANS})) == "not measured"
