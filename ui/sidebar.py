"""The foot of the sidebar: who acts, what they may do, whether the API answers."""

from __future__ import annotations

import streamlit as st

from ui import access, client, dialogs
from ui.wording import literal, plain

SECONDS = 5
SCOPES = {
    "read": ("visibility", "read only", "This key looks; it changes nothing."),
    "operate": ("tune", "scope operate", "This key changes brokers, runs rebuilds and simulations."),
    "admin": ("shield_person", "scope admin", "This key may do everything, keys and policy too."),
}


def show() -> None:
    """Draw it into the sidebar."""
    with st.sidebar, st.container(key="identity"):
        known = access.identity()
        if known is not None:
            icon, name, meaning = SCOPES.get(known["scope"], ("key", known["scope"], ""))
            st.markdown(f":material/person: {literal(known['name'])}", help="The actor of what you change")
            st.markdown(f":material/{icon}: {name}", help=meaning)
        _state(known is None)
        if st.button("Use another key", icon=":material/key:", type="tertiary"):
            access.forget()
            st.rerun()


@st.fragment(run_every=SECONDS)
def _state(nameless: bool) -> None:
    """Whether the API answers; once it says whose key it is, the page learns what may be changed."""
    key = access.key()
    if key is None:
        return
    try:
        client.overlay(key)
    except client.ApiError as error:
        st.markdown(f":material/cloud_off: {plain(error.title)}")
        return
    st.markdown(":material/cloud_done: API answers")
    if nameless and access.identity() is not None and not dialogs.is_open():
        st.rerun()
