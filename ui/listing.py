"""A table whose names open pages.

The name is a button of the table: it opens on a click, and moving through the table with Tab and the arrow keys opens
nothing; Enter does not press it, so a list has a select box for the keyboard (ui/paged.py). A click on a header sorts all rows by asking the API, where the page says how.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import pandas as pd
import streamlit as st

from ui import visit
from ui.wording import ending

ROW_HEIGHT = 28
HEADER_HEIGHT = 36
# Of a name in the table, in pixels: letters are of many widths, so this is what ids need on average.
CHARACTER = 6.0
PADDING = 16


def show(
    frame: pd.DataFrame,
    key: str,
    *,
    opens: str,
    page: str = "",
    param: str = "",
    columns: Sequence[str],
    config: Mapping[str, Any],
    name_label: str,
    name_width: int = 300,
    on_column: Callable[[str], None] | None = None,
    max_height: int | None = None,
    ids: Sequence[str] | None = None,
    act: Callable[[int], None] | None = None,
    alt: str,
) -> None:
    """Draw the rows; the name in column ``opens`` (or its row's of ``ids``) leads to ``page`` as ``param``.

    A name that is longer than its column is shown by its end. With ``act`` nothing is opened: it is called with the
    number of the row instead.
    """
    button = f"{key}-open"
    names = [str(name) for name in frame[opens]]
    fitting = int((name_width - PADDING) / CHARACTER)
    frame = frame.assign(**{opens: [ending(name, fitting) for name in names]})

    def opened() -> None:
        row = st.session_state[button]["row"]
        if act is not None:
            act(row)
            return
        value = names[row] if ids is None else ids[row]
        visit.open_next(page, param, value)

    def sorted_by() -> None:
        selected = st.session_state[key]["selection"]["columns"]
        if selected and on_column is not None:
            on_column(selected[0])

    whole = ROW_HEIGHT * len(frame) + HEADER_HEIGHT
    selectable: dict[str, Any] = {}
    if on_column is not None:
        # It also turns off the browser's own sorting, which would sort this page's rows only.
        mode: Literal["single-column"] = "single-column"
        selectable = {"on_select": sorted_by, "selection_mode": mode}
    # Its names may be shortened, so what the table itself would save is not what it says (style.css takes that away).
    st.container(key=f"list-{key}").dataframe(
        frame,
        key=key,
        hide_index=True,
        row_height=ROW_HEIGHT,
        height=min(whole, max_height) if max_height else whole,
        column_order=columns,
        column_config={
            **config,
            opens: st.column_config.ButtonColumn(
                name_label, type="tertiary", alignment="left", width=name_width, on_click=opened, key=button
            ),
        },
        placeholder="–",
        alt=alt,
        **selectable,
    )


def plain(
    frame: pd.DataFrame, config: Mapping[str, Any], *, alt: str, max_height: int = 460, **more: Any
) -> None:
    """A table that leads nowhere, whole: the browser sorts it."""
    st.dataframe(
        frame,
        hide_index=True,
        row_height=ROW_HEIGHT,
        height=min(max_height, ROW_HEIGHT * len(frame) + HEADER_HEIGHT),
        column_config=dict(config),
        placeholder="–",
        alt=alt,
        **more,
    )


def whole(label: str, width: int = 92, help_text: str | None = None) -> Any:
    """A column of whole numbers."""
    return st.column_config.NumberColumn(label, format="localized", width=width, help=help_text)


def text(
    label: str,
    width: int | Literal["small", "medium", "large"] | None = None,
    help_text: str | None = None,
    alignment: Literal["left", "right"] = "left",
) -> Any:
    """A column of words."""
    return st.column_config.TextColumn(label, width=width, help=help_text, alignment=alignment)


def as_csv(label: str, frame: pd.DataFrame, file_name: str, key: str | None = None) -> None:
    """The rows as a file."""
    st.download_button(
        label,
        frame.to_csv(index=False).encode(),
        file_name=file_name,
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
        key=key,
    )


def whole_as_csv(label: str, rows: Callable[[], pd.DataFrame], file_name: str) -> None:
    """All rows of a long list as a file, fetched page by page only when somebody wants it.

    ``rows`` is called in a thread without a session: what it needs of one, such as the key, is bound beforehand.
    """
    st.download_button(
        label,
        lambda: rows().to_csv(index=False).encode(),
        file_name=file_name,
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
    )
