"""Charts as SVG: lines or bars of means over seeds, a panel a kind of interests, readable on light and on dark pages."""

from __future__ import annotations

import math
import re
from statistics import fmean
from typing import Any

import altair as alt
import vl_convert

from backend.experiments.sweep import Chart, Table

INK = "#808080"
"""Text, axes and frames: halfway between a white page and a dark one, so that both show it."""
COLOURS = (
    "#4c8dd6",
    "#f08a24",
    "#3fa45b",
    "#d9534f",
    "#a06cd5",
    "#b08d57",
    "#17a2b0",
    "#e377b5",
    "#9aa52f",
    "#8c8c8c",
)
WORDS = {
    "average_degree": "average degree",
    "max_degree": "maximum degree",
    "diameter_max": "largest topic diameter",
    "diameter_mean": "mean topic diameter",
    "time_ratio": "time by GM's",
    "time_by_low_oda": "time by Low-ODA's",
    "pn_ratio": "pn-ratio",
    "star_set": "brokers in a star set",
    "seconds": "processor seconds",
    "inner_seconds": "seconds inside",
    "outer_seconds": "seconds across",
    "inner_links": "links inside parts",
    "outer_links": "links across parts",
    "forced_degree": "forced",
    "above_bound": "above the bound",
    "repair_ratio": "links changed by links",
    "round": "round of churn",
    "churned_subscriptions": "topics of the broker that came or went",
    "shadow_set": "brokers in the shadow set",
    "source": "interests",
    "changed": "links changed",
    "subscription_size": "subscriptions a broker",
    "subscriptions": "subscriptions a broker",
}
"""How columns are called on the page, where the name itself will not do."""
DISTRIBUTIONS = ("uniform", "zipf", "exponential")
"""The order of panels, from the most even interests to the most skewed."""
MANY = 3000.0
"""Logarithmic axes that span more are named at powers of ten only."""
_WIDTH, _HEIGHT, _SINGLE = 185, 150, 430


def word(column: str) -> str:
    """What people call a column."""
    return WORDS.get(column, column.replace("_", " "))


def points_of(chart: Chart, table: Table) -> list[dict[str, Any]]:
    """What a chart shows: a row for each place, series and panel, the mean over everything else; every row, as dots."""
    grouped: dict[tuple[Any, ...], list[float]] = {}
    dots: list[dict[str, Any]] = []
    for row in table.where(**chart.where).rows:
        x, y = row.get(chart.x), row.get(chart.y)
        if x is None or y is None or (chart.series and row.get("series") not in chart.series):
            continue
        if chart.log_y and y <= 0:
            continue
        panel = row.get(chart.panels) if chart.panels else None
        if chart.dots:
            dots.append({"panel": panel, "series": row.get("series"), "x": x, "y": float(f"{y:.5g}")})
        grouped.setdefault((panel, row.get("series"), x), []).append(float(y))
    if chart.dots:
        return dots
    return [
        {"panel": panel, "series": series, "x": x, "y": float(f"{fmean(values):.5g}")}
        for (panel, series, x), values in grouped.items()
    ]


def svg(chart: Chart, table: Table) -> str | None:
    """The plot of a chart, or None when nothing of it was measured."""
    values = points_of(chart, table)
    if not values:
        return None
    panels = _panels(chart, values)
    named = [panel for panel in panels if panel is not None]
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=_x(chart, values),
        y=_y(chart, values),
        color=alt.Color(
            "series:N",
            title=None,
            scale=alt.Scale(domain=_series(chart, values), range=list(COLOURS)),
            legend=alt.Legend(orient="bottom", columns=6),
        ),
    )
    drawn: Any = _marks(chart, base, values).properties(
        width=_WIDTH if len(named) > 1 else _SINGLE, height=_HEIGHT
    )
    if len(named) > 1:
        drawn = drawn.facet(
            column=alt.Column("panel:N", title=None, sort=[str(p) for p in named], header=alt.Header())
        ).transform_calculate(panel=f"{_label(chart)!r} + datum.panel")
        drawn = drawn.resolve_scale(x="shared")
    return _light(str(vl_convert.vegalite_to_svg(_dressed(drawn, chart).to_dict())))


def _marks(chart: Chart, base: alt.Chart, values: list[dict[str, Any]]) -> Any:
    if chart.bars:
        beside = base.encode(xOffset=alt.XOffset("series:N", sort=list(chart.series) or None))
        return (beside.encode(y2=alt.datum(_foot(values))) if chart.log_y else beside).mark_bar()
    if chart.dots:
        return base.mark_circle(size=14, opacity=0.7, strokeWidth=0)
    return base.mark_line(strokeWidth=1.8, point=alt.OverlayMarkDef(size=18, filled=True))


