"""What a page says when something fails: ours to be noticed, the API's in words that are true."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.ui.fake_api import FakeApi
from tests.ui.pages import open_page, said
from ui.states import FAILED


def broken() -> None:
    from ui import states

    @states.shown(retry=False)
    def part() -> None:
        raise KeyError("a mistake of ours")

    part()


def broken_dialog() -> None:
    from ui import states

    @states.in_dialog
    def body() -> None:
        raise KeyError("a mistake of ours")

    body()


def broken_once() -> None:
    import streamlit as st

    from ui import states

    runs = st.session_state["runs"] = st.session_state.get("runs", 0) + 1
    if runs <= 2:
        # The second is the run of the retry itself, when its time has come.
        states.unexpected()
    else:
        st.caption("Well again.")


def test_a_page_that_failed_is_run_again() -> None:
    app = AppTest.from_function(broken_once, default_timeout=60)
    with pytest.raises(AssertionError, match=FAILED):
        app.run()
    app.run()
    assert "Well again." in said(app)


def test_what_only_reads_is_not_said_to_have_changed_nothing(app: AppTest, api: FakeApi) -> None:
    api.trouble = (403, "Not allowed", "This key may not read that.")
    open_page(app, "topics")
    assert app.error[0].value.endswith("This key may not read that. Use a key that may see it.")
    assert "Nothing was changed" not in said(app)


def sending() -> None:
    from ui import client, confirm

    def act() -> None:
        raise client.ApiError("The API is slow", "http://api gave no answer within 5 seconds.")

    confirm.body(confirm.Step("Roll back: plan", "It goes back.", "roll back", "Roll back", "Done.", act))


@pytest.mark.parametrize("script", [broken, broken_dialog])
def test_no_test_passes_on_a_page_that_failed(script: object) -> None:
    app = AppTest.from_function(script, default_timeout=60)  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match=FAILED):
        app.run()


def test_what_was_sent_without_an_answer_may_have_been_done(api: FakeApi) -> None:
    app = AppTest.from_function(sending, default_timeout=60).run()
    assert not app.warning
    app.text_input[0].input("roll back").run()
    app.button[0].click().run()
    assert "It may have been done all the same: look before you send it again." in app.warning[0].value
    assert "Trying again" not in said(app)
