"""The list of brokers and one broker's page: figures, tables, what may be done and by whom."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from backend.api import brokers as backend_brokers
from tests.ui.fake_api import Answer, FakeApi, problem
from tests.ui.pages import button, calls, metrics, names, open_page, said
from ui import broker_table, client, listing

HUB = "/region/0/broker-0"


def test_the_list_begins_with_most_links_and_asks_for_one_page(app: AppTest, api: FakeApi) -> None:
    open_page(app, "brokers")
    assert "limit=50" in calls(api, "/v1/brokers?")[-1]
    degrees = list(app.dataframe[0].value["degree"])
    assert degrees == sorted(degrees, reverse=True)
    assert f"{len(degrees)} brokers at version 1. Click a name" in said(app)
    assert "blast_radius" not in app.dataframe[0].value


def test_a_search_and_an_order_ask_the_api_and_are_kept_in_the_url(app: AppTest, api: FakeApi) -> None:
    open_page(app, "brokers", page="2")
    app.text_input(key="q").input("region/3").run()
    app.selectbox(key="sort").set_value("-blast_radius").run()
    asked = calls(api, "/v1/brokers?")[-1]
    assert "q=region%2F3" in asked
    assert "sort=-blast_radius" in asked
    assert app.query_params["q"] == "region/3"
    assert app.query_params["sort"] == "-blast_radius"
    assert "blast_radius" in app.dataframe[0].value


def test_every_header_sorts(app: AppTest, api: FakeApi) -> None:
    open_page(app, "brokers")
    for column in broker_table.COLUMNS:
        for sort in (f"-{column}", column):
            app.selectbox(key="sort").set_value(sort).run()
            assert any(f"sort={sort}&" in call for call in calls(api, "/v1/brokers?"))
            assert app.query_params.get("sort", "-degree") == sort
    assert "a header to sort." in said(app)


def test_the_api_sorts_by_every_header() -> None:
    assert set(broker_table.COLUMNS) == set(backend_brokers._COLUMNS)


def test_a_sort_of_another_page_is_not_taken_over(app: AppTest, api: FakeApi) -> None:
    open_page(app, "topics", sort="-components")
    open_page(app, "brokers", sort="-components")
    assert "sort=-degree" in calls(api, "/v1/brokers?")[-1]


def test_no_match_says_what_to_do(app: AppTest) -> None:
    open_page(app, "brokers", q="nobody")
    assert "No broker matches `nobody`" in said(app)


def test_a_broker_says_what_breaks_if_it_goes(app: AppTest, api: FakeApi) -> None:
    open_page(app, "broker", broker=HUB)
    blast = api.overlay.blast_radius(HUB)
    assert f"**If it goes, {len(blast)} topics come apart**" in said(app)
    shown = api.overlay.broker(HUB)
    assert metrics(app) == {
        "Degree": str(shown["degree"]),
        "Topics": str(len(shown["topics"])),
        "Blast radius": str(len(blast)),
        "Backups": "2",
        "Primaries": "2",
        "Version": "1",
    }
    assert sorted(names(app, "broker")) == [link["broker"] for link in shown["links"]]
    assert list(app.dataframe[1].value["topic"])[: len(blast)] == blast
    assert "`site` = `north`" in said(app)


def test_a_broker_that_breaks_nothing_says_so(app: AppTest, api: FakeApi) -> None:
    quiet = next(b for b in api.overlay.whole() if not api.overlay.blast_radius(b))
    open_page(app, "broker", broker=quiet)
    assert "**If it goes, no topic comes apart.**" in said(app)


def test_its_history_is_asked_for_by_broker(app: AppTest, api: FakeApi) -> None:
    overlay = api.overlay
    plan = overlay.plan([{"op": "subscribe", "broker": HUB, "topics": ["/new"]}])
    overlay.apply(plan, "subscribe", HUB, "night")
    open_page(app, "broker", broker=HUB)
    assert "broker=%2Fregion%2F0%2Fbroker-0" in calls(api, "/v1/changes?")[-1]
    changes = app.dataframe[-1].value
    assert list(changes["kind"]) == ["subscribe"]
    assert list(changes["what"]) == ["+1 subscription"]


def test_a_broker_that_left_leads_back(app: AppTest) -> None:
    open_page(app, "broker", broker="/gone")
    assert "The overlay has no broker `/gone`" in said(app)


def test_no_broker_in_the_url_leads_to_the_list(app: AppTest) -> None:
    open_page(app, "broker")
    assert "No broker chosen" in said(app)


@pytest.mark.parametrize(("scope", "offered"), [("read", False), ("operate", True), ("admin", True)])
def test_what_changes_is_offered_by_scope(app: AppTest, api: FakeApi, scope: str, offered: bool) -> None:
    api.scope = scope
    open_page(app, "broker", broker=HUB)
    buttons = [button.label for button in app.button]
    assert ("Leave …" in buttons) is offered
    assert ("Subscribe …" in buttons) is offered
    assert ("Unsubscribe …" in buttons) is offered
    assert ("needs a key with the scope operate" in said(app)) is not offered


def test_leave_shows_its_plan_and_changes_nothing(app: AppTest, api: FakeApi) -> None:
    open_page(app, "broker", broker=HUB)
    next(button for button in app.button if button.label == "Leave …").click().run()
    assert not app.exception
    assert api.sent == [("DELETE", "/v1/brokers/%2Fregion%2F0%2Fbroker-0?dry_run=true", None)]
    planned = api.overlay.plan([{"op": "leave", "broker": HUB}])
    table = next(d.value for d in app.dataframe if "change" in d.value)
    assert list(table["change"]).count("+ open") == len(planned.opened)
    assert list(table["change"]).count("− close") == len(planned.closed)
    assert next(button for button in app.button if button.label == "Let it leave").disabled
    assert api.overlay.version == 1


@pytest.mark.parametrize("operation", ["Subscribe …", "Unsubscribe …"])
def test_a_dialog_that_is_opened_again_makes_its_plan_anew(
    app: AppTest, api: FakeApi, operation: str
) -> None:
    open_page(app, "broker", broker=HUB)

    def opened() -> AppTest:
        # Chosen beforehand: a widget of a dialog, when used, closes it here.
        app.session_state["_topics_chosen"] = ["/orders/created"]
        return button(app, operation).click().run()

    assert metrics(opened())["Planned at"] == "1"
    token = next(field.key for field in app.text_input if str(field.key).startswith("_typed"))
    other = api.overlay.plan([{"op": "leave", "broker": "/region/5/broker-20"}])
    api.overlay.apply(other, "leave", "/region/5/broker-20", "another person")
    assert metrics(opened())["Planned at"] == "2"
    assert token not in [field.key for field in app.text_input], "nor is it sent as the change of before"


def test_the_tab_is_in_the_url_and_keeps_its_name_whatever_is_in_it(app: AppTest, api: FakeApi) -> None:
    open_page(app, "broker", broker=HUB, tab="Topics")
    assert app.session_state["tab"] == "Topics"
    labels = [tab.label for tab in app.tabs]
    assert f"{len(api.overlay.topics_of(HUB))} topics. Click a name to open it." in said(app)
    api.overlay.apply(
        api.overlay.plan([{"op": "subscribe", "broker": HUB, "topics": ["/new"]}]), "subscribe", HUB, "night"
    )
    client.forget()
    app.run()
    assert f"{len(api.overlay.topics_of(HUB))} topics. Click a name to open it." in said(app)
    assert [tab.label for tab in app.tabs] == labels
    assert app.session_state["tab"] == "Topics"
    open_page(app, "broker", broker=HUB, tab="no such tab")
    assert app.session_state["tab"] == "Links"


@pytest.mark.parametrize(
    ("operation", "chosen", "call"),
    [
        (
            "Subscribe …",
            ["/orders/paid"],
            ("POST", "/v1/brokers/%2Fregion%2F0%2Fbroker-0/topics/%2Forders%2Fpaid"),
        ),
        (
            "Unsubscribe …",
            ["/orders/created"],
            ("DELETE", "/v1/brokers/%2Fregion%2F0%2Fbroker-0/topics/%2Forders%2Fcreated"),
        ),
        ("Subscribe …", ["/orders/paid", "/none yet"], ("POST", "/v1/changes")),
        ("Unsubscribe …", ["/orders/created", "/audit/one"], ("POST", "/v1/changes")),
    ],
)
def test_one_topic_is_the_brokers_own_change_and_several_are_a_batch(
    app: AppTest, api: FakeApi, operation: str, chosen: list[str], call: tuple[str, str]
) -> None:
    open_page(app, "broker", broker=HUB)
    app.session_state["_topics_chosen"] = chosen
    button(app, operation).click().run()
    assert api.sent[-1][:2] == (call[0], f"{call[1]}?dry_run=true")
    assert metrics(app)["Planned at"] == "1"
    assert ("`/none yet` (a **new topic**)" in said(app)) is ("/none yet" in chosen)
    assert said(app).count("new topic") == ("/none yet" in chosen)


def test_an_installation_with_small_pages_can_be_subscribed_in(app: AppTest, api: FakeApi) -> None:
    api.max_page_size = 60
    open_page(app, "broker", broker=HUB)
    button(app, "Subscribe …").click().run()
    assert not app.error
    assert "limit=60" in calls(api, "/v1/topics?")[-1]


@pytest.mark.parametrize("page", ["brokers", "topics", "history", "what-if", "broker", "overview"])
def test_an_installation_with_very_small_pages_shows_every_list(
    app: AppTest, api: FakeApi, page: str
) -> None:
    api.max_page_size = 10
    open_page(app, page, broker=HUB, tab="History", problems="True")
    assert "rows a page" not in said(app)
    if page == "brokers":
        assert "1–10 of 22 brokers" in said(app)
        assert len(names(app, "id")) == 10
        open_page(app, page, page="3")
        assert "21–22 of 22 brokers" in said(app)


def test_the_file_of_links_holds_topics_of_any_name(
    app: AppTest, api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: list[pd.DataFrame] = []
    monkeypatch.setattr(listing, "as_csv", lambda _label, frame, *_: files.append(frame))
    open_page(app, "broker", broker="/region/0/broker-1")
    topics = {tuple(json.loads(text)) for text in files[0]["topics"]}
    assert topics == {tuple(link["topics"]) for link in api.overlay.broker("/region/0/broker-1")["links"]}
    assert any("/pair/of two" in names for names in topics)


def test_a_key_of_which_nothing_is_known_is_not_said_to_read_only(
    app: AppTest, api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = api.answer

    def nameless(method: str, target: str, headers: dict[str, str], body: object) -> Answer:
        if target == "/v1/me":
            return 500, problem(500, "The API failed", "")
        return answer(method, target, headers, body)

    monkeypatch.setattr(api, "answer", nameless)
    open_page(app, "broker", broker=HUB)
    assert "The API did not say what yours may do." in said(app)
    assert "Yours may read only." not in said(app)
