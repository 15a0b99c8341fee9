"""The table of topics, as the overview and the list show it: a click on a row opens the topic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import pandas as pd
import streamlit as st

from ui.answers import TopicRow

# The API's name of each column, in the order shown.
COLUMNS = ("name", "subscribers", "components", "diameter", "articulation_brokers")
ROW_HEIGHT = 28
_CHOSEN = "_topic_chosen"


def show(
    rows: list[TopicRow],
    key: str,
    *,
    on_column: Callable[[str], None] | None = None,
    columns: Sequence[str] = COLUMNS,
    name_width: int = 300,
) -> None:
    """Draw the rows; open the topic whose row was clicked, tell ``on_column`` which header was.

    The click is acted on once, in the callback's flag: a selection lives on in the session, so acting on the
    selection itself would undo Back.
    """
    chosen = st.session_state.pop(_CHOSEN, None)
    if chosen is not None:
        st.switch_page("views/topic.py", query_params={"topic": chosen})

    def clicked() -> None:
        selection = st.session_state[key]["selection"]
        if selection["cells"]:
            st.session_state[_CHOSEN] = rows[selection["cells"][0][0]]["name"]
        elif selection["columns"] and on_column is not None:
            on_column(selection["columns"][0])

    # Cells, not rows: those are chosen by a box at their left only, and people click the name.
    modes: list[Literal["single-cell", "single-column"]] = ["single-cell"]
    if on_column is not None:
        # It also turns off the browser's own sorting, which would sort this page's rows only.
        modes.append("single-column")
    st.dataframe(
        frame(rows),
        key=key,
        on_select=clicked,
        selection_mode=modes,
        hide_index=True,
        row_height=ROW_HEIGHT,
        height=ROW_HEIGHT * len(rows) + 36,
        column_order=columns,
        column_config=_column_config(name_width),
        placeholder="–",
        alt="Topics: subscribers, components, diameter, articulation brokers",
    )


def frame(rows: list[TopicRow]) -> pd.DataFrame:
    """The rows as a table; a topic that is apart has no diameter."""
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.astype(dict.fromkeys(COLUMNS[1:], "Int64"))


def _column_config(name_width: int) -> dict[str, Any]:
    """Widths in pixels, so that the headers are whole; what is left over goes to all columns."""
    number = st.column_config.NumberColumn
    return {
        "name": st.column_config.TextColumn("Topic", width=name_width),
        "subscribers": number("Subscribers", format="localized", width=92),
        "components": number("Components", format="localized", width=96),
        "diameter": number(
            "Diameter", format="localized", width=76, help="In links; a topic that is apart has none"
        ),
        "articulation_brokers": number(
            "Articulation",
            format="localized",
            width=94,
            help="Brokers whose loss alone would split the topic",
        ),
    }
