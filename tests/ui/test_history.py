"""History: filters that go to the API and the URL, one change in full, and version against version."""

from __future__ import annotations

import functools
from typing import get_args

import pytest
from streamlit.testing.v1 import AppTest

from backend.record import Kind
from tests.ui.fake_api import KEY, FakeApi
from tests.ui.pages import button, calls, names, open_page, said
from ui import change_table, client, paged

HUB = "/region/0/broker-0"


@pytest.fixture
def busy(api: FakeApi) -> FakeApi:
    """Three changes: versions 2 to 4."""
    overlay = api.overlay
    overlay.apply(overlay.plan([{"op": "leave", "broker": HUB}]), "leave", HUB, "nightshift")
    joins = [{"op": "join", "broker": "/new", "topics": ["/orders/paid"]}]
    overlay.apply(overlay.plan(joins), "join", "/new", "agent")
    leaves = [{"op": "leave", "broker": "/new"}]
    overlay.apply(overlay.plan(leaves), "leave", "/new", "agent")
    return api


def test_the_newest_comes_first(app: AppTest, busy: FakeApi) -> None:
    open_page(app, "history")
    assert names(app, "version") == ["4", "3", "2"]
    assert names(app, "kind") == ["leave", "join", "leave"]
    assert names(app, "what")[1] == "+1 broker, +1 subscription"


def test_filters_go_to_the_api_and_to_the_url(app: AppTest, busy: FakeApi) -> None:
    open_page(app, "history", before="4")
    app.selectbox(key="kind").set_value("leave").run()
    app.text_input(key="actor").input("nightshift").run()
    asked = calls(busy, "/v1/changes?")[-1]
    assert "kind=leave" in asked
    assert "actor=nightshift" in asked
    assert "before" not in asked
    assert dict(app.query_params) == {"kind": "leave", "actor": "nightshift"}
    assert names(app, "version") == ["2"]


def test_the_url_brings_back_the_filters(app: AppTest, busy: FakeApi) -> None:
    open_page(app, "history", broker="/new", since="2026-03-01T22:20", kind="no such kind")
    asked = calls(busy, "/v1/changes?")[-1]
    assert "broker=%2Fnew" in asked
    assert "since=2026-03-01T22%3A20%3A00Z" in asked
    assert "kind" not in asked
    assert names(app, "version") == ["4", "3"]


def test_a_time_of_another_zone_is_taken_as_the_moment_it_is(app: AppTest, busy: FakeApi) -> None:
    open_page(app, "history", since="2026-03-02T00:20+02:00")
    assert "since=2026-03-01T22%3A20%3A00Z" in calls(busy, "/v1/changes?")[-1]
    assert names(app, "version") == ["4", "3"]


def test_a_comparison_that_is_shared_carries_both_versions(app: AppTest, busy: FakeApi) -> None:
    open_page(app, "history", kind="leave")
    app.segmented_control(key="view").set_value("compare").run()
    assert dict(app.query_params) == {"view": "compare", "from": "3", "to": "4"}
    app.number_input(key="from").set_value(1).run()
    assert dict(app.query_params) == {"view": "compare", "from": "1", "to": "4"}
    app.segmented_control(key="view").set_value("changes").run()
    assert dict(app.query_params) == {}
    open_page(app, "history", view="compare")
    app.number_input(key="to").set_value(3).run()
    assert dict(app.query_params) == {"view": "compare", "from": "3", "to": "3"}


def test_nothing_passes_says_which_filter(app: AppTest, busy: FakeApi) -> None:
    open_page(app, "history", actor="nobody")
    assert "Nothing with actor `nobody`. Take a filter away." in said(app)


def test_an_empty_history_says_so(app: AppTest, api: FakeApi) -> None:
    open_page(app, "history")
    assert "No changes yet" in said(app)


