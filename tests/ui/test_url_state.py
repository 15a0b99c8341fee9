"""State in the URL while the browser is late: what it says from before is no news, and Back still is."""

from __future__ import annotations

import time

import pytest
from streamlit.testing.v1 import AppTest

from ui import url_state


def switches() -> None:
    import streamlit as st

    from ui import states, url_state

    states.begin()
    for name in ("on", "bright"):
        url_state.sync(name, False, url_state.whether)
        st.toggle(name, key=name, on_change=url_state.push, args=(name, False))


def shown(app: AppTest) -> dict[str, bool]:
    return {switch.label: switch.value for switch in app.toggle}


def says(app: AppTest, **params: str) -> None:
    """A run that the browser asks for, with what it takes for the URL."""
    app.query_params.clear()
    app.query_params.update(params)
    app.run()


@pytest.fixture
def app() -> AppTest:
    return AppTest.from_function(switches, default_timeout=60).run()


def test_what_the_browser_said_before_it_heard_of_a_click_does_not_undo_it(app: AppTest) -> None:
    app.toggle(key="on").set_value(True).run()
    says(app)
    assert shown(app) == {"on": True, "bright": False}
    # Nor does a click that comes with it drop the first one from the URL.
    app.toggle(key="bright").set_value(True).run()
    assert {name: app.query_params[name] for name in ("on", "bright")} == {
        "on": "True",
        "bright": "True",
    }
    says(app)
    assert shown(app) == {"on": True, "bright": True}
    app.toggle(key="on").set_value(False).run()
    says(app, on="True")
    assert shown(app) == {"on": False, "bright": True}


def test_back_is_heard_once_the_browser_cannot_be_late_any_more(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.toggle(key="on").set_value(True).run()
    says(app)
    assert shown(app)["on"], "it may be late"
    assert app.session_state["_again_at"] <= time.monotonic() + url_state.LATE_SECONDS, "looked at again"
    monkeypatch.setattr(url_state, "LATE_SECONDS", 0.0)
    says(app)
    assert not shown(app)["on"]


def test_a_link_to_something_else_is_followed_at_once(app: AppTest) -> None:
    app.toggle(key="on").set_value(True).run()
    says(app, bright="True", on="False")
    assert shown(app) == {"on": False, "bright": True}
