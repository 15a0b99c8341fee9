"""One dialog at a time, left alone while it is open.

Pages run again by themselves when the overlay moves or a job ends, and a run of the page closes its dialog; somebody who
reads a plan or types a name must not lose it that way. So whatever runs pages again asks here first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import streamlit as st

_OPEN = "_dialog_open"


def show(
    title: str, body: Callable[..., None], *given: object, width: Literal["small", "large"] = "small"
) -> None:
    """Open a dialog."""
    st.session_state[_OPEN] = True
    st.dialog(title, width=width, on_dismiss=closed)(body)(*given)


def is_open() -> bool:
    """Whether somebody is busy in a dialog."""
    return bool(st.session_state.get(_OPEN))


def closed() -> None:
    """It is gone: dismissed, done with, or the page runs anew."""
    st.session_state.pop(_OPEN, None)