def test_pages_go_by_version(app: AppTest, busy: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = busy.changes
    monkeypatch.setattr(busy, "changes", lambda params, limit: whole(params, min(2, limit)))
    open_page(app, "history")
    button(app, "Older").click().run()
    assert names(app, "version") == ["2"]
    assert app.query_params["before"] == "3"
    button(app, "Newest").click().run()
    assert names(app, "version") == ["4", "3"]


def test_one_change_in_full(app: AppTest, busy: FakeApi) -> None:
    open_page(app, "history", change="2")
    change = busy.overlay.changes[0]
    assert f"Version 2: leave {HUB}" in said(app)
    assert len(app.dataframe[1].value) == len(change["opened"]) + len(change["closed"])
    assert len(app.dataframe[2].value) == len(change["unsubscribed"])


def test_a_change_that_is_no_longer_kept_is_said_below_those_that_are(app: AppTest, busy: FakeApi) -> None:
    busy.overlay.oldest_version = 4
    open_page(app, "history", change="2")
    assert "Version 2 is not kept." not in said(app), "it is on this page"
    busy.overlay.changes[:2] = []
    client.forget()
    app.run()
    assert "Version 2 is not kept." in said(app)
    assert names(app, "version") == ["4"]
    assert not app.error


def test_version_against_version_is_the_net_difference(app: AppTest, busy: FakeApi) -> None:
    open_page(app, "history", view="compare", **{"from": "1", "to": "4"})
    assert "/v1/diff?from=1&to=4" in busy.asked
    assert "**From version 1 to 4**" in said(app)
    assert "0 brokers joined, 1 left" in said(app)
    assert list(app.dataframe[1].value["broker"]) == [HUB]
    app.number_input(key="to").set_value(3).run()
    assert app.query_params["to"] == "3"
    assert "1 broker joined, 1 left" in said(app)


def test_a_version_made_a_moment_ago_is_not_cut_off(app: AppTest, busy: FakeApi) -> None:
    open_page(app, "history", view="compare", **{"from": "1", "to": "4"})
    leaves = [{"op": "leave", "broker": "/region/5/broker-20"}]
    busy.overlay.apply(busy.overlay.plan(leaves), "leave", "/region/5/broker-20", "agent")
    open_page(app, "history", view="compare", **{"from": "4", "to": "5"})
    assert "**From version 4 to 5**" in said(app)
    assert "are there, not" not in said(app)


def test_a_version_that_is_not_there_is_named(app: AppTest, busy: FakeApi) -> None:
    open_page(app, "history", view="compare", **{"from": "1", "to": "99"})
    assert "**From version 1 to 4**" in said(app)
    assert "Versions 1 to 4 are there, not 99." in said(app)


def test_one_version_has_nothing_to_compare_with(app: AppTest) -> None:
    open_page(app, "history", view="compare")
    assert "One version only" in said(app)


def test_it_says_that_the_api_is_away(app: AppTest, busy: FakeApi) -> None:
    open_page(app, "history")
    client.forget()
    busy.trouble = (503, "Not ready", "")
    app.run()
    assert "**Not ready**" in said(app)


def test_every_kind_of_change_can_be_asked_for() -> None:
    assert set(change_table.KINDS) == set(get_args(Kind))


def test_until_is_the_first_moment_that_does_not_count(app: AppTest, busy: FakeApi) -> None:
    third = busy.overlay.changes[1]["at"]
    open_page(app, "history", until=third[:16])
    assert f"until={third[:16].replace(':', '%3A')}%3A00Z" in calls(busy, "/v1/changes?")[-1]
    assert names(app, "version") == ["2"]
    app.datetime_input(key="until").set_value(None).run()
    assert names(app, "version") == ["4", "3", "2"]


def test_a_change_of_the_policy_says_what_it_changed(app: AppTest, api: FakeApi) -> None:
    api.overlay.change_policy({"k": 2, "rho": 4.5}, "admin")
    open_page(app, "history", change="2")
    assert names(app, "what") == ["k 1 → 2, rho 3 → 4.5"]
    assert "Version 2: policy k 1 → 2, rho 3 → 4.5" in said(app)
    table = app.dataframe[1].value
    assert [tuple(row) for row in table.itertuples(index=False)] == [("k", "1", "2"), ("rho", "3", "4.5")]


def test_a_batch_about_one_broker_names_it(app: AppTest, api: FakeApi) -> None:
    overlay = api.overlay
    steps = [{"op": "subscribe", "broker": HUB, "topics": ["/x", "/y"]}]
    overlay.apply(overlay.plan(steps), "batch", None, "nightshift")
    both = [{"op": "subscribe", "broker": broker, "topics": ["/z"]} for broker in (HUB, "/region/0/broker-1")]
    overlay.apply(overlay.plan(both), "batch", None, "nightshift")
    open_page(app, "history", change="2")
    assert names(app, "broker") == ["", HUB]
    assert f"Version 2: batch {HUB} (+2 subscriptions)" in said(app)


def test_a_file_is_made_of_pages_as_long_as_the_api_gives_them(busy: FakeApi) -> None:
    busy.max_page_size = 10
    rows = paged._all(functools.partial(client.brokers, KEY), "", "id", functools.partial(client.rows, KEY))
    assert rows["id"].is_unique
    assert len(rows) == 21
    asked = {call.partition("sort=id")[2] for call in calls(busy, "/v1/brokers?")}
    assert asked == {"&limit=10", "&limit=10&after=10", "&limit=10&after=20"}
