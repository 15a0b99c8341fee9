"""The key: whose it is, when it is used unasked, and what happens when the API refuses it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.ui import fake_api
from tests.ui.fake_api import FakeApi
from tests.ui.pages import button, open_page, said, seen
from ui import access, client


@pytest.mark.parametrize(
    ("ip_address", "host", "local"),
    [
        (None, "127.0.0.1:8501", True),
        (None, "localhost:8501", True),
        (None, "localhost", True),
        (None, "[::1]:8501", True),
        (None, "[::1]", True),
        ("127.0.0.1", "localhost:8501", True),
        ("192.0.2.7", "localhost:8501", False),
        (None, "console.example.org", False),
        (None, "console.example.org:8501", False),
        (None, "127.0.0.1.example.org", False),
        (None, "localhost.example.org:8501", False),
        (None, "", False),
        (None, None, False),
    ],
)
def test_only_this_machine_is_local(ip_address: str | None, host: str | None, local: bool) -> None:
    assert access.is_loopback(ip_address, host) is local


def test_on_this_machine_the_homes_key_is_used_unasked(app: AppTest) -> None:
    app.run()
    assert app.metric
    assert not app.text_input


def test_from_elsewhere_the_key_is_asked_for(
    app: AppTest, api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "request_is_local", lambda: False)
    app.run()
    assert app.text_input[0].label == "API key"
    assert not app.metric
    assert not api.asked
    app.text_input[0].input(fake_api.KEY)
    app.button[0].click().run()
    assert app.metric
    assert not app.text_input


@pytest.mark.parametrize(
    ("given", "said_back"),
    [("wrong", "The API refused this key."), ("", "Paste the key first."), ("schlüssel", "plain ASCII")],
)
def test_a_wrong_key_is_refused_in_words(
    app: AppTest, monkeypatch: pytest.MonkeyPatch, given: str, said_back: str
) -> None:
    monkeypatch.setattr(access, "request_is_local", lambda: False)
    app.run()
    app.text_input[0].input(given)
    app.button[0].click().run()
    assert said_back in seen(app.error[0].value)
    assert app.text_input
    assert given == "" or given not in str(dict(app.query_params))


def test_a_home_key_that_the_api_refuses_leads_to_the_form(app: AppTest) -> None:
    Path(os.environ["TOPICWEAVE_API_KEY_FILE"]).write_text("an old key")
    app.run()
    assert "The API refused the key" in said(app)
    assert app.text_input[0].label == "API key"


def test_a_new_home_key_is_found_without_a_restart(app: AppTest) -> None:
    key_file = Path(os.environ["TOPICWEAVE_API_KEY_FILE"])
    key_file.write_text("an old key")
    app.run()
    key_file.write_text(fake_api.KEY)
    app.run()
    assert app.metric


def test_a_key_file_that_is_not_there_leads_to_the_form(
    app: AppTest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TOPICWEAVE_API_KEY_FILE", str(tmp_path / "none"))
    app.run()
    assert app.text_input[0].label == "API key"
    assert not app.warning


@pytest.mark.parametrize(
    ("scope", "words"), [("read", "read only"), ("operate", "scope operate"), ("admin", "scope admin")]
)
def test_the_sidebar_says_who_acts_and_what_they_may_do(
    app: AppTest, api: FakeApi, scope: str, words: str
) -> None:
    api.scope = scope
    open_page(app, "topics")
    assert "`nightshift`" in said(app)
    assert any(element.value.endswith(f": {words}") for element in app.sidebar.markdown)
    assert ":material/cloud_done: API answers" in said(app)


def test_another_key_can_be_used_and_the_homes_taken_back(app: AppTest) -> None:
    open_page(app, "topics")
    button(app, "Use another key").click().run()
    assert app.text_input[0].label == "API key"
    button(app, "Use this home's key").click().run()
    assert "`nightshift`" in said(app)


def test_from_elsewhere_the_homes_key_is_not_offered(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "request_is_local", lambda: False)
    app.run()
    assert [found.label for found in app.button] == ["Open the console"]


def test_a_click_is_not_done_with_the_key_that_comes_next(app: AppTest, api: FakeApi) -> None:
    open_page(app, "simulator")
    Path(os.environ["TOPICWEAVE_API_KEY_FILE"]).write_text("an old key")
    client.forget()
    button(app, "Simulate").click().run()
    assert app.text_input[0].label == "API key"
    app.text_input[0].input(fake_api.KEY)
    app.button[0].click().run()
    open_page(app, "simulator")
    assert "No run yet" in said(app)
    assert [call for call in api.sent if call[1] == "/v1/simulations"] == []