def _x(chart: Chart, values: list[dict[str, Any]]) -> alt.X:
    if chart.bars:
        return alt.X("x:N", title=word(chart.x), sort=None, axis=alt.Axis(labelAngle=-30, labelLimit=180))
    measured = sorted({value["x"] for value in values})
    axis = _named(measured) if chart.log_x else alt.Axis(tickCount=5)
    return alt.X("x:Q", title=word(chart.x), scale=_scale(chart.log_x), axis=axis)


def _y(chart: Chart, values: list[dict[str, Any]]) -> alt.Y:
    heights = [value["y"] for value in values]
    if not chart.log_y:
        return alt.Y("y:Q", title=word(chart.y), scale=alt.Scale(zero=chart.bars, nice=True))
    low = _foot(values) if chart.bars else min(heights)
    scale = alt.Scale(type="log", nice=False, domainMin=low)
    return alt.Y("y:Q", title=word(chart.y), scale=scale, axis=_ticks([low, *heights]))


def _foot(values: list[dict[str, Any]]) -> float:
    """Where bars on a logarithmic axis stand, which has no zero: the power of ten below the smallest, so that all show."""
    power = math.ceil(math.log10(min(value["y"] for value in values))) - 1
    return float(f"1e{power}")


def _ticks(values: list[float]) -> alt.Axis:
    """A logarithmic axis named at 1, 2 and 5 of every power of ten, or at the powers alone where there are many."""
    low, high = min(values), max(values)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if high / low < MANY else (1,)
    named = [float(f"{step}e{power}") for power in powers for step in steps]
    return alt.Axis(
        values=[tick for tick in named if low <= tick <= high], labelOverlap="greedy", labelSeparation=6
    )


def _named(measured: list[float]) -> alt.Axis:
    """A logarithmic axis named where something was measured, as far as names keep apart."""
    return alt.Axis(values=measured, labelOverlap="greedy", labelSeparation=6)


def _scale(log: bool) -> alt.Scale:
    return alt.Scale(type="log", nice=False) if log else alt.Scale(zero=False, nice=True)


def _label(chart: Chart) -> str:
    """What stands before the value of a panel: nothing before words, the column before numbers."""
    return (
        ""
        if chart.panels in (None, "distribution", "interests", "kind", "churn")
        else f"{word(chart.panels or '')} "
    )


def _panels(chart: Chart, values: list[dict[str, Any]]) -> list[Any]:
    found = sorted(
        dict.fromkeys(value["panel"] for value in values),
        key=lambda panel: DISTRIBUTIONS.index(panel) if panel in DISTRIBUTIONS else -1,
    )
    label = _label(chart)
    return [f"{label}{panel}" if panel is not None else None for panel in found]


def _series(chart: Chart, values: list[dict[str, Any]]) -> list[str]:
    present = dict.fromkeys(value["series"] for value in values)
    return [s for s in chart.series if s in present] or list(present)


def _dressed(drawn: Any, chart: Chart) -> Any:
    dressed = drawn.properties(title=chart.title, background="transparent")
    grey = {"labelColor": INK, "titleColor": INK}
    return (
        dressed.configure(font="sans-serif", aria=False)
        .configure_title(color=INK, anchor="start", fontSize=13)
        .configure_axis(
            **grey,
            domainColor=INK,
            tickColor=INK,
            gridColor=INK,
            gridOpacity=0.2,
            titleFontWeight="normal",
        )
        .configure_header(labelColor=INK, labelFontSize=12)
        .configure_legend(labelColor=INK, symbolStrokeWidth=3)
        .configure_view(stroke=INK, strokeOpacity=0.3)
    )


def _light(drawn: str) -> str:
    """The same picture in a third of the bytes: to a tenth of a pixel, without what nothing styles or reads aloud.

    A page shows it as one image, whose text is the chart's title.
    """
    short = re.sub(r"<[^>]*>", lambda tag: re.sub(r"-?\d+\.\d{2,}", _rounded, tag[0]), drawn)
    short = re.sub(
        r' (?:class|pointer-events|stroke-miterlimit|role|aria-[a-z]+|font-family)="[^"]*"'
        r'| font-weight="normal"| opacity="1"| stroke-width="1"',
        "",
        short,
    )
    short = re.sub(r'<path d="(?:M0,0h0v0h0Z)?"(?: display="none")?/>', "", short)
    while (emptied := short.replace("<g></g>", "")) != short:
        short = emptied
    return short.replace("<svg ", '<svg font-family="sans-serif" ', 1)


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}".removesuffix(".0")
