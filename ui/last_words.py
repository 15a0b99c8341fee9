"""What a run of a page says last reaches the browser, though a timer of the page asks for something at that moment.

Streamlit hears its runs through the event loop, and from the current one only: a run that has ended, whose last parts
are still on their way, is replaced by the next one that a fragment asks for, and what is on its way is dropped (its own
``AppSession.request_rerun`` says so). On a busy machine the page then has neither table nor message, and the first part
that is drawn into what never came ends the connection for good. So the next run waits until all of the last one is heard,
which it is by the time it says that it is over: milliseconds later.

This leans on names that Streamlit does not promise, so tests/ui/test_last_words.py holds them, and what they do, against
the version of the lock.
"""

from __future__ import annotations

from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.scriptrunner import RerunData

SECONDS_BETWEEN_LOOKS = 0.005

_begin = AppSession._create_scriptrunner


def await_them() -> None:
    """Have every session begin a run when the one before it was heard to its end."""
    AppSession._create_scriptrunner = _begin_in_turn  # type: ignore[method-assign,assignment]


def _begin_in_turn(session: AppSession, initial_rerun_data: RerunData) -> None:
    if session._scriptrunner is None:
        _begin(session, initial_rerun_data)
    else:
        session._event_loop.call_later(SECONDS_BETWEEN_LOOKS, _ask_again, session, initial_rerun_data)


def _ask_again(session: AppSession, wanted: RerunData) -> None:
    if session._state == AppSessionState.SHUTDOWN_REQUESTED:
        return
    if wanted.fragment_id and not session.has_fragment(wanted.fragment_id):
        return  # the page has been drawn anew meanwhile
    if session._scriptrunner is None or not session._scriptrunner.request_rerun(wanted):
        _begin_in_turn(session, wanted)
