"""Verdicts, the tables they rest on, and how they are printed."""

from __future__ import annotations

import re
from typing import Any

import pytest

from backend.experiments.page import printed, statements_table
from backend.experiments.plots import points_of, svg
from backend.experiments.sweep import Chart, Finding, NotMeasured, Statement, Table

TABLE = Table.of(
    [
        ({"brokers": 10, "seed": 1}, [{"series": "GM", "degree": 4.0}, {"series": "DC", "degree": 6.0}]),
        ({"brokers": 10, "seed": 2}, [{"series": "GM", "degree": 6.0}, {"series": "DC", "degree": 6.0}]),
        ({"brokers": 20, "seed": 1}, [{"series": "GM", "degree": 3.0}, {"series": "DC", "degree": None}]),
    ]
)


def statement(printed: float = 10.0, **more: Any) -> Statement:
    return Statement("a paper", "a figure", printed, "sweep", lambda table: table.mean("degree"), **more)


@pytest.mark.parametrize(
    ("kind", "value", "verdict"),
    [
        ("about", 10.5, "agree"),
        ("about", 9.4, "differ"),
        ("at most", 3.0, "agree"),
        ("at most", 10.6, "differ"),
        ("at least", 30.0, "agree"),
        ("at least", 9.4, "differ"),
        ("exactly", 10.0, "agree"),
        ("exactly", 10.01, "differ"),
        ("about", None, "not measured"),
    ],
)
def test_verdicts(kind: Any, value: float | None, verdict: str) -> None:
    assert statement(kind=kind).verdict(value) == verdict


def test_a_figure_that_says_nothing_is_shown_and_not_counted() -> None:
    tables = {"sweep": TABLE}
    mute = statement(5.0, applies=lambda table: max(table.column("brokers")) > 20)
    assert mute.judge(tables) == (5.0, "not applicable")
    assert statement(5.0, applies=lambda _: True).judge(tables) == (5.0, "agree")
    assert mute.judge({}) == (None, "not measured")
    assert statements_table([mute], tables).endswith("| 5 | 5.00 | not applicable |  |")


def test_a_printed_zero_has_the_tolerance_itself_as_room() -> None:
    trend = statement(0.0, kind="at most", tolerance=0.02)
    assert (trend.verdict(0.02), trend.verdict(0.03)) == ("agree", "differ")


def test_tables_sum_up() -> None:
    assert TABLE.where(series="GM").mean("degree") == pytest.approx(13 / 3)
    assert TABLE.pairs("degree", "DC", "GM") == [(6.0, 4.0), (6.0, 6.0)]
    assert TABLE.ratio("degree", "DC", "GM") == 1.25
    assert TABLE.excess("degree", "DC", "GM") == 1.0
    assert TABLE.where(series="GM").steepest("degree", "brokers") == -2.0
    assert TABLE.where(series="GM").gentlest("degree", "brokers") == -2.0
    assert len(TABLE.where(seed=(1, 2)).rows) == 6


def test_what_is_not_there_is_not_measured() -> None:
    for ask in (
        lambda: TABLE.mean("links"),
        lambda: TABLE.by("topics"),
        lambda: TABLE.ratio("degree", "DC", "GM2"),
        lambda: TABLE.where(brokers=10, series="GM").steepest("degree", "brokers"),
    ):
        with pytest.raises(NotMeasured):
            ask()
    assert statement().measured({}) is None
    assert Finding("{:.1f}", "sweep", lambda table: (table.mean("degree"),)).sentence({}) is None
    assert (
        Finding("{:.1f}", "sweep", lambda table: (table.mean("degree"),)).sentence({"sweep": TABLE}) == "5.0"
    )


def test_a_reason_is_printed_where_ours_differs_and_nowhere_else() -> None:
    tables = {"sweep": TABLE}
    differs, agrees, missing = (
        statements_table([s], given).splitlines()[-1]
        for s, given in (
            (statement(10.0, reason="why", note="mind"), tables),
            (statement(5.0, reason="why", note="mind"), tables),
            (statement(5.0, reason="why"), {}),
        )
    )
    assert differs == "| a paper | a figure | 10 | 5.00 | **differ** | why; mind |"
    assert agrees == "| a paper | a figure | 5 | 5.00 | agree | mind |"
    assert missing == "| a paper | a figure | 5 | - | not measured |  |"


def test_what_differs_for_no_known_reason_says_so() -> None:
    table = statements_table([statement(10.0, note="mind"), statement(10.0)], {"sweep": TABLE})
    assert [row.split(" | ")[-1] for row in table.splitlines()[2:]] == ["not known; mind |", "not known |"]


