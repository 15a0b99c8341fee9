"""Topics: which ones are weak? Find, sort, open one."""

from __future__ import annotations

import functools

import streamlit as st

from ui import access, client, paged, palette, states, topic_table, url_state, watch
from ui.answers import TopicPage

DEFAULT_SORT = "-subscribers"
SORTS = {
    "-subscribers": "Most subscribers",
    "subscribers": "Fewest subscribers",
    "name": "Name, A to Z",
    "-name": "Name, Z to A",
    "-components": "Most components",
    "components": "Fewest components",
    "-diameter": "Largest diameter",
    "diameter": "Smallest diameter",
    "-articulation_brokers": "Most articulation brokers",
    "articulation_brokers": "Fewest articulation brokers",
}
SORT_BY = paged.sorter(DEFAULT_SORT, ("name",))


def sort_by(column: str) -> None:
    """As every list, where the API sorts by that column."""
    if column in SORTS:
        SORT_BY(column)


def switches() -> None:
    """What else cuts the list down."""
    st.toggle(
        "Problems only",
        key="problems",
        on_change=url_state.push,
        args=("problems", False, "page"),
        help="Topics that are apart, or less connected than the policy asks",
    )


@st.fragment
@states.shown(retry=True)
def found() -> None:
    """A fragment, so that typing redraws nothing else."""
    key = access.required_key()
    overlay = client.overlay(key)
    url_state.sync("problems", False, url_state.whether)
    problems = bool(st.session_state["problems"])
    paged.show(
        "topic",
        SORTS,
        DEFAULT_SORT,
        # The file of all rows is made where there is no session: the key is bound now.
        functools.partial(_page, key, problems, overlay["version"]),
        lambda rows, name: topic_table.show(rows, name, on_column=sort_by, name_width=530),
        overlay=overlay,
        most=functools.partial(client.rows, key),
        remember="_topics_params",
        filtered="apart or less connected than the policy asks" if problems else "",
        controls=switches,
        unsorted="Connectivity",
    )
    watch.follow(key, overlay["version"], palette.theme())


def _page(
    key: str,
    problems: bool,
    version: int,
    query: str,
    sort: str,
    limit: int,
    offset: int | None,
    after: str | None,
) -> TopicPage:
    return client.topics(key, query, sort, limit, offset, after, problems, version)


st.title("Topics", anchor=False)
found()
