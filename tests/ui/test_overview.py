"""The overview's logic: what it says of overlays in every state, and when the API is in trouble."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.ui import fake_api
from tests.ui.fake_api import FakeApi
from tests.ui.pages import metrics, names, said


def test_it_says_how_many_topics_are_apart(app: AppTest) -> None:
    app.run()
    assert "**1 of 65 topics is apart**" in app.error[0].value
    assert "Topics apart" in said(app)
    assert names(app) == ["/stock/levels"]


def test_it_says_that_all_topics_are_connected(app: AppTest, api: FakeApi) -> None:
    del api.overlay.graphs["/stock/levels"]
    app.run()
    assert "**All 64 topics are connected**" in app.success[0].value
    assert names(app)[:2] == ["/orders/paid", "/orders/created"]


def test_it_says_what_the_policy_promises(app: AppTest, api: FakeApi) -> None:
    api.overlay.graphs = {"/orders/paid": api.overlay.graphs["/orders/paid"]}
    api.overlay.policy = {"k": 2}
    app.run()
    assert "**The only topic is 2-connected**" in app.success[0].value
    assert "any 1 broker goes" in app.success[0].value


def test_its_figures_are_the_overlays(app: AppTest, api: FakeApi) -> None:
    api.overlay.version = 4711
    app.run()
    figures = api.overlay.overlay()
    assert metrics(app) == {
        "Version": "4,711",
        "Brokers": str(figures["brokers"]),
        "Topics": "65",
        "Subscriptions": str(figures["subscriptions"]),
        "Links": str(figures["links"]),
        "Avg degree": f"{figures['average_degree']:.2f}",
        "Max degree": str(figures["max_degree"]),
    }


def test_an_empty_overlay_gets_the_import_command(app: AppTest, api: FakeApi) -> None:
    api.overlay = fake_api.FakeOverlay()
    app.run()
    assert "No brokers yet" in said(app)
    assert app.code[0].value == "topicweave import interests.csv"
    assert not app.metric


def test_it_says_that_the_api_is_not_ready_and_recovers(app: AppTest, api: FakeApi) -> None:
    api.trouble = (503, "Not ready", "The overlay is being imported")
    app.run()
    assert "**Not ready**" in app.warning[0].value
    assert "The overlay is being imported. " in app.warning[0].value
    assert not app.metric
    api.trouble = None
    app.run()
    assert not app.warning
    assert metrics(app)["Topics"] == "65"


def test_it_says_that_nothing_answers(app: AppTest, api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOPICWEAVE_API_URL", "http://127.0.0.1:9")
    app.run()
    assert "**The API does not answer**" in app.warning[0].value
    assert "comes back by itself" in app.warning[0].value
    monkeypatch.setenv("TOPICWEAVE_API_URL", api.url)
    app.run()
    assert not app.warning
