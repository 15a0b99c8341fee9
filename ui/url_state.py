"""State in the URL, so that a link, a reload and Back show the same thing.

One widget, one query parameter: ``sync`` before the widget, ``push`` in its ``on_change``. Streamlit's own
``bind="query-params"`` is not used: once anything else writes the parameters too, the URL jumps back to the bound
widget's old value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

T = TypeVar("T")
_SEEN = "_url"


def sync(name: str, default: T, parse: Callable[[str], T]) -> None:
    """Take the parameter into ``session_state`` when the URL says something new (load, link, Back).

    ``parse`` raises ValueError for what it does not accept; the default is shown then.
    """
    seen: dict[str, str | None] = st.session_state.setdefault(_SEEN, {})
    raw = st.query_params.get(name)
    if name not in st.session_state or seen.get(name, "") != raw:
        value = default
        if raw is not None:
            try:
                value = parse(raw)
            except ValueError:
                value = default
        st.session_state[name] = value
        seen[name] = raw


def push(name: str, default: object, *drop: str) -> None:
    """Write the widget's value to the URL; ``drop`` names parameters that it makes meaningless (the page)."""
    seen: dict[str, str | None] = st.session_state.setdefault(_SEEN, {})
    params = {
        key: value for key, value in st.query_params.to_dict().items() if key != name and key not in drop
    }
    value = st.session_state[name]
    if value != default:
        params[name] = str(value)
    st.query_params.from_dict(params)
    seen[name] = params.get(name)


def one_of(*accepted: str) -> Callable[[str], str]:
    """A parser for a parameter with a fixed set of values."""

    def parse(raw: str) -> str:
        if raw not in accepted:
            raise ValueError(raw)
        return raw

    return parse


def positive(raw: str) -> int:
    """A parser for counters that begin at 1, such as a page."""
    value = int(raw)
    if value < 1:
        raise ValueError(raw)
    return value
