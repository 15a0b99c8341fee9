"""The console's charts: degree bars, lines of runs and versions, before/peak/after.

A run is told apart by colour and by dash; no chart is wider than its column or lower than its axis titles need.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from ui import palette
from ui.answers import RebuildFigures

HEIGHT = 240
MAX_BARS = 30
STAGES = ("before", "peak", "after")
FINEST = -1
"""The lowest power of ten that a logarithmic line tells from nothing: a plan takes tenths of milliseconds."""
SMALL = 0.01
"""A bar of less than this share of the largest is too low to be seen."""


def stage_colour(*, legend: bool) -> alt.Color:
    """A stage has one colour, whatever charts of a page it is in."""
    colours = palette.current().components[: len(STAGES)]
    return alt.Color(
        "stage:N",
        sort=list(STAGES),
        scale=alt.Scale(domain=list(STAGES), range=list(colours)),
        legend=alt.Legend(title=None, orient="top", values=["before", "after"]) if legend else None,
    )


def lopsided(*histograms: Iterable[tuple[int, int]]) -> bool:
    """Whether a bar that is there would not be seen beside the largest: then a logarithmic axis is worth a switch."""
    tables = [bars(histogram)["brokers"] for histogram in histograms]
    drawn = [int(value) for table in tables for value in table if value]
    return bool(drawn) and min(drawn) < SMALL * max(drawn)


def bars(histogram: Iterable[tuple[int, int]]) -> pd.DataFrame:
    """The degree histogram in at most 30 bars; bars of several degrees are named by their range."""
    histogram = [(int(degree), int(brokers)) for degree, brokers in histogram]
    if not histogram:
        return pd.DataFrame({"degree": [], "brokers": [], "first": []})
    lowest, highest = min(d for d, _ in histogram), max(d for d, _ in histogram)
    width = -(-(highest - lowest + 1) // MAX_BARS)
    sums: dict[int, int] = dict.fromkeys(range(lowest, highest + 1, width), 0)
    for value, brokers in histogram:
        sums[lowest + (value - lowest) // width * width] += brokers
    names = [str(first) if width == 1 else f"{first}–{min(first + width - 1, highest)}" for first in sums]
    return pd.DataFrame({"degree": names, "brokers": list(sums.values()), "first": list(sums)})


def degrees(
    histogram: Iterable[tuple[int, int]], key: str, height: int = 290, *, logarithmic: bool = False
) -> None:
    """How many brokers have how many links; on a logarithmic axis the few with many links show too."""
    table = bars(histogram)
    every = max(1, -(-len(table) // 10))
    chart = (
        alt.Chart(table)
        .mark_bar(cornerRadiusTopLeft=2, cornerRadiusTopRight=2)
        .encode(
            x=alt.X(
                "degree:N",
                sort=alt.EncodingSortField("first"),
                title="Degree (links of a broker)",
                axis=alt.Axis(labelAngle=0, values=list(table["degree"][::every])),
            ),
            y=alt.Y(
                "brokers:Q",
                title="Brokers",
                scale=_counted(table["brokers"], logarithmic),
                axis=_counts(table["brokers"], logarithmic),
            ),
            tooltip=[
                alt.Tooltip("degree:N", title="Degree"),
                alt.Tooltip("brokers:Q", title="Brokers", format=",d"),
            ],
        )
    )
    st.altair_chart(chart, height=height, key=key, alt="Number of brokers by degree")


def _counted(values: pd.Series[int], logarithmic: bool) -> alt.Scale:
    return alt.Scale(type="symlog", domain=_ends(values)) if logarithmic else alt.Scale(nice=5)


def _counts(values: pd.Series[int], logarithmic: bool) -> alt.Axis:
    """Ticks of whole numbers, of a logarithmic axis one a power."""
    if logarithmic:
        return alt.Axis(format=",d", values=_powers(float(values.max())))
    return alt.Axis(format=",d", tickMinStep=1, tickCount=5)


def _ends(values: pd.Series[Any], least: int = 0) -> list[float]:
    """From nothing to a tick above all values."""
    powers = _powers(float(values.max()), least)
    return [powers[0], powers[-1]]


def lines(
    table: pd.DataFrame,
    x: str,
    y: str,
    *,
    key: str,
    x_title: str,
    y_title: str,
    y_format: str = ",.2f",
    zero: bool = False,
    logarithmic: bool = False,
    headed: bool = False,
    x_domain: tuple[int, int] | None = None,
    height: int = HEIGHT,
) -> None:
    """One line a run (column ``run``), each with its colour and its dash."""
    runs = list(dict.fromkeys(table["run"]))
    dashes = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]]
    legend = alt.Legend(title=None, orient="top", symbolType="stroke") if len(runs) > 1 else None
    chart = (
        alt.Chart(table)
        .mark_line(point=len(table) < 40, strokeWidth=2)
        .encode(
            x=alt.X(
                f"{x}:Q",
                title=x_title,
                scale=alt.Scale(domain=list(x_domain)) if x_domain else alt.Scale(),
                axis=alt.Axis(format=",d", tickMinStep=1, tickCount=6),
            ),
            y=alt.Y(
                f"{y}:Q",
                # The heading says it; a title along the axis would only be cut off in a low chart.
                title=None if headed else y_title,
                # As many steps as ticks, so that the highest tick is above all values.
                scale=alt.Scale(type="symlog", constant=10.0**FINEST / 10, domain=_ends(table[y], FINEST))
                if logarithmic
                else alt.Scale(zero=zero, nice=4),
                axis=alt.Axis(format=y_format, values=_powers(float(table[y].max()), FINEST))
                if logarithmic
                else alt.Axis(format=y_format, tickCount=4),
            ),
            color=alt.Color("run:N", sort=runs, legend=legend),
            strokeDash=alt.StrokeDash(
                "run:N", sort=runs, legend=legend, scale=alt.Scale(domain=runs, range=dashes[: len(runs)])
            ),
            tooltip=[
                alt.Tooltip("run:N", title="Run"),
                alt.Tooltip(f"{x}:Q", title=x_title, format=",d"),
                alt.Tooltip(f"{y}:Q", title=y_title, format=y_format),
            ],
        )
    )
    st.altair_chart(chart, height=height, key=key, alt=f"{y_title} by {x_title.lower()}")


def _powers(highest: float, least: int = 0) -> list[float]:
    """Ticks of a logarithmic axis that begins at nothing: left to itself it names only its two ends."""
    return [0, *(10.0**power for power in range(least, math.ceil(math.log10(max(highest, 1.0))) + 1))]


def stages(before: RebuildFigures, peak: RebuildFigures, after: RebuildFigures, key: str) -> None:
    """Degrees and diameters before, at the peak and after, one small chart a figure."""
    figures = (
        ("average_degree", "Average degree", ",.2f"),
        ("max_degree", "Maximum degree", ",d"),
        ("mean_diameter", "Mean diameter", ",.2f"),
        ("max_diameter", "Largest diameter", ",d"),
    )
    with st.container(horizontal=True, gap="small"):
        for name, title, shape in figures:
            values = [figures_of.get(name) for figures_of in (before, peak, after)]
            table = pd.DataFrame({"stage": STAGES, "value": pd.Series(values, dtype="Float64")}).dropna()
            bounds = {
                stage
                for stage, of in zip(STAGES, (before, peak, after), strict=True)
                if "diameter" in name and of.get("diameters_sampled")
            }
            table["bound"] = ["≥ " if stage in bounds else "" for stage in table["stage"]]
            base = (
                alt.Chart(table, title=alt.TitleParams(title, fontSize=13, anchor="start"))
                .encode(
                    x=alt.X("stage:N", sort=list(STAGES), title=None, axis=alt.Axis(labelAngle=0)),
                    y=alt.Y("value:Q", title=None, scale=alt.Scale(nice=4), axis=alt.Axis(tickCount=4)),
                    tooltip=[
                        alt.Tooltip("stage:N", title="When"),
                        alt.Tooltip("said:N", title=title),
                    ],
                )
                .transform_calculate(said=f"datum.bound + format(datum.value, '{shape}')")
            )
            marks = base.mark_bar(cornerRadiusTopLeft=2, cornerRadiusTopRight=2).encode(
                color=stage_colour(legend=False)
            )
            text = base.mark_text(dy=-7, fontSize=12, color=palette.current().text).encode(
                text=alt.Text("said:N")
            )
            with st.container(key=f"stage-{name.replace('_', '-')}"):
                st.altair_chart(
                    marks + text,
                    height=HEIGHT,
                    key=f"{key}-{name}",
                    alt=f"{title} before, at the peak, after",
                )


def kept(curve: pd.DataFrame, key: str) -> None:
    """What keeping more links saves and costs: links changed and the average degree, by ``keep``."""
    with st.container(horizontal=True, gap="small"):
        for name, title, shape in (
            ("changed", "Links changed", ",d"),
            ("average_degree", "Average degree", ",.2f"),
        ):
            low, high = float(curve[name].min()), float(curve[name].max())
            # Bars begin at nothing; a degree that hardly moves is shown where it moves.
            room = max(0.05, (high - low) * 0.25)
            scale = (
                alt.Scale(zero=True, nice=4)
                if name == "changed"
                else alt.Scale(domain=[low - room, high + room])
            )
            base = alt.Chart(curve, title=alt.TitleParams(title, fontSize=13, anchor="start")).encode(
                x=alt.X("keep:O", title="Keep", axis=alt.Axis(labelAngle=0, format="~g")),
                y=alt.Y(f"{name}:Q", title=None, scale=scale, axis=alt.Axis(tickCount=4)),
                tooltip=[
                    alt.Tooltip("keep:Q", title="Keep"),
                    alt.Tooltip(f"{name}:Q", title=title, format=shape),
                ],
            )
            if name == "changed":
                marks = base.mark_bar(cornerRadiusTopLeft=2, cornerRadiusTopRight=2)
            else:
                marks = base.mark_line(strokeWidth=2, point=True)
            text = base.mark_text(dy=-9, fontSize=12, color=palette.current().text).encode(
                text=alt.Text(f"{name}:Q", format=shape)
            )
            with st.container(key=f"kept-{name.replace('_', '-')}"):
                st.altair_chart(marks + text, height=HEIGHT, key=f"{key}-{name}", alt=f"{title} by keep")


def histograms(before: RebuildFigures, after: RebuildFigures, key: str, *, logarithmic: bool = False) -> None:
    """The degrees before and after, bar beside bar."""
    joined = [*before["degree_histogram"], *after["degree_histogram"]]
    places = bars([(degree, 0) for degree, _ in joined])
    starts = list(places["first"])
    rows = []
    for stage, figures in (("before", before), ("after", after)):
        sums = dict.fromkeys(starts, 0)
        for degree, brokers in figures["degree_histogram"]:
            sums[max(start for start in starts if start <= degree)] += brokers
        rows += [
            {"stage": stage, "degree": name, "first": first, "brokers": sums[first]}
            for name, first in zip(places["degree"], starts, strict=True)
        ]
    every = max(1, -(-len(starts) // 10))
    table = pd.DataFrame(rows)
    chart = (
        alt.Chart(table)
        .mark_bar()
        .encode(
            x=alt.X(
                "degree:N",
                sort=alt.EncodingSortField("first"),
                title="Degree (links of a broker)",
                axis=alt.Axis(labelAngle=0, values=list(places["degree"][::every])),
            ),
            xOffset=alt.XOffset("stage:N", sort=["before", "after"]),
            y=alt.Y(
                "brokers:Q",
                title="Brokers",
                scale=_counted(table["brokers"], logarithmic),
                axis=_counts(table["brokers"], logarithmic),
            ),
            color=stage_colour(legend=True),
            tooltip=[
                "stage:N",
                alt.Tooltip("degree:N", title="Degree"),
                alt.Tooltip("brokers:Q", format=",d"),
            ],
        )
    )
    st.altair_chart(chart, height=HEIGHT + 40, key=key, alt="Degrees before and after")