@pytest.mark.parametrize(
    ("more", "shown"),
    [
        ({}, "10"),
        ({"tolerance": 0.2}, "10 (±20%)"),
        ({"kind": "at most"}, "≤ 10"),
        ({"kind": "at most", "tolerance": 0.02}, "≤ 10 (+2%)"),
        ({"kind": "at least", "tolerance": 0.1}, "≥ 10 (-10%)"),
        ({"kind": "exactly"}, "10"),
        ({"printed_as": "equal", "tolerance": 0.1}, "equal (9.00 to 11.00)"),
        ({"printed_as": "falls", "kind": "at most"}, "falls (≤ 10.50)"),
        ({"printed_as": "rises", "kind": "at least", "tolerance": 0.0}, "rises (≥ 10.00)"),
        ({"printed_as": "always", "kind": "exactly"}, "always (10.00)"),
    ],
)
def test_the_room_stands_in_brackets(more: dict[str, Any], shown: str) -> None:
    assert printed(statement(10.0, **more)) == shown


@pytest.mark.parametrize(
    ("number", "form", "shown"),
    [
        (16.75, "{:.1f}", "16.75"),
        (0.0205, "{:.2f}", "0.0205"),
        (0.0634, "{:.1%}", "6.34%"),
        (0.14, "{:.3%}", "14%"),
        (2575, "{:.1f}", "2,575"),
        (0.000143, "{:.6f}", "0.000143"),
    ],
)
def test_a_printed_number_keeps_its_digits(number: float, form: str, shown: str) -> None:
    assert printed(statement(number, form=form)) == shown


@pytest.mark.parametrize("log_y", [False, True])
def test_bars_have_a_height(log_y: bool) -> None:
    """On a logarithmic axis there is no zero to stand on."""
    heights = (1.0, 3.0, 250.0)
    table = Table.of([({"x": f"file {y}"}, [{"series": "GM", "y": y}]) for y in heights])
    drawn = svg(Chart("c", "t", "x", "y", panels=None, bars=True, log_y=log_y), table)
    assert drawn is not None
    bars = re.findall(r'<path d="M[\d.,-]+h[\d.]+v(-?[\d.]+)h-[\d.]+Z" fill="#4c8dd6"', drawn)
    tall = sorted(abs(float(bar)) for bar in bars)
    assert len(tall) == len(heights)
    assert all(height > 0 for height in tall)
    if not log_y:  # twice the value, twice the height: linear bars stand on zero
        assert tall[2] / tall[1] == pytest.approx(250 / 3, rel=0.1)


def test_names_on_a_logarithmic_axis_keep_apart() -> None:
    table = Table.of([({"x": x}, [{"series": "GM", "y": x}]) for x in (1000, 2000, 4000)])
    drawn = svg(Chart("c", "t", "x", "y", panels=None, log_x=True, log_y=True), table)
    assert drawn is not None
    assert ">1,000<" in drawn
    assert ">2,000<" in drawn
    assert ">4,000<" in drawn
    assert ">3,000<" not in drawn


def test_a_chart_shows_means_over_seeds() -> None:
    chart = Chart("c", "Title", "brokers", "degree", ("GM",), panels=None)
    assert points_of(chart, TABLE) == [
        {"panel": None, "series": "GM", "x": 10, "y": 5.0},
        {"panel": None, "series": "GM", "x": 20, "y": 3.0},
    ]
    drawn = svg(chart, TABLE)
    assert drawn is not None
    assert drawn.startswith("<svg")
    assert ">Title<" in drawn
    assert ">GM<" in drawn
    assert "#ffffff" not in drawn
    assert svg(Chart("c", "Title", "brokers", "links"), TABLE) is None


def test_labels_of_small_numbers_keep_their_digits() -> None:
    small = Table.of([({"x": n}, [{"series": "s", "y": 0.01 * n}]) for n in (1, 2, 5)])
    drawn = svg(Chart("c", "t", "x", "y", panels=None), small)
    assert drawn is not None
    assert ">0.02<" in drawn


def test_dots_are_rows_and_no_means() -> None:
    rows = [{"series": "A", "x": 1, "y": y, "churn": "join"} for y in (1.0, 3.0)]
    table = Table.of([({"seed": 1}, [*rows, {"series": "A", "x": 2, "y": None, "churn": "join"}])])
    chart = Chart("c", "t", "x", "y", panels="churn", dots=True)
    assert [(dot["x"], dot["y"]) for dot in points_of(chart, table)] == [(1, 1.0), (1, 3.0)]
    drawn = svg(chart, table)
    assert drawn is not None
    assert len(re.findall(r'fill="#4c8dd6"', drawn)) == 2 + 1, "the legend's too"
