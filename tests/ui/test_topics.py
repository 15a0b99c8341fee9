"""The list of topics: search, order, pages, and the same state from the URL."""

from __future__ import annotations

import networkx as nx
import pytest
from streamlit.testing.v1 import AppTest

from tests.ui.fake_api import FakeApi
from tests.ui.pages import last_list, names, open_page, said, seen
from ui import client


def test_it_lists_the_first_page_by_subscribers(app: AppTest) -> None:
    open_page(app, "topics")
    assert names(app)[:3] == ["/orders/paid", "/stock/levels", "/orders/created"]
    assert len(names(app)) == 50
    assert "1–50 of 65 topics" in said(app)
    assert "a header other than Connectivity to sort" in said(app)


def test_a_search_asks_the_api_and_is_kept_in_the_url(app: AppTest, api: FakeApi) -> None:
    open_page(app, "topics", page="2")
    app.text_input(key="q").input("orders").run()
    assert "q=orders" in last_list(api)
    assert "offset=0" in last_list(api)
    assert names(app) == ["/orders/paid", "/orders/created"]
    assert app.query_params["q"] == "orders"
    assert "page" not in app.query_params


def test_an_order_asks_the_api_and_is_kept_in_the_url(app: AppTest, api: FakeApi) -> None:
    open_page(app, "topics")
    app.selectbox(key="sort").set_value("-components").run()
    assert "sort=-components" in last_list(api)
    assert names(app)[0] == "/stock/levels"
    assert app.query_params["sort"] == "-components"


def test_the_url_brings_back_search_order_and_page(app: AppTest, api: FakeApi) -> None:
    open_page(app, "topics", q="plain", sort="name", page="2")
    assert "q=plain" in last_list(api)
    assert "sort=name" in last_list(api)
    assert names(app) == [f"/plain/{number:03}" for number in range(50, 60)]
    assert "51–60 of 60 topics found" in said(app)


def test_nonsense_in_the_url_is_ignored(app: AppTest, api: FakeApi) -> None:
    open_page(app, "topics", sort="-secret", page="minus one")
    assert "sort=-subscribers" in last_list(api)
    assert "offset=0" in last_list(api)


def test_a_page_past_the_end_shows_the_last(app: AppTest) -> None:
    open_page(app, "topics", page="99")
    assert "51–65 of 65 topics" in said(app)


def test_no_match_says_what_to_do(app: AppTest) -> None:
    open_page(app, "topics", q="no such thing")
    assert "No topic matches `no such thing`" in said(app)
    assert "Shorten the search." in said(app)


def test_a_refusal_is_shown_with_its_detail(app: AppTest, api: FakeApi) -> None:
    app.run()
    api.trouble = (422, "Bad value", "limit: at most 500")
    open_page(app, "topics")
    assert "**Bad value**" in app.error[0].value
    assert "limit: at most 500." in seen(app.error[0].value)


def test_problems_only_asks_the_api_and_is_kept_in_the_url(app: AppTest, api: FakeApi) -> None:
    open_page(app, "topics")
    app.toggle(key="problems").set_value(True).run()
    assert "problems=true" in last_list(api)
    assert names(app) == ["/stock/levels"]
    assert app.query_params["problems"] == "True"
    del api.overlay.graphs["/stock/levels"]
    client.forget()
    app.run()
    assert "No topic apart or less connected than the policy asks." in said(app)


def test_a_diameter_that_is_a_lower_bound_is_marked(app: AppTest, api: FakeApi) -> None:
    api.overlay.graphs["/crowd"] = nx.path_graph([f"broker {number:03}" for number in range(602)])
    open_page(app, "topics", q="crowd")
    assert names(app, "diameter") == ["≥ 601"]
    open_page(app, "topics", q="orders/created")
    assert names(app, "diameter") == ["2"]


def test_brokers_without_topics_are_not_said_to_be_missing(
    app: AppTest, api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = api.overlay.overlay()
    api.overlay.graphs.clear()
    monkeypatch.setattr(api.overlay, "overlay", lambda: whole)
    open_page(app, "topics")
    assert "No topics yet" in said(app)
    assert "No brokers yet" not in said(app)


def test_it_names_the_version_and_follows_it(app: AppTest, api: FakeApi) -> None:
    open_page(app, "topics", q="orders")
    assert "2 topics found at version 1." in said(app)
    overlay = api.overlay
    overlay.apply(overlay.plan([{"op": "leave", "broker": "/region/2/broker-8"}]), "leave", None, "night")
    client.overlay.clear()
    # The page learns of it by its own clock, in the same run.
    app.run()
    assert "2 topics found at version 2." in said(app)
    assert app.text_input(key="q").value == "orders"
    assert names(app, "subscribers") == [11, 8]
