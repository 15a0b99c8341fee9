"""What a page says when something fails: ours to be noticed, the API's in words that are true."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.ui.fake_api import FakeApi
from tests.ui.pages import calls, open_page, said, seen
from ui import client, states
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

    states.begin()
    runs = st.session_state["runs"] = st.session_state.get("runs", 0) + 1
    if runs == 1:
        states.unexpected()
        # Its clock, which no browser runs here.
        states.again_when_due()
    else:
        st.caption("Well again.")


def test_a_page_that_failed_is_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.states.UNEXPECTED_SECONDS", 0)
    assert "Well again." in said(AppTest.from_function(broken_once, default_timeout=60).run())


def test_what_only_reads_is_not_said_to_have_changed_nothing(app: AppTest, api: FakeApi) -> None:
    api.trouble = (403, "Not allowed", "This key may not read that.")
    open_page(app, "topics")
    assert seen(app.error[0].value).endswith("This key may not read that. Use a key that may see it.")
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


def telling() -> None:
    import streamlit as st

    from ui import states, visit

    visit.begin("broker", st.session_state.get("subject", "a"))
    if "said" not in st.session_state:
        st.session_state["said"] = True
        states.tell("It left.")
    states.told()


def test_what_was_done_is_said_long_enough_to_be_read_and_on_its_page_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = AppTest.from_function(telling, default_timeout=60)
    for _ in range(3):
        assert [box.value for box in app.run().success] == ["It left."]
    app.session_state["subject"] = "b"
    assert not app.run().success
    app = AppTest.from_function(telling, default_timeout=60).run()
    monkeypatch.setattr(states, "NOTICE_SECONDS", 0)
    assert not app.run().success


def test_a_page_that_is_asked_for_is_opened_at_once_or_not_at_all(app: AppTest, api: FakeApi) -> None:
    open_page(app, "topics")
    api.trouble = (503, "Not ready", "Starting")
    client.topics.clear()
    app.selectbox(key="_open-topic").set_value("/orders/paid").run()
    assert seen(app.title[0].value) == "/orders/paid", "nothing of the list is needed for it"
    api.trouble = None
    open_page(app, "topics")
    assert app.title[0].value == "Topics"
    assert calls(api, "/v1/topics?")
