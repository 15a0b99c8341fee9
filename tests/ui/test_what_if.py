"""What-if: choosing brokers, what comes apart, the two drawings, and links that can be shared."""

from __future__ import annotations

from typing import cast
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from tests.ui.fake_api import FakeApi
from tests.ui.pages import button, calls, metrics, open_page, said
from ui import client, listing, topic_change, topic_graph
from ui.answers import TopicGraph

HUB = "/region/0/broker-0"


def test_nothing_fails_until_somebody_is_chosen(app: AppTest, api: FakeApi) -> None:
    open_page(app, "what-if")
    assert "Nothing fails yet" in said(app)
    assert not api.sent
    assert "limit=20" in calls(api, "/v1/brokers?")[-1]


def test_it_says_what_comes_apart_and_what_the_repair_opens(app: AppTest, api: FakeApi) -> None:
    open_page(app, "what-if", leave=HUB)
    planned = api.overlay.plan([{"op": "leave", "broker": HUB}])
    assert f"**If `{HUB}` fails, 1 topic comes apart.**" in said(app)
    assert f"The repair would open {len(planned.opened)} links." in said(app)
    assert metrics(app)["Topics apart"] == str(len(planned.apart))
    assert set(app.dataframe[0].value["topic"]) == {apart["topic"] for apart in planned.apart}
    assert len(app.dataframe[1].value) == len(planned.opened) + len(planned.closed)
    assert api.overlay.version == 1
    assert [method for method, _, _ in api.sent] == ["POST"]


def test_a_broker_without_a_name_in_the_drawing_is_named_by_a_click(app: AppTest) -> None:
    open_page(app, "what-if", leave=HUB)
    assert said(app).count("Click a broker to read its id.") == 2


def test_a_choice_is_kept_in_the_url(app: AppTest) -> None:
    open_page(app, "what-if")
    app.multiselect(key="leave").select(HUB).run()
    assert app.query_params["leave"] == HUB
    app.button[0].click().run()
    assert app.query_params["leave"].count("\n") == 4
    assert "**If these 5 brokers fail" in said(app)


def test_a_pasted_list_is_taken_once_each(app: AppTest, api: FakeApi) -> None:
    open_page(app, "what-if")
    app.text_area(key="_pasted").input(f"  {HUB}\n\n/region/0/broker-1\n{HUB}\n").run()
    next(button for button in app.button if button.label == "Take these").click().run()
    assert api.sent[-1][2]["leave"] == [HUB, "/region/0/broker-1"]


def test_a_broker_that_left_is_named_and_taken_out(app: AppTest, api: FakeApi) -> None:
    far = "/a broker with a long name" * 6
    open_page(app, "what-if", leave=f"/nobody\n{HUB}\n{far}")
    assert "**The overlay has no broker `/nobody`**: it may have left" in app.warning[0].value
    button(app, "Take it out").click().run()
    assert app.query_params["leave"] == f"{HUB}\n{far}"
    assert f"**The overlay has no broker `{far}`**" in app.warning[0].value, "the API shortens it"
    button(app, "Take it out").click().run()
    assert app.query_params["leave"] == HUB
    assert not calls(api, "/v1/brokers/"), "a call a broker is a thousand for a long list"
    assert f"**If `{HUB}` fails, 1 topic comes apart.**" in said(app)


def test_what_would_be_less_connected_than_the_policy_asks_is_said(app: AppTest, api: FakeApi) -> None:
    ring_alone = {name: api.overlay.graphs[name] for name in ("/orders/paid", "/orders/created")}
    api.overlay.graphs = ring_alone
    open_page(app, "what-if", leave="/region/1/broker-5")
    assert "connected" not in said(app)
    assert not [label for label in metrics(app) if label.startswith("Below")]
    api.overlay.policy |= {"k": 2}
    api.overlay.version = 2
    client.forget()
    app.run()
    # A ring without one is a row, and a star without a point is a star still.
    assert "no topic comes apart.**" in app.success[0].value
    assert "**2 topics would no longer be 2-connected**" in app.warning[0].value
    assert metrics(app)["Below k = 2"] == "2"


def test_the_drawing_shows_what_is_cut_off_and_what_joins_it(api: FakeApi) -> None:
    graph = cast(TopicGraph, api.overlay.graph("/orders/created"))
    before = topic_change.failed(graph, [HUB])
    assert {node["component"] for node in before["nodes"] if not node.get("failed")} == set(range(8))
    assert not before["links"]
    planned = api.overlay.plan([{"op": "leave", "broker": HUB}])
    after = topic_change.repaired(graph, [HUB], planned.opened, planned.closed)
    assert all(link.get("opened") for link in after["links"])
    assert sum(node["component"] == 0 for node in after["nodes"]) > 1


