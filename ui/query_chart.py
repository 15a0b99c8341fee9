"""A query's answer as a chart: one column against another, a bar or a point a row."""

from __future__ import annotations

import altair as alt
import pandas as pd
import streamlit as st

from ui.wording import number

MOST_BARS = 40
_ROW = "_row"


def show(shown: pd.DataFrame, numeric: list[str], words: list[str]) -> None:
    """One column against another: bars by name or by few numbers, else points."""
    first = (words or numeric)[0]
    with st.container(horizontal=True):
        across = st.selectbox("Across", [*words, *numeric], key="_across", width=240)
        # Not against itself, unless there is nothing else.
        other = next((rank for rank, name in enumerate(numeric) if name != first), 0)
        up = st.selectbox("Up", numeric, other, key="_up", width=240)
    if across in words:
        top = shown.nlargest(MOST_BARS, up) if len(shown) > MOST_BARS else shown
        if len(shown) > MOST_BARS:
            st.caption(f"The {number(MOST_BARS)} largest of {number(len(shown))}.")
        named = top.assign(**{_ROW: one_name_a_row(top, across, words)})
        x = alt.X(f"{_field(up)}:Q", title=up)
        y = alt.Y(f"{_ROW}:N", sort=None, title=None, axis=alt.Axis(labelLimit=320))
        chart = (
            alt.Chart(named)
            .mark_bar()
            .encode(x=x, y=y, tooltip=[alt.Tooltip(_ROW, title=across), _field(up)])
        )
        st.altair_chart(chart, height=max(160, 24 * len(top) + 60), alt=f"{up} by {across}")
        return
    if shown[across].is_unique and len(shown) <= MOST_BARS:
        bars = alt.Chart(shown).mark_bar(cornerRadiusTopLeft=2, cornerRadiusTopRight=2)
        chart = bars.encode(
            x=alt.X(f"{_field(across)}:O", title=across, axis=alt.Axis(labelAngle=0, labelOverlap=True)),
            y=alt.Y(f"{_field(up)}:Q", title=up),
            tooltip=[_field(across), _field(up)],
        )
        st.altair_chart(chart, height=360, alt=f"{up} by {across}")
        return
    points = alt.Chart(shown.head(5000)).mark_circle(size=46, opacity=0.7)
    chart = points.encode(
        x=alt.X(f"{_field(across)}:Q", title=across),
        y=alt.Y(f"{_field(up)}:Q", title=up),
        tooltip=[_field(name) for name in shown.columns[:6]],
    )
    st.altair_chart(chart, height=360, alt=f"{up} against {across}")


def one_name_a_row(rows: pd.DataFrame, across: str, words: list[str]) -> list[str]:
    """What each bar is called: bars of one name would be stacked, to a figure that no row has."""
    names = rows[across].astype(str)
    if not names.is_unique:
        columns = [across, *(name for name in words if name != across)]
        names = rows[columns].astype(str).agg(" · ".join, axis=1)
    if not names.is_unique:
        names = names + [f" · {number(place + 1)}" for place in range(len(names))]
    return names.tolist()


def _field(name: str) -> str:
    """A column's name as Vega takes it: dots and brackets would be paths."""
    for sign in ".[]:":
        name = name.replace(sign, f"\\{sign}")
    return name
