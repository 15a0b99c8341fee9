"""One topic's page: the answer for every kind of topic, the table, the files, what is not drawn."""

from __future__ import annotations

import base64
from itertools import pairwise
from typing import Any, cast

import networkx as nx
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from tests.ui.fake_api import FakeApi
from tests.ui.pages import metrics, names, open_page, said, seen
from ui import client, listing, url_state
from ui.answers import GraphBroker
from ui.palette import PALETTES
from ui.topic_graph import mark


def drawn(app: AppTest) -> bool:
    """AppTest knows the drawing only as an element it does not know."""
    return any("bidi" in type(element.proto).__name__.lower() for element in app.get("bidi_component"))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "/orders/created",
            "**In one piece**: all 9 subscribers reach each other. The loss of one broker would split it",
        ),
        (
            "/orders/paid",
            "**In one piece, 2-connected**: it stays so when any one of its 12 subscribers goes.",
        ),
        (
            "/stock/levels",
            "**Apart, in 3 components**: 5 subscribers of 11 cannot reach the largest component.",
        ),
        ("/audit/one", "**Nothing to connect**: the topic has one subscriber."),
        ("/pair/of two", "**In one piece**: its two subscribers are linked."),
    ],
)
def test_the_answer_comes_first(app: AppTest, name: str, sentence: str) -> None:
    open_page(app, "topic", topic=name)
    assert seen(app.title[0].value) == name
    assert sentence in said(app)


def test_its_name_is_one_segment_of_the_path(app: AppTest, api: FakeApi) -> None:
    open_page(app, "topic", topic="/pair/of two")
    assert "/v1/topics/%2Fpair%2Fof%20two" in api.asked
    assert "/v1/topics/%2Fpair%2Fof%20two/graph" in api.asked


def test_its_figures_are_the_topics(app: AppTest) -> None:
    open_page(app, "topic", topic="/stock/levels")
    assert metrics(app) == {
        "Subscribers": "11",
        "Components": "3",
        "Connectivity": "0",
        "Diameter": "–",
        "Articulation": "1",
        "Bridges": "3",
        "Version": "1",
    }


def test_the_table_begins_with_those_that_hold_it_together(app: AppTest) -> None:
    open_page(app, "topic", topic="/orders/created")
    assert drawn(app)
    assert names(app, "broker")[0] == "/region/0/broker-0"
    assert names(app, "articulation") == [True] + [False] * 8


def test_one_subscriber_is_not_drawn(app: AppTest) -> None:
    open_page(app, "topic", topic="/audit/one")
    assert not drawn(app)
    assert names(app, "broker") == ["/region/0/broker-0"]


def test_more_than_600_subscribers_are_counted_not_drawn(app: AppTest, api: FakeApi) -> None:
    brokers = [f"broker {number:03}" for number in range(601)]
    crowd: nx.Graph[str] = nx.Graph(list(pairwise(brokers)))
    crowd.remove_edge("broker 399", "broker 400")
    api.overlay.graphs["/crowd"] = crowd
    open_page(app, "topic", topic="/crowd")
    assert "/v1/topics/%2Fcrowd/graph" not in api.asked
    assert "/v1/topics/%2Fcrowd/graph?around=broker+001" in api.asked
    assert drawn(app)
    assert "601 subscribers would show nothing" in said(app)
    assert list(app.dataframe[0].value["brokers"]) == [400, 201]
    assert len(app.dataframe[1].value) == 601


def test_a_subscriber_of_a_large_topic_is_found_and_its_neighbourhood_drawn(
    app: AppTest, api: FakeApi
) -> None:
    api.overlay.graphs["/crowd"] = nx.Graph(list(pairwise(f"broker {number:03}" for number in range(601))))
    open_page(app, "topic", topic="/crowd")
    assert metrics(app)["Diameter"] == "≥ 600", "of so large a topic it is a lower bound"
    assert len(app.selectbox(key="around").options) == 100
    assert "100 of 601 can be chosen: find the others by their ids." in said(app)
    app.text_input(key="_around_query").input("R 59").run()
    wanted = [f"broker {number}" for number in range(590, 600)]
    assert app.selectbox(key="around").options[1:] == wanted
    app.selectbox(key="around").set_value("broker 597").run()
    assert "/v1/topics/%2Fcrowd/graph?around=broker+597" in api.asked
    assert app.query_params["around"] == "broker 597"
    app.text_input(key="_around_query").input("nobody").run()
    assert "No subscriber matches. Shorten the search." in said(app)


def test_the_selected_broker_is_in_the_url(app: AppTest) -> None:
    open_page(app, "topic", topic="/orders/paid", selected="/region/2/broker-8")
    assert "`/region/2/broker-8`" in said(app)
    assert app.query_params["selected"] == "/region/2/broker-8"
    open_page(app, "topic", topic="/orders/paid", selected="/region/2/broker-9")
    assert "`/region/2/broker-9`" in said(app)
    assert app.query_params["selected"] == "/region/2/broker-9", "Back and links are followed"
    open_page(app, "topic", topic="/orders/paid", selected="/nobody")
    assert "selected" not in app.query_params


