"""State in the URL, so that a link, a reload and Back show the same thing.

One widget, one query parameter: ``sync`` before the widget, ``push`` in its ``on_change``. The widget's key is the
parameter's name, unless widgets of different kinds share the name: then each has a ``key`` of its own. Streamlit's own
``bind="query-params"`` is not used: once anything else writes the parameters too, the URL jumps back to the bound
widget's old value.

A timer of the page that asks just before the browser hears of a new value brings the old one along. So what was replaced a
moment ago is no news; in case it is (somebody went Back at once), the page looks again when that moment is over.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import streamlit as st

from ui import states, visit

T = TypeVar("T")
N = TypeVar("N", int, float)
MOST = (1 << 53) - 1
"""The largest number that a browser tells apart from its neighbours."""
LATE_SECONDS = 3.0
"""How long a browser may take to hear of a new value."""
_SEEN, _REPLACED = "_url", "url_replaced"


def sync(name: str, default: T, parse: Callable[[str], T], key: str | None = None) -> None:
    """Take the parameter into ``session_state`` when the URL says something new (load, link, Back).

    ``parse`` raises ValueError for what it does not accept; the default is shown then.
    """
    key = key or name
    seen: dict[str, str | None] = st.session_state.setdefault(_SEEN, {})
    raw = read(name)
    if seen.get(key, "") != raw or not _accepted(key, parse):
        value = default
        if raw is not None:
            try:
                value = parse(raw)
            except ValueError:
                value = default
        st.session_state[key] = value
        seen[key] = raw


def _accepted(key: str, parse: Callable[[str], T]) -> bool:
    """Whether the session's value is one of this page: another page may have the same parameter."""
    if key not in st.session_state:
        return False
    try:
        parse(str(st.session_state[key]))
    except ValueError:
        return False
    return True


def push(
    name: str,
    default: object,
    *drop: str,
    write: Callable[[Any], str] = str,
    key: str | None = None,
    also: Sequence[str] = (),
) -> None:
    """Write the widget's value to the URL; ``drop`` names parameters that it makes meaningless (the page).

    An empty field stands for the default. ``also`` names others that a link has to carry, default or not: written at
    once, for each write is a step of Back.
    """
    key = key or name
    seen: dict[str, str | None] = st.session_state.setdefault(_SEEN, {})
    given = {other: value for other, value in params().items() if other != name and other not in drop}
    value = st.session_state[key]
    if value is not None and value != default:
        given[name] = write(value)
    for other in also:
        given[other] = seen[other] = str(st.session_state[other])
    _write(given)
    seen[key] = given.get(name)


def read(name: str) -> str | None:
    """A parameter as it is, whatever the browser has heard of it."""
    return params().get(name)


def write(name: str, value: str | None) -> None:
    """Another value of a parameter, or none: for what is no widget of Streamlit's."""
    others = {other: one for other, one in params().items() if other != name}
    _write(others if value is None else others | {name: value})


Replaced = dict[str, tuple[set[str | None], str | None, float]]
"""By parameter: the values that were replaced, the one that stands, and since when."""


def _replaced() -> Replaced:
    found: Replaced = visit.kept(_REPLACED) or {}
    return {name: one for name, one in found.items() if time.monotonic() - one[2] < LATE_SECONDS}


def params() -> dict[str, str]:
    """All of them: what the browser says, but for what it said before it heard of the last value."""
    said = st.query_params.to_dict()
    for name, (before, now, _) in _replaced().items():
        if said.get(name) != now and said.get(name) in before:
            said.pop(name, None)
            if now is not None:
                said[name] = now
            states.again_in(LATE_SECONDS)
    return said


def _write(wanted: dict[str, str]) -> None:
    was, known = params(), _replaced()
    for name in {*was, *wanted}:
        now = wanted.get(name)
        if was.get(name) != now:
            before = known[name][0] if name in known else set()
            known[name] = (before | {was.get(name)}) - {now}, now, time.monotonic()
    visit.keep(_REPLACED, known)
    st.query_params.from_dict(wanted)


def one_of(*accepted: str) -> Callable[[str], str]:
    """A parser for a parameter with a fixed set of values."""

    def parse(raw: str) -> str:
        if raw not in accepted:
            raise ValueError(raw)
        return raw

    return parse


def whether(raw: str) -> bool:
    """A parser for switches."""
    if raw not in ("True", "False"):
        raise ValueError(raw)
    return raw == "True"


def positive(raw: str) -> int:
    """A parser for counters that begin at 1, such as a page."""
    value = int(raw)
    if not 1 <= value <= MOST:
        raise ValueError(raw)
    return value


def between(kind: type[N], low: float | None, high: float | None) -> Callable[[str], N]:
    """A parser for numbers with bounds, where a bound is there."""

    def parse(raw: str) -> N:
        value = kind(raw)
        least, most = -math.inf if low is None else low, math.inf if high is None else high
        if not math.isfinite(value) or not least <= value <= most:
            raise ValueError(raw)
        return value

    return parse
