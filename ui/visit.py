"""What lasts as long as one visit of a page, and what a click asks for meanwhile.

A callback runs before the page, with what the last whole run gave it: the value of a field that is left by the very click
is not in that, and a callback may open no page. So it only notes what was clicked, and the page does it. A click is meant
for the run that it causes, or for the one that takes that run's place: if that ends without having come so far, because the
API is away, the click is forgotten. Otherwise a page would open, or a job start, when nobody thinks of it any more.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

_PLACE, _KEPT, _CLICKED, _OPEN = "_visit_place", "_visit_kept", "_visit_clicked", "_visit_open"


def begin(*place: str | None) -> None:
    """A run of a page begins; on another page, or with another subject, nothing of the last visit is left."""
    if st.session_state.get(_PLACE) != place:
        end()
        st.session_state.pop(_KEPT, None)
        st.session_state[_PLACE] = place


def end() -> None:
    """A run came to its end: what was clicked before it is done or was not to be done."""
    st.session_state.pop(_CLICKED, None)


def forget() -> None:
    """Nothing that was clicked is to be done any more."""
    end()
    st.session_state.pop(_OPEN, None)


def keep(name: str, value: object) -> None:
    """Remember something until the visit is over."""
    st.session_state.setdefault(_KEPT, {})[name] = value


def kept(name: str) -> Any:
    """What is remembered under that name, or None."""
    return st.session_state.get(_KEPT, {}).get(name)


def drop(name: str) -> None:
    """Remember it no longer."""
    st.session_state.get(_KEPT, {}).pop(name, None)


def click(name: str) -> None:
    """Note a click, for the page to act on; for ``on_click``."""
    st.session_state.setdefault(_CLICKED, set()).add(name)


def clicked(name: str) -> bool:
    """Whether to act on a click now: once, however often the page runs."""
    waiting: set[str] = st.session_state.get(_CLICKED, set())
    found = name in waiting
    waiting.discard(name)
    return found


def open_next(page: str, param: str, value: str) -> None:
    """Have the run that follows this callback lead to a page."""
    st.session_state[_OPEN] = (page, {param: value})


def go() -> None:
    """Open the page that a callback asked for: before anything is fetched that might fail."""
    chosen: tuple[str, dict[str, str]] | None = st.session_state.pop(_OPEN, None)
    if chosen is not None:
        st.switch_page(chosen[0], query_params=chosen[1])
