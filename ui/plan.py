"""Plans before actions: the dialog that shows what a change would do, and does it only when its name is typed.

The plan comes from the same call with ``?dry_run=true``. The change itself carries the plan's version (If-Match), so
what was read is what happens: if the overlay moved meanwhile, it is planned again, and done at once only when the new
plan has the very same links; otherwise nothing is done and the new plan is shown.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import pandas as pd
import streamlit as st

from ui import access, client, dialogs, figures, listing, states
from ui.answers import Lists, Plan
from ui.wording import links_changed, literal, number

_STATE = "_plan"
_ATTEMPTS = 5
MAX_TABLE_HEIGHT = 300
PRESS_AGAIN = "It may have been done all the same. Press again: it is done once at most."


@dataclass(frozen=True)
class Proposal:
    """A change that somebody thinks of: the call that would make it, and the words around it."""

    title: str
    meaning: str
    typed: str
    button: str
    done: str
    method: str
    path: str
    body: Any = None


@dataclass
class _Open:
    """The plan on show. The token makes a second press after a lost answer harmless."""

    proposal: Proposal
    plan: Plan
    token: str
    moved: bool = False
    refused: client.ApiError | None = None
    done: bool = False


def ask(proposal: Proposal) -> None:
    """Open the dialog with a new plan."""
    show(proposal.title, body, proposal)


def show(title: str, content: Callable[..., None], *given: object) -> None:
    """Open a dialog that comes to a plan; one read before, with its token, is not this one's."""
    st.session_state.pop(_STATE, None)
    dialogs.show(title, content, *given, width="large")


@states.in_dialog
def body(proposal: Proposal) -> None:
    """The dialog's content."""
    key = access.required_key()
    shown: _Open | None = st.session_state.get(_STATE)
    if shown is not None and shown.done:
        # Whatever is proposed by now: with what was done, a topic may no longer be new.
        st.session_state.pop(_STATE, None)
        dialogs.closed()
        st.rerun()
    if shown is None or shown.proposal != proposal:
        shown = _Open(proposal, _planned(key, proposal), uuid.uuid4().hex)
        st.session_state[_STATE] = shown
    if shown.refused is not None:
        states.action_failed(shown.refused, PRESS_AGAIN)
    if shown.moved:
        st.warning("The overlay moved on. This is the new plan.", icon=":material/update:")
    st.markdown(proposal.meaning)
    links(shown.plan)
    typed = st.text_input(
        f"To go on, type {literal(proposal.typed)}",
        key=f"_typed-{shown.token}",
        live=True,
        autocomplete="off",
    )
    st.button(
        proposal.button,
        type="primary",
        disabled=(typed or "").strip() != proposal.typed,
        # Before the body runs again: it then shows what came of it.
        on_click=_do,
        args=(key, shown),
    )


def links(plan: Plan) -> None:
    """Exactly which links, and why."""
    figures.show(
        (
            ("Opened", number(len(plan["opened"])), None),
            ("Closed", number(len(plan["closed"])), None),
            ("Planned at", number(plan["version"]), "The version of the overlay that the plan is for"),
        )
    )
    table = frame(plan)
    if table.empty:
        st.caption("No link is opened or closed.")
        return
    listing.plain(table, CONFIG, alt="Links opened and closed, and why", max_height=MAX_TABLE_HEIGHT)


CONFIG = {
    "change": listing.text("Change", 70),
    "broker_a": listing.text("Broker", 280),
    "broker_b": listing.text("Broker", 280),
    "reason": listing.text("Why", 160),
}


def frame(lists: Lists) -> pd.DataFrame:
    """Links opened, then links closed."""
    rows = [
        (word, a, b, reason)
        for word, pairs, reasons in (
            ("+ open", lists["opened"], lists["opened_reasons"]),
            ("− close", lists["closed"], lists["closed_reasons"]),
        )
        for (a, b), reason in zip(pairs, reasons or [""] * len(pairs), strict=False)
    ]
    return pd.DataFrame(rows, columns=["change", "broker_a", "broker_b", "reason"])


def _planned(key: str, proposal: Proposal) -> Plan:
    plan = client.send(proposal.method, proposal.path, key, proposal.body, params={"dry_run": "true"})
    return cast(Plan, plan)


def _do(key: str, shown: _Open) -> None:
    proposal = shown.proposal
    shown.refused = None
    try:
        made = _sent(key, shown)
    except client.ApiError as error:
        shown.refused = error
        return
    if made is None:
        return
    client.forget()
    changed = links_changed(len(made["opened"]), len(made["closed"]))
    states.tell(f"{proposal.done} Version {number(made['version'])}: {changed}.")
    shown.done = True


def _sent(key: str, shown: _Open) -> Plan | None:
    """The change as planned; None where another plan has to be read first."""
    proposal = shown.proposal
    for _ in range(_ATTEMPTS):
        headers = {"If-Match": f'"{shown.plan["version"]}"', "Idempotency-Key": shown.token}
        try:
            return cast(
                Plan, client.send(proposal.method, proposal.path, key, proposal.body, headers=headers)
            )
        except client.ApiError as error:
            if error.status != 412:
                raise
        fresh = _planned(key, proposal)
        if any(fresh[name] != shown.plan[name] for name in ("opened", "closed")):
            st.session_state[_STATE] = _Open(proposal, fresh, uuid.uuid4().hex, moved=True)
            return None
        shown.plan = fresh
    raise client.ApiError("The overlay is moving too fast", "Try again in a moment.", 412)
