"""Pages that show one state of the overlay, and are drawn again when it moves on or the theme changes."""

from __future__ import annotations

import time

import streamlit as st

from ui import client, dialogs, palette
from ui.palette import Theme
from ui.wording import number, plain

SECONDS = 2
LAG_SECONDS = 6
"""How long an answer may be remembered that was on its way while the version moved, and more."""
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
        st.caption(f":material/cloud_off: {plain(error.title)}. Shown is version {number(version)}.")
        return
    followed, since = st.session_state.get(_FOLLOWED, (None, 0.0))
    if now != version and (followed != now or time.monotonic() - since > LAG_SECONDS):
        # Once for each version, and seldom again: an answer that lags behind must not make the page run in circles.
        st.session_state[_FOLLOWED] = now, time.monotonic()
        client.moved_on(now)
        st.rerun()


@st.fragment(run_every=SECONDS)
def offer(key: str, version: int) -> None:
    """Say that there is more by now: for a page whose rows would move away under the eyes that read them."""
    try:
        now = client.overlay(key)["version"]
    except client.ApiError as error:
        st.caption(f":material/cloud_off: {plain(error.title)}. Shown is version {number(version)}.")
        return
    if now == version:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f":material/update: The overlay moved on to version {number(now)}.")
        if st.button("Show it", icon=":material/refresh:", type="tertiary"):
            client.moved_on(now)
            st.rerun()


@st.fragment(run_every=SECONDS)
def follow_theme(theme: Theme) -> None:
    """For pages whose subject does not move: only their colours do."""
    if palette.theme() != theme and not dialogs.is_open():
        st.rerun()
