"""Brokers: who has most links, whose loss breaks most? Find, sort, open one."""

from __future__ import annotations

import functools

import streamlit as st

from ui import access, broker_table, client, paged, palette, states, watch

DEFAULT_SORT = "-degree"
SORTS = {
    "-degree": "Most links",
    "degree": "Fewest links",
    "-blast_radius": "Largest blast radius",
    "blast_radius": "Smallest blast radius",
    "-topics": "Most topics",
    "topics": "Fewest topics",
    "-backups": "Most backups",
    "backups": "Fewest backups",
    "-primaries": "Most primaries",
    "primaries": "Fewest primaries",
    "id": "Id, A to Z",
    "-id": "Id, Z to A",
}
SORT_BY = paged.sorter(DEFAULT_SORT, ("id",))


@st.fragment
@states.shown(retry=True)
def found() -> None:
    """A fragment, so that typing redraws nothing else."""
    key = access.required_key()
    overlay = client.overlay(key)
    paged.show(
        "broker",
        SORTS,
        DEFAULT_SORT,
        # The file of all rows is made where there is no session: the key is bound now.
        functools.partial(client.brokers, key, at=overlay["version"]),
        lambda rows, name: broker_table.show(rows, name, on_column=SORT_BY, name_width=560),
        overlay=overlay,
        most=functools.partial(client.rows, key),
        remember="_brokers_params",
    )
    watch.follow(key, overlay["version"], palette.theme())


st.title("Brokers", anchor=False)
found()