def test_a_topic_that_is_gone_leads_back_to_the_list(app: AppTest) -> None:
    open_page(app, "topic", topic="/gone")
    assert "The overlay has no topic `/gone`" in said(app)


def test_no_topic_in_the_url_leads_to_the_list(app: AppTest) -> None:
    open_page(app, "topic")
    assert "No topic chosen" in said(app)


def test_it_follows_the_overlay(app: AppTest, api: FakeApi) -> None:
    open_page(app, "topic", topic="/orders/paid")
    api.overlay.version = 2
    api.overlay.graphs["/orders/paid"].remove_node("/region/2/broker-8")
    client.overlay.clear()
    app.run()
    assert metrics(app)["Version"] == "2"
    assert metrics(app)["Subscribers"] == "11"


def test_it_shows_an_older_version(app: AppTest, api: FakeApi) -> None:
    overlay = api.overlay
    overlay.apply(overlay.plan([{"op": "leave", "broker": "/region/2/broker-8"}]), "leave", None, "night")
    open_page(app, "topic", topic="/orders/paid", version="1")
    assert "**As it was at version 1.** The overlay is at version 2 now." in said(app)
    assert metrics(app)["Subscribers"] == "12"
    assert "/v1/topics/%2Forders%2Fpaid/graph?version=1" in api.asked
    app.number_input(key="_version").set_value(2).run()
    assert "version" not in app.query_params
    assert metrics(app)["Subscribers"] == "11"


def test_a_version_that_is_not_kept_is_said(app: AppTest, api: FakeApi) -> None:
    api.overlay.version, api.overlay.oldest_version = 9, 7
    open_page(app, "topic", topic="/orders/paid", version="3")
    assert "Not at version 3" in said(app)


@pytest.mark.parametrize("version", ["99999999999999999999", str(url_state.MOST), "-1", "1e3"])
def test_a_version_that_no_overlay_has_is_no_mistake_of_ours(app: AppTest, version: str) -> None:
    open_page(app, "topic", topic="/orders/paid", version=version)
    if version == str(url_state.MOST):
        assert "Not at version 9,007,199,254,740,991" in said(app)
    else:
        assert metrics(app)["Version"] == "1"


def test_what_is_shown_stays_while_the_api_is_away(app: AppTest, api: FakeApi) -> None:
    open_page(app, "topic", topic="/orders/paid")
    client.overlay.clear()
    api.trouble = (503, "Not ready", "")
    app.run()
    assert metrics(app)["Subscribers"] == "12"
    assert "Not ready. Shown is version 1." in said(app)


def test_where_the_policy_asks_for_two_a_topic_that_one_broker_splits_is_a_warning(
    app: AppTest, api: FakeApi
) -> None:
    api.overlay.policy |= {"k": 2}
    open_page(app, "topic", topic="/orders/created")
    assert (
        "**In one piece, but not 2-connected** as the policy asks. The loss of one broker"
        in app.warning[0].value
    )
    assert not app.success
    open_page(app, "topic", topic="/orders/paid")
    assert not app.warning
    open_page(app, "topic", topic="/pair/of two")
    assert not app.warning, "two subscribers that are linked are all that they can be"


@pytest.mark.parametrize("at_risk", [False, True])
def test_an_articulation_broker_is_amber_where_the_policy_asks_for_two(api: FakeApi, at_risk: bool) -> None:
    hub = next(b for b in api.overlay.graph("/orders/created")["nodes"] if b["articulation"])
    colours = PALETTES["light"]
    picture = mark(cast(GraphBroker, hub), 10.0, colours, at_risk=at_risk)["url"]
    svg = base64.b64decode(picture.partition(",")[2]).decode()
    assert (colours.at_risk in svg, colours.broken in svg) == (at_risk, not at_risk)


def test_its_files_hold_its_brokers_and_links(
    app: AppTest, api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: dict[str, pd.DataFrame] = {}

    def saved(_label: str, frame: pd.DataFrame, file_name: str, **_: Any) -> None:
        files[file_name] = frame

    monkeypatch.setattr(listing, "as_csv", saved)
    open_page(app, "topic", topic="/orders/created")
    graph = api.overlay.graphs["/orders/created"]
    assert set(files) == {"topic-brokers-v1.csv", "topic-links-v1.csv"}
    assert set(files["topic-brokers-v1.csv"]["broker"]) == set(graph)
    pairs = files["topic-links-v1.csv"][["broker_a", "broker_b"]].itertuples(index=False)
    assert {frozenset(pair) for pair in pairs} == {frozenset(edge) for edge in graph.edges}
    assert set(files["topic-links-v1.csv"]["bridge"]) == {True}
