"""What a page shows when it cannot show its subject: the API is away, something is missing, we failed.

Each state says what is the matter, what to do, and goes away by itself when the matter does.
"""

from __future__ import annotations

import functools
import logging
import math
import time
from collections.abc import Callable, Mapping
from typing import ParamSpec, TypeVar

import streamlit as st

from ui import access, dialogs, visit
from ui.client import ApiError
from ui.wording import literal, plain

P = ParamSpec("P")
T = TypeVar("T")

RETRY_SECONDS = 3
CLOCK_SECONDS = 3
UNEXPECTED_SECONDS = 5
REFUSAL_SECONDS = 20
NOTICE_SECONDS = 20
FAILED = "This page failed"
SEND_AGAIN = "It may have been done all the same: look before you send it again."
UNCHANGED = "Nothing was changed."
READS = {
    403: "Use a key that may see it.",
    404: "It may have gone meanwhile, or the link is old.",
    410: "Choose a newer version.",
}
NOTICE = "notice"
_FAILED_AT = "_part_failed_at"
_AGAIN_AT = "_again_at"
_LOG = logging.getLogger("topicweave.console")


def shown(*, retry: bool) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Make a fragment's body show its failure: errors in a fragment never reach app.py.

    A fragment with a clock of its own comes back by it; any other needs ``retry``.
    """

    def decorate(body: Callable[P, None]) -> Callable[P, None]:
        @functools.wraps(body)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
            visit.go()
            try:
                body(*args, **kwargs)
            except ApiError as error:
                if not retry and error.passes:
                    st.session_state[_FAILED_AT] = time.monotonic()
                api_problem(error, retry=retry)
            except Exception:  # noqa: BLE001 - the last guard of a page: logged, and said in words
                _LOG.exception("A part of a page failed")
                if not retry:
                    st.session_state[_FAILED_AT] = time.monotonic()
                unexpected(retry=retry)

        return guarded

    return decorate


def in_dialog(body: Callable[P, None]) -> Callable[P, None]:
    """The same for a dialog's body, which has no clock: nothing runs it again but the person who reads it.

    What it asks for by itself is a plan, so nothing has changed.
    """

    @functools.wraps(body)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            body(*args, **kwargs)
        except ApiError as error:
            action_failed(error, "Nothing was changed. Close this and open it again.")
        except Exception:  # noqa: BLE001 - as above
            _LOG.exception("A dialog failed")
            unexpected(retry=False)

    return guarded


def api_problem(error: ApiError, *, retry: bool = True) -> None:
    """The API is away or refused: its title, its detail, what to do. For what is tried again by itself."""
    advice = READS.get(error.status, "Go back, or ask for something else.")
    _told(error, "Trying again every few seconds; this page comes back by itself.", advice)
    if error.passes and retry:
        again_in(RETRY_SECONDS)


def action_failed(error: ApiError, advice: str = SEND_AGAIN, refused: str = UNCHANGED) -> None:
    """Something that a person sent: nothing sends it again, and without an answer nobody knows whether it was done."""
    _told(error, advice, refused)


def attempt(part: str, act: Callable[[], T]) -> T | None:
    """Do what a button asks for; a refusal is kept under that name for the part of the page that says it."""
    st.session_state.pop(part, None)
    try:
        return act()
    except ApiError as error:
        st.session_state[part] = (error, time.monotonic())
        return None


def refusal(part: str) -> None:
    """Say what was refused, long enough to be read: parts with a clock are drawn again every moment."""
    kept: tuple[ApiError, float] | None = st.session_state.get(part)
    if kept is None:
        return
    error, since = kept
    over = time.monotonic() - since > REFUSAL_SECONDS
    if over or error.status == 401:
        # A key that was refused is asked for anew, and the next one is not to be blamed for it.
        st.session_state.pop(part)
    if not over:
        action_failed(error)


def _told(error: ApiError, advice: str, refused: str) -> None:
    """What waiting may help gets ``advice``; what the API will not do however often it is asked, ``refused``."""
    if error.status == 401:
        access.refuse(access.key())
        st.rerun()
    if error.passes:
        icon = ":material/hourglass_top:" if error.status == 503 else ":material/cloud_off:"
        st.warning(_said(error, advice), icon=icon)
    else:
        st.error(_said(error, refused), icon=":material/error:")


def _said(error: ApiError, advice: str) -> str:
    detail = _sentence(error.detail)
    return (
        f"**{plain(error.title)}**\n\n{plain(detail)} {advice}"
        if detail
        else f"**{plain(error.title)}**\n\n{advice}"
    )


def retry_due() -> bool:
    """Whether a part of the page failed a while ago: for the clock of a page whose parts have none."""
    failed_at = st.session_state.get(_FAILED_AT)
    if failed_at is None or time.monotonic() - failed_at < RETRY_SECONDS:
        return False
    st.session_state.pop(_FAILED_AT)
    return True


def unexpected(*, retry: bool = True) -> None:
    """We failed: Streamlit's own box would show a traceback and send people elsewhere with it.

    What we could not show may be gone with the next answer, so a page tries again, but not so often as to fill the log.
    """
    st.error(
        f"**{FAILED}**\n\nThe console's log has the reason; the overlay is not touched by this.",
        icon=":material/error:",
    )
    if retry:
        again_in(UNEXPECTED_SECONDS)


def begin() -> None:
    """Draw the clock that tries again: what a page says of its failure may be drawn anew, or be gone, by then."""
    st.session_state.pop(_AGAIN_AT, None)
    st.fragment(again_when_due, run_every=CLOCK_SECONDS)()


def again_when_due() -> None:
    """Run the whole page again when what failed has its time."""
    due: float = st.session_state.get(_AGAIN_AT, math.inf)
    if time.monotonic() >= due and not dialogs.is_open():
        st.rerun()


def again_in(seconds: float) -> None:
    """Have the page run again after so long, whoever looks."""
    st.session_state[_AGAIN_AT] = time.monotonic() + seconds


def empty(title: str, detail: str) -> None:
    """Something is not there: what, and the next step."""
    with st.container(border=True):
        st.markdown(f"### {title}")
        st.markdown(detail)


def no_brokers() -> None:
    """A new installation: how the first brokers come in."""
    empty(
        "No brokers yet",
        "The overlay is empty. Import the subscriptions of your brokers, a `broker,topic` file with that header "
        "as `.csv`, `.csv.gz` or `.parquet`; this page shows them by itself.",
    )
    st.code("topicweave import interests.csv", language=None)


def no_topics() -> None:
    """Brokers without a topic."""
    empty(
        "No topics yet",
        "No broker subscribes to anything. On a broker's page it can be subscribed to topics.",
    )


def no_match(word: str, query: str) -> None:
    """A search that found nothing."""
    empty(f"No {word} matches {literal(query)}", "Shorten the search.")


def read_only(what: str) -> None:
    """Why nothing that changes is offered here; what a key may do is not known before the API has said it."""
    yours = "The API did not say what yours may do." if access.identity() is None else "Yours may read only."
    st.caption(f":material/lock: {what} needs a key with the scope operate. {yours}")


def no_topic(name: str, back: Mapping[str, str]) -> None:
    """A topic that the overlay does not have, or a page opened without one."""
    if name:
        empty(
            "No such topic",
            f"The overlay has no topic {literal(name)}. Its last subscriber may have left, or the link is old.",
        )
    else:
        empty("No topic chosen", "Choose one from the list.")
    st.page_link("views/topics.py", label="All topics", icon=":material/arrow_back:", query_params=dict(back))


def no_broker(identity: str, back: Mapping[str, str]) -> None:
    """A broker that the overlay does not have, or a page opened without one."""
    if identity:
        empty("No such broker", f"The overlay has no broker {literal(identity)}. It may have left.")
    else:
        empty("No broker chosen", "Choose one from the list.")
    st.page_link(
        "views/brokers.py", label="All brokers", icon=":material/arrow_back:", query_params=dict(back)
    )


def tell(message: str) -> None:
    """Keep a message for the runs after this one: what was done is said on the page that shows it."""
    visit.keep(NOTICE, (message, time.monotonic()))


def told() -> None:
    """Show the message kept, long enough to be read: on a busy overlay the page runs again every other second."""
    kept: tuple[str, float] | None = visit.kept(NOTICE)
    if kept is None:
        return
    message, since = kept
    if time.monotonic() - since > NOTICE_SECONDS:
        visit.drop(NOTICE)
    else:
        st.success(message, icon=":material/check_circle:")


def _sentence(text: str) -> str:
    text = text.strip()
    if not text:
        return ""
    first = text.split()[0]
    if not first.endswith(":") and "://" not in first:
        # A field or an address that it begins with stays as it is.
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."