def test_a_link_that_the_repair_closes_does_not_stay(api: FakeApi) -> None:
    graph = cast(TopicGraph, api.overlay.graph("/orders/paid"))
    gone, closed = graph["nodes"][0]["id"], graph["links"][5]
    assert gone not in (closed["a"], closed["b"])
    before = topic_change.failed(graph, [gone])
    after = topic_change.repaired(graph, [gone], [], [[closed["b"], closed["a"]]])
    assert [link for link in before["links"] if link not in after["links"]] == [closed]
    degrees = [
        {node["id"]: node["topic_degree"] for node in drawn["nodes"]}[closed["a"]]
        for drawn in (before, after)
    ]
    assert degrees[0] - degrees[1] == 1


def test_a_topic_too_large_to_draw_is_shown_around_what_is_cut_off(
    app: AppTest, api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topic_graph, "MAX_BROKERS", 5)
    stranger = next(b["id"] for b in api.overlay.brokers("", "id", 50, 0)["items"] if b["id"] != HUB)
    open_page(app, "what-if", leave=f"{stranger}\n{HUB}")
    assert not app.error
    assert "The topic is too large to draw whole." in said(app)
    asked = calls(api, "/v1/topics/%2Forders%2Fcreated/graph")[-1]
    apart = api.overlay.plan([{"op": "leave", "broker": b} for b in (stranger, HUB)]).apart
    parts = next(topic["components"] for topic in apart if topic["topic"] == "/orders/created")
    assert parse_qs(urlsplit(asked).query)["around"][0] in {broker for part in parts for broker in part}


def test_a_part_of_a_topic_keeps_the_components_of_the_whole() -> None:
    graph: TopicGraph = {
        "name": "x",
        "version": 1,
        "nodes": [
            {
                "id": name,
                "x": 0.5,
                "y": 0.0,
                "degree": 2,
                "topic_degree": 1,
                "component": 0,
                "articulation": False,
            }
            for name in ("cut", "gone", "near")
        ],
        "links": [{"a": "cut", "b": "gone", "bridge": True}, {"a": "gone", "b": "near", "bridge": True}],
    }
    parts = [["cut"], ["near", "far", "further"]]
    assert topic_change.cut_off(parts, [("gone", "near"), ("cut", "gone")]) == "cut"
    opened = [("cut", "far"), ("cut", "not in the topic"), ("elsewhere", "further")]
    wide = topic_change.reached(graph, opened, parts)
    assert [node["id"] for node in wide["nodes"]] == ["cut", "gone", "near", "far"]
    assert wide["nodes"][3]["x"] > 0.5, "further out than what it is linked to"
    before = topic_change.failed(wide, ["gone"], parts)
    assert {node["id"]: node["component"] for node in before["nodes"] if not node.get("failed")} == {
        "cut": 1,
        "near": 0,
        "far": 0,
    }
    after = topic_change.repaired(wide, ["gone"], opened, [], [["cut", "near", "far", "further"]])
    assert [(link["a"], link["b"]) for link in after["links"]] == [("cut", "far")]
    assert {node["component"] for node in after["nodes"]} == {0}


def test_many_who_fail_do_not_make_a_small_topic_too_large(
    app: AppTest, api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topic_graph, "MAX_BROKERS", 9)
    others = sorted(set(api.overlay.whole()) - set(api.overlay.graphs["/orders/created"]))[:5]
    open_page(app, "what-if", leave="\n".join([HUB, *others]), topic="/orders/created")
    assert "too large to draw" not in said(app)


def test_its_file_holds_every_link_with_its_reason(
    app: AppTest, api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: dict[str, pd.DataFrame] = {}
    monkeypatch.setattr(listing, "as_csv", lambda _label, frame, file_name: files.update({file_name: frame}))
    open_page(app, "what-if", leave=HUB)
    planned = api.overlay.plan([{"op": "leave", "broker": HUB}])
    table = files["what-if-links-v1.csv"]
    assert list(table.columns) == ["change", "broker_a", "broker_b", "reason"]
    wanted = [
        ("+ open", *pair, why) for pair, why in zip(planned.opened, planned.opened_reasons, strict=True)
    ]
    wanted += [
        ("− close", *pair, why) for pair, why in zip(planned.closed, planned.closed_reasons, strict=True)
    ]
    assert [tuple(row) for row in table.itertuples(index=False)] == wanted
