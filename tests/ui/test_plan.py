"""The plan dialog's body, as a page of its own: AppTest closes a dialog when a widget in it is used."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.ui.fake_api import FakeApi
from tests.ui.pages import metrics, said

HUB = "/region/0/broker-0"


def script() -> None:
    import streamlit as st

    from ui import plan, states, visit

    if visit.kept(states.NOTICE):
        # As on a page: the dialog is closed, and the page says what was done.
        states.told()
        st.stop()
    plan.body(
        plan.Proposal(
            title="Leave",
            meaning="It leaves.",
            typed="/region/0/broker-0",
            button="Let it leave",
            done="It left.",
            method="DELETE",
            path="/v1/brokers/%2Fregion%2F0%2Fbroker-0",
        )
    )


@pytest.fixture
def dialog(api: FakeApi) -> AppTest:
    return AppTest.from_function(script, default_timeout=60).run()


def test_only_the_name_unlocks_the_button(dialog: AppTest, api: FakeApi) -> None:
    assert dialog.button[0].disabled
    dialog.text_input[0].input("/region/0/broker-1").run()
    assert dialog.button[0].disabled
    dialog.text_input[0].input(HUB).run()
    assert not dialog.button[0].disabled
    assert [target for _, target, _ in api.sent] == ["/v1/brokers/%2Fregion%2F0%2Fbroker-0?dry_run=true"]


def test_it_does_what_was_planned_and_says_so(dialog: AppTest, api: FakeApi) -> None:
    planned = api.overlay.plan([{"op": "leave", "broker": HUB}])
    assert metrics(dialog)["Opened"] == str(len(planned.opened))
    dialog.text_input[0].input(HUB).run()
    dialog.button[0].click().run()
    assert api.overlay.version == 2
    assert HUB not in api.overlay.whole()
    assert f"It left. Version 2: opened {len(planned.opened)} link" in said(dialog)


def test_a_version_that_moved_gets_a_new_plan_first(dialog: AppTest, api: FakeApi) -> None:
    dialog.text_input[0].input(HUB).run()
    other = api.overlay.plan([{"op": "leave", "broker": "/region/0/broker-3"}])
    api.overlay.apply(other, "leave", "/region/0/broker-3", "another person")
    dialog.button[0].click().run()
    assert HUB in api.overlay.whole()
    assert "The overlay moved on. This is the new plan." in said(dialog)
    assert metrics(dialog)["Planned at"] == "2"
    assert dialog.button[0].disabled


def test_a_version_that_moved_without_touching_the_plan_goes_through(dialog: AppTest, api: FakeApi) -> None:
    dialog.text_input[0].input(HUB).run()
    other = api.overlay.plan([{"op": "join", "broker": "/far", "topics": ["/far/away"]}])
    api.overlay.apply(other, "join", "/far", "another person")
    dialog.button[0].click().run()
    assert HUB not in api.overlay.whole()
    assert "It left. Version 3" in said(dialog)


def test_a_refusal_is_shown_and_nothing_changed(dialog: AppTest, api: FakeApi) -> None:
    dialog.text_input[0].input(HUB).run()
    api.scope = "read"
    dialog.button[0].click().run()
    assert "**Not allowed**" in dialog.error[0].value
    assert api.overlay.version == 1


def test_it_says_that_the_api_is_away(dialog: AppTest, api: FakeApi) -> None:
    dialog.text_input[0].input(HUB).run()
    api.trouble = (503, "Not ready", "Starting")
    dialog.button[0].click().run()
    assert "**Not ready**" in dialog.warning[0].value
    assert "Press again: it is done once at most." in dialog.warning[0].value
    api.trouble = None
    dialog.button[0].click().run()
    assert "It left. Version 2" in said(dialog)


def test_a_plan_that_does_not_come_says_that_nothing_changed(api: FakeApi) -> None:
    api.trouble = (503, "Not ready", "Starting")
    dialog = AppTest.from_function(script, default_timeout=60).run()
    assert "Nothing was changed. Close this and open it again." in dialog.warning[0].value
    assert "Trying again" not in said(dialog)
