"""The dialog before a job touches the live overlay: what it will do, and a word to type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from ui import client, dialogs, figures, states
from ui.wording import literal

_STATE = "_confirm"


@dataclass(frozen=True)
class Step:
    """What is about to be done; ``done`` is said on the page afterwards."""

    title: str
    meaning: str
    typed: str
    button: str
    done: str
    act: Callable[[], None]
    numbers: Sequence[figures.Figure] = ()


@dataclass
class _Asked:
    refused: client.ApiError | None = None
    done: bool = False


def ask(step: Step) -> None:
    """Open the dialog."""
    st.session_state[_STATE] = _Asked()
    dialogs.show(step.title, body, step)


@states.in_dialog
def body(step: Step) -> None:
    """The dialog's content."""
    asked: _Asked = st.session_state.setdefault(_STATE, _Asked())
    if asked.done:
        st.session_state.pop(_STATE)
        dialogs.closed()
        st.rerun()
    if asked.refused is not None:
        states.action_failed(asked.refused)
    st.markdown(step.meaning)
    if step.numbers:
        figures.show(step.numbers)
    typed = st.text_input(
        f"To go on, type {literal(step.typed)}", key="_confirm_typed", live=True, autocomplete="off"
    )
    st.button(
        step.button,
        type="primary",
        key="_confirm_button",
        disabled=(typed or "").strip() != step.typed,
        on_click=_do,
        args=(step, asked),
    )


def _do(step: Step, asked: _Asked) -> None:
    asked.refused = None
    try:
        step.act()
    except client.ApiError as error:
        asked.refused = error
        return
    client.forget()
    states.tell(step.done)
    asked.done = True
