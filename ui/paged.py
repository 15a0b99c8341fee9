"""A list that the API searches, sorts and cuts into pages: never more than one page of it is asked for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from ui import listing, states, url_state, visit
from ui.answers import Overlay
from ui.wording import count, number

PAGE_ROWS = 50
FILE_ROWS = 500
"""Of a file at once, unless the installation gives less."""

Fetch = Callable[[str, str, int, int | None, str | None], Any]
"""Query, sort, limit, and offset or cursor to a page of the API."""


def sorter(default: str, names: tuple[str, ...]) -> Callable[[str], None]:
    """What a click on a header does: sort all rows by it, largest first (names A to Z); a second click turns round."""

    def sort_by(column: str) -> None:
        first = column if column in names else f"-{column}"
        second = f"-{column}" if column in names else column
        st.session_state["sort"] = second if st.session_state.get("sort") == first else first
        url_state.push("sort", default, "page")

    return sort_by


def show(
    word: str,
    sorts: Mapping[str, str],
    default_sort: str,
    fetch: Fetch,
    table: Callable[[list[Any], str], None],
    *,
    overlay: Overlay,
    most: Callable[[int], int],
    remember: str,
    filtered: str = "",
    controls: Callable[[], None] | None = None,
    unsorted: str = "",
) -> None:
    """Search, order, page and table; ``filtered`` says in words what else the list is cut down to.

    ``most`` says how many rows the API gives at once of so many, ``unsorted`` is the header that it does not sort by.
    """
    url_state.sync("q", "", str)
    url_state.sync("sort", default_sort, url_state.one_of(*sorts))
    url_state.sync("page", 1, url_state.positive)
    top = st.container(horizontal=True, vertical_alignment="bottom")
    with top:
        query = st.text_input(
            f"Find a {word}",
            key="q",
            type="search",
            live="300ms",
            placeholder=f"Part of its {'id' if word == 'broker' else 'name'}",
            width=380,
            on_change=url_state.push,
            args=("q", "", "page"),
        )
        sort = st.selectbox(
            "Sort by",
            list(sorts),
            key="sort",
            format_func=sorts.__getitem__,
            width=250,
            on_change=url_state.push,
            args=("sort", default_sort, "page"),
        )
        if controls is not None:
            controls()
    query = (query or "").strip()
    page = int(st.session_state["page"])
    rows = most(PAGE_ROWS)
    answer = fetch(query, sort, rows, (page - 1) * rows, None)
    pages = max(1, -(-answer["total"] // rows))
    if page > pages:
        # A link from before rows went away, or a search that left fewer.
        page = pages
        st.session_state["page"] = page
        answer = fetch(query, sort, rows, (page - 1) * rows, None)
    # Details link back to the list as it was.
    st.session_state[remember] = url_state.params()

    if not answer["items"]:
        if query:
            states.no_match(word, query)
        elif filtered:
            st.success(f"No {word} {filtered}.", icon=":material/check_circle:")
        elif overlay["brokers"]:
            states.no_topics()
        else:
            states.no_brokers()
        return
    with top:
        opener(word, [str(row["id" if word == "broker" else "name"]) for row in answer["items"]])
    first = (page - 1) * rows + 1
    last = first + len(answer["items"]) - 1
    shown = f"{first:,}–{last:,} of " if pages > 1 else ""
    found = " found" if query else ""
    which = f" {filtered}" if filtered else ""
    headers = f"a header other than {unsorted}" if unsorted else "a header"
    st.caption(
        f"{shown}{count(answer['total'], word)}{found}{which} at version {number(overlay['version'])}. "
        f"Click a name to open it, {headers} to sort."
    )
    table(answer["items"], f"{word}-{query}-{sort}-{page}-{filtered}")
    with st.container(horizontal=True, vertical_alignment="center"):
        if pages > 1:
            st.pagination(pages, key="page", width=440, on_change=url_state.push, args=("page", 1))
        listing.whole_as_csv(
            f"All {word}s found as CSV" if query else f"All {word}s as CSV",
            functools.partial(_all, fetch, query, sort, most),
            f"{word}s.csv",
        )


def opener(word: str, names: list[str]) -> None:
    """A way to open a row without a mouse: Enter does not press the table's names."""
    key = f"_open-{word}"

    def chosen() -> None:
        name = st.session_state[key]
        if name is not None:
            visit.open_next(f"views/{word}.py", word, name)

    st.selectbox(
        f"Open a {word}",
        names,
        index=None,
        key=key,
        placeholder="Type, then Enter",
        width=250,
        on_change=chosen,
        help="Of the rows on show, for the keyboard",
    )


def _all(fetch: Fetch, query: str, sort: str, most: Callable[[int], int]) -> pd.DataFrame:
    """Every row of the list, a page at a time: each after the last row seen, wherever that stands by then."""
    rows: list[Any] = []
    at_once, after = most(FILE_ROWS), None
    while True:
        found = fetch(query, sort, at_once, None, after)
        rows += found["items"]
        after = found["next"]
        if not after:
            return pd.DataFrame(rows)
