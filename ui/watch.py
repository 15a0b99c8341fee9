"""Pages that show one state of the overlay, and are drawn again when it moves on or the theme changes."""

from __future__ import annotations

import streamlit as st

from ui import client, dialogs, palette
from ui.palette import Theme
from ui.wording import number

SECONDS = 2
_FOLLOWED = "_followed"


@st.fragment(run_every=SECONDS)
def follow(key: str, version: int, theme: Theme) -> None:
    """Run the page again when there is reason to: neither a change nor the theme menu does so by itself.

    While the API is away, what is on the page stays, and a line says how old it is.
    """
    if dialogs.is_open():
        return
    if palette.theme() != theme:
        st.rerun()
    try:
        now = client.overlay(key)["version"]
    except client.ApiError as error:
        st.caption(f":material/cloud_off: {error.title}. Shown is version {number(version)}.")
        return
    if now != version and st.session_state.get(_FOLLOWED) != now:
        # Once for each version: an answer that lags behind must not make the page run in circles.
        st.session_state[_FOLLOWED] = now
        client.forget()
        st.rerun()


@st.fragment(run_every=SECONDS)
def follow_theme(theme: Theme) -> None:
    """For pages whose subject does not move: only their colours do."""
    if palette.theme() != theme and not dialogs.is_open():
        st.rerun()
