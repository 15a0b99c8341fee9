"""The overview's logic: what it says of overlays in every state, and when the API is in trouble."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from backend.api.overlay import _alarms
from tests.ui import fake_api
from tests.ui.fake_api import FakeApi
from tests.ui.fake_jobs import FakeRebuild
from tests.ui.pages import metrics, names, open_page, said, seen
from ui import client, states


def test_it_says_how_many_topics_are_apart(app: AppTest) -> None:
    app.run()
    assert "**1 of 65 topics is apart**" in app.error[0].value
    app.toggle(key="problems").set_value(True).run()
    assert names(app) == ["/stock/levels"]
    assert app.query_params["problems"] == "True"
    assert not app.get("vega_lite_chart")


def test_it_says_that_all_topics_are_connected(app: AppTest, api: FakeApi) -> None:
    del api.overlay.graphs["/stock/levels"]
    app.run()
    assert "**All 64 topics are connected**" in app.success[0].value
    open_page(app, "overview", problems="True")
    assert "**No problems.**" in said(app)


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
        "Links": str(figures["links"]),
        "Avg degree": f"{figures['average_degree']:.2f}",
        "Max degree": str(figures["max_degree"]),
        "Drift": "–",
    }


def test_it_ranks_brokers_and_topics_five_at_a_time(app: AppTest, api: FakeApi) -> None:
    app.run()
    tables = {tuple(d.value.columns): d.value for d in app.dataframe}
    assert all(len(table) <= 5 for table in tables.values())
    asked = [urlsplit(target) for target in api.asked]
    lists = [parse_qs(a.query) for a in asked if a.path in ("/v1/brokers", "/v1/topics")]
    assert {"-degree", "-blast_radius", "-diameter", "-articulation_brokers"} == {a["sort"][0] for a in lists}
    assert {a["limit"][0] for a in lists} == {"5"}


def test_it_shows_changes_as_they_come_and_the_trend(app: AppTest, api: FakeApi) -> None:
    app.run()
    assert "No change yet." in said(app)
    assert "Trend over versions" not in said(app)
    overlay = api.overlay
    leaver = "/region/0/broker-3"
    overlay.apply(overlay.plan([{"op": "leave", "broker": leaver}]), "leave", leaver, "nightshift")
    client.forget()
    app.run()
    feed = next(d.value for d in app.dataframe if "what" in d.value)
    assert list(feed["what"]) == [f"leave {leaver}"]
    assert list(feed["actor"]) == ["nightshift"]
    assert "Trend over versions" in said(app)


def test_drift_and_alarms_are_said(app: AppTest, api: FakeApi) -> None:
    api.overlay.drift = {"drift": 0.083, "advised": True, "threshold": 0.05, "algorithm": "weave"}
    alarm = {"kind": "leases", "since": "2026-03-01T22:00:00Z", "detail": "40 of 94 leases ran out at once"}
    api.overlay.alarms = [alarm]
    app.run()
    assert metrics(app)["Drift"] == "+8.3%"
    assert "**A rebuild is advised**" in said(app)
    assert "**Leases**: 40 of 94 leases ran out at once" in said(app)


def test_links_that_agents_could_not_open_are_a_problem(app: AppTest, api: FakeApi) -> None:
    del api.overlay.graphs["/stock/levels"]
    broker = "/region/0/broker-0"
    api.overlay.failures[broker] = [
        {"link": (broker, "/region/0/broker-1"), "reason": "refused", "at": "2026-03-01T22:07:00Z"}
    ]
    open_page(app, "overview", problems="True")
    assert "**A link could not be opened, once in the last hour**" in said(app)
    assert "**No problems.**" not in said(app)


def test_every_alarm_of_the_api_is_said_with_the_moment_where_there_is_one(
    app: AppTest, api: FakeApi
) -> None:
    class Away:
        healthy = False

    braked = {"kind": "lease-brake", "since": datetime(2026, 3, 1, 22, tzinfo=UTC), "detail": "40 expired"}
    api.overlay.alarms = _alarms(braked, Away())  # type: ignore[arg-type]
    app.run()
    assert [seen(box.value) for box in app.error][1:] == [
        "**Leases are not enforced**: 40 expired (since 2026-03-01 22:00:00 UTC)",
        "**Neo4j is away**: Neo4j does not answer; changes wait",
    ]


def test_a_failed_rebuild_is_a_problem_for_a_day_or_until_one_succeeds(app: AppTest, api: FakeApi) -> None:
    del api.overlay.graphs["/stock/levels"]
    now = datetime.now(UTC)

    def rebuild(hours_ago: float, error: str | None) -> None:
        name = f"r{len(api.rebuilds) + 1}"
        asked = {"algorithm": "weave", "params": {}, "engine": "local"}
        api.rebuilds[name] = FakeRebuild(name, asked, api.overlay, api.actor, 0.0)
        api.rebuilds[name].created_at = now - timedelta(hours=hours_ago)
        api.rebuilds[name].error = error

    def look() -> str:
        st.cache_data.clear()
        open_page(app, "overview", problems="True")
        return said(app)

    rebuild(25, "out of memory")
    assert "**No problems.**" in look()
    rebuild(3, "out of disk")
    assert "failed: out of disk" in look()
    assert "out of memory" not in said(app)
    rebuild(2, None)
    assert "**No problems.**" in look()


def test_connected_but_not_as_the_policy_asks(app: AppTest, api: FakeApi) -> None:
    api.overlay.policy = {"k": 2}
    del api.overlay.graphs["/stock/levels"]
    whole = api.overlay.overlay
    api.overlay.overlay = lambda: whole() | {"topics_below_k": 3}  # type: ignore[method-assign]
    app.run()
    assert "**3 of 64 topics are connected, but not 2-connected**" in app.warning[0].value


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
    assert "The overlay is being imported. " in seen(app.warning[0].value)
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


def test_a_part_that_failed_is_drawn_again_after_a_while(
    app: AppTest, api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list of brokers is refused once; nobody runs the page again but its own clock."""
    answer = api.answer
    refusals: list[str] = []

    def once(method: str, target: str, headers: dict[str, str], body: Any) -> fake_api.Answer:
        if target.startswith("/v1/brokers") and not refusals:
            refusals.append(target)
            return 500, fake_api.problem(500, "The API failed", "")
        return answer(method, target, headers, body)

    monkeypatch.setattr(api, "answer", once)
    app.run()
    assert "**The API failed**" in said(app)
    assert app.metric, "what is known stays"
    refusals.clear()
    client.brokers.clear()
    # As if the while were over when the page looks at its clock, in the same run.
    monkeypatch.setattr(states, "RETRY_SECONDS", 0)
    app.run()
    assert refusals
    assert "**The API failed**" not in said(app)
