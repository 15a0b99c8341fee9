"""Brokers: who has most links, whose loss breaks most? Find, sort, open one."""

from __future__ import annotations

import functools

import streamlit as st

from ui import access, broker_table, client, paged, states

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
    paged.show(
        "broker",
        SORTS,
        DEFAULT_SORT,
        # The file of all rows is made where there is no session: the key is bound now.
        functools.partial(client.brokers, access.required_key()),
        lambda rows, key: broker_table.show(rows, key, on_column=SORT_BY, name_width=560),
        remember="_brokers_params",
    )


st.title("Brokers", anchor=False)
found()
