"""The charts: what is too small to see, axes that end above all values, one colour a stage."""

from __future__ import annotations

from typing import Any, cast

import pytest

from tests.ui.pages import specification
from ui import charts
from ui.answers import RebuildFigures


@pytest.mark.parametrize(
    ("histogram", "offered"),
    [
        ([(2, 9_000), (3, 900), (40, 1)], True),
        ([(2, 9_000), (3, 89)], True),
        ([(2, 9_000), (3, 91)], False),
        ([(5, 94)], False),
        ([], False),
    ],
)
def test_a_bar_too_low_to_be_seen_gets_a_logarithmic_axis(
    histogram: list[tuple[int, int]], offered: bool
) -> None:
    assert charts.lopsided(histogram) is offered


def test_a_bar_is_compared_with_all_of_both_histograms() -> None:
    assert charts.lopsided([(2, 5000)], [(2, 5)])


def test_no_bar_is_above_the_highest_tick() -> None:
    for largest in (1, 7, 10, 11, 4711):
        assert charts._powers(float(largest))[-1] >= largest


def rebuild_charts() -> None:
    import streamlit as st

    from ui import charts

    figures = st.session_state["figures"]
    charts.stages(figures, figures, figures, "stages")
    charts.histograms(figures, figures, "histograms", logarithmic=True)


def test_a_stage_has_one_colour_on_the_page_of_a_rebuild() -> None:
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_function(rebuild_charts, default_timeout=60)
    app.session_state["figures"] = cast(
        RebuildFigures,
        {
            "links": 3,
            "average_degree": 2.0,
            "max_degree": 2,
            "mean_diameter": 1.0,
            "max_diameter": 2,
            "degree_histogram": [(1, 1000), (2, 1)],
        },
    )
    app.run()
    scales: list[Any] = []
    for chart in app.get("vega_lite_chart"):
        for layer in specification(chart).get("layer") or [specification(chart)]:
            colour = layer["encoding"].get("color")
            if colour:
                scales.append(colour["scale"])
    assert len(scales) == 5
    assert all(scale == scales[0] for scale in scales)
    assert scales[0]["domain"] == ["before", "peak", "after"]
    assert len(set(scales[0]["range"])) == 3
