"""The history on a real Neo4j: pages, older versions, differences, the trend, and what is kept."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import neo4j
import pytest

from algorithms import Interests, Overlay
from backend.api import overlay
from backend.errors import Conflict
from backend.history import Difference
from backend.live import feed
from backend.live.mirror import Mirror
from backend.record import ChangeRecord
from tests.backend.conftest import rows
from tests.backend.live import Served, served
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j

State = tuple[dict[str, list[str]], set[tuple[str, str]]]


@pytest.fixture
def live(neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path) -> Iterator[Served]:
    with served(neo4j_server, database, tmp_path) as opened:
        yield opened


def churn(live: Served, changes: int, seed: int = 1) -> dict[int, State]:
    """Some changes of every kind; what Cypher read back after each, by version."""
    draw = random.Random(seed)
    topics = [f"t{i}" for i in range(6)] + ["/a topic/with 'quotes'"]
    here: list[str] = []
    states: dict[int, State] = {0: ({}, set())}
    for i in range(changes):
        some = draw.sample(topics, draw.randint(0, 4))
        kind = draw.choice(["join", "join", "join", "leave", "set", "batch"]) if len(here) > 2 else "join"
        if kind == "join":
            # A third of those who come were here before.
            name = f"b{draw.randrange(i + 1):02d}"
            if name in here:
                continue
            live.join(name, *some)
            here.append(name)
        elif kind == "leave":
            live.leave(here.pop(draw.randrange(len(here))))
        elif kind == "set":
            live.ask("PUT", "brokers", draw.choice(here), "topics", json={"topics": some})
        else:
            gone = here.pop(draw.randrange(len(here)))
            batch = [
                {"op": "leave", "broker": gone},
                {"op": "subscribe", "broker": draw.choice(here), "topics": some[:1]},
                {"op": "join", "broker": f"n{i}", "topics": some},
            ]
            live.ask("POST", "changes", json=batch)
            here.append(f"n{i}")
        states[live.version] = (live.stored_interests(), live.stored_links())
    return states


def overlay_of(state: State) -> Overlay:
    interests, links = state
    return Overlay.from_names(Interests.from_mapping(interests), links)


def check_version(live: Served, version: int, state: State) -> None:
    overlay = overlay_of(state)
    told = live.ask("GET", "overlay", params={"version": version})
    assert (told["version"], told["brokers"], told["links"]) == (
        version,
        len(overlay.interests.brokers),
        len(overlay.links),
    )
    assert (told["topics"], told["subscriptions"]) == (
        len(overlay.interests.topics),
        overlay.interests.subscriptions,
    )
    assert (told["topics_apart"], told["topics_below_k"]) == (0, 0)
    assert sum(degree * count for degree, count in told["degree_histogram"]) == 2 * len(overlay.links)
    for topic in overlay.interests.topics:
        drawn = live.ask("GET", "topics", topic, "graph", params={"version": version})
        assert [node["id"] for node in drawn["nodes"]] == overlay.interests.subscribers_of(topic)
        graph = overlay.topic_graph(topic)
        names = graph.vs["name"]
        assert {(link["a"], link["b"]) for link in drawn["links"]} == {
            (names[a], names[b]) for a, b in graph.get_edgelist()
        }
        one = live.ask("GET", "topics", topic, params={"version": version})
        assert (one["version"], one["subscribers"]) == (version, len(names))
        assert len(one["components"]) == 1


def test_a_topic_is_drawn_around_one_broker(live: Served) -> None:
    for i in range(12):
        live.join(f"b{i:02d}", "x", f"own {i}")
    whole = live.ask("GET", "topics", "x", "graph")
    links = {(link["a"], link["b"]) for link in whole["links"]}

    def near(brokers: set[str]) -> set[str]:
        return brokers | {end for link in links if brokers & set(link) for end in link}

    part = live.ask("GET", "topics", "x", "graph", params={"around": "b00"})
    shown = {node["id"] for node in part["nodes"]}
    assert shown == near(near({"b00"}))
    assert len(shown) < 12, "the overlay of the test is too dense to tell"
    assert {(link["a"], link["b"]) for link in part["links"]} == {
        link for link in links if set(link) <= shown
    }
    rest = {node["id"]: node for node in whole["nodes"]}
    for node in part["nodes"]:
        for same in ("degree", "topic_degree", "component", "articulation"):
            assert node[same] == rest[node["id"]][same]
    live.join("later", "x")
    past = live.ask("GET", "topics", "x", "graph", params={"around": "b00", "version": 12})
    assert {node["id"] for node in past["nodes"]} == shown
    for missing in ({"around": "nobody"}, {"around": "later", "version": 12}):
        assert live.ask("GET", "topics", "x", "graph", params=missing, status=404)["field"] == "around"


def difference_of(first: State, second: State) -> dict[str, list[Any]]:
    def subscriptions(state: State) -> set[tuple[str, str]]:
        return {(broker, topic) for broker, topics in state[0].items() for topic in topics}

    def lost(one: set[Any], other: set[Any]) -> list[Any]:
        return [list(thing) if isinstance(thing, tuple) else thing for thing in sorted(one - other)]

    return {
        "opened": lost(second[1], first[1]),
        "closed": lost(first[1], second[1]),
        "joined": lost(set(second[0]), set(first[0])),
        "left": lost(set(first[0]), set(second[0])),
        "subscribed": lost(subscriptions(second), subscriptions(first)),
        "unsubscribed": lost(subscriptions(first), subscriptions(second)),
    }


def test_every_version_can_be_seen_again(
    live: Served, neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path
) -> None:
    states = churn(live, 40)
    order = sorted(states)
    for version in [*order[::6], *random.Random(2).sample(order, 5)]:
        check_version(live, version, states[version])
    draw = random.Random(3)
    for _ in range(12):
        a, b = draw.choice(order), draw.choice(order)
        told = live.ask("GET", "diff", params={"from": a, "to": b})
        assert told == {"from": a, "to": b, **difference_of(states[a], states[b])}
    # A process that has just started has no records in memory: all of that comes from the database.
    with served(neo4j_server, database, tmp_path) as young:
        check_version(young, order[3], states[order[3]])
        assert young.ask("GET", "overlay")["at"] == live.ask("GET", "overlay")["at"]
        assert young.ask("GET", "overlay")["oldest_version"] == 0
        for page in ({"after": 3, "limit": 500}, {"after": 3, "limit": 500, "broker": "b00"}):
            assert young.ask("GET", "changes", params=page) == live.ask("GET", "changes", params=page)
        assert young.ask("GET", "trend") == live.ask("GET", "trend")


def test_versions_that_are_not_there(live: Served) -> None:
    live.join("a", "x")
    problem = live.ask("GET", "overlay", params={"version": 2}, status=404)
    assert problem["field"] == "version"
    assert "at version 1" in problem["detail"]
    assert live.ask("GET", "overlay", params={"version": 0})["at"] is None
    assert live.ask("GET", "topics", "x", params={"version": 0}, status=404)["field"] == "topic"
    assert live.ask("GET", "topics", "x", "graph", params={"version": 7}, status=404)["field"] == "version"
    assert live.ask("GET", "diff", params={"from": 1, "to": 9}, status=404)["field"] == "to"
    for bad in ("-1", "soon", str(2**63)):
        assert live.ask("GET", "overlay", params={"version": bad}, status=422)["field"] == "version"
    assert live.ask("GET", "diff", params={"from": 1}, status=422)["field"] == "to"


def test_pages_and_filters(live: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    live.join("a", "x", "y")
    live.join("b", "x")
    live.join("c", "y")
    live.leave("a")
    live.ask("POST", "brokers", "b", "topics", "y")
    live.join("d", "lonely")

    def versions(**params: Any) -> list[int]:
        return [change["version"] for change in live.ask("GET", "changes", params=params)["items"]]

    def both(**params: Any) -> list[int]:
        """The same from memory and from the database."""
        found = versions(**params)
        with monkeypatch.context() as only_database:
            only_database.setattr(feed.Feed, "first", None)
            assert versions(**params) == found
        return found

    assert both() == [1, 2, 3, 4, 5, 6]
    assert both(after=0) == [1, 2, 3, 4, 5, 6]
    assert both(after=2, before=5) == [3, 4]
    assert both(order="desc") == [6, 5, 4, 3, 2, 1]
    assert both(after=0, kind="join") == [1, 2, 3, 6]
    assert both(after=0, broker="a") == [1, 2, 3, 4]
    assert both(after=0, broker="c") == [3, 4, 5]
    assert both(after=0, broker="nobody ' OR 1=1") == []
    assert both(after=0, actor="nobody") == []
    actor = live.ask("GET", "changes")["items"][0]["actor"]
    assert both(after=0, actor=actor, kind="leave", broker="a") == [4]
    third = live.ask("GET", "changes", params={"after": 2, "limit": 1})["items"][0]
    assert both(after=0, since="2100-01-01T00:00:00Z") == []
    assert both(after=0, until="2100-01-01T00:00:00") == [1, 2, 3, 4, 5, 6]
    assert {3, 4, 5, 6} <= set(both(after=0, since=third["at"]))
    assert both(after=6) == []
    assert both(after=99) == []
    page = live.ask("GET", "changes", params={"limit": 4})
    assert (len(page["items"]), page["next"]) == (4, 4)
    page = live.ask("GET", "changes", params={"limit": 4, "after": page["next"]})
    assert ([change["version"] for change in page["items"]], page["next"]) == ([5, 6], None)
    page = live.ask("GET", "changes", params={"limit": 4, "order": "desc"})
    assert page["next"] == 3
    page = live.ask("GET", "changes", params={"limit": 4, "order": "desc", "before": 3})
    assert ([change["version"] for change in page["items"]], page["next"]) == ([2, 1], None)
    (left,) = live.ask("GET", "changes", params={"kind": "leave"})["items"]
    assert (left["kind"], left["broker"], left["left"], left["joined"]) == ("leave", "a", ["a"], [])
    assert left["unsubscribed"] == [["a", "x"], ["a", "y"]]
    assert len(left["closed"]) == len(left["closed_reasons"]) == 2


def test_a_bad_filter_is_named(live: Served) -> None:
    bad: list[tuple[dict[str, Any], str]] = [
        ({"kind": "fly"}, "kind"),
        ({"order": "sideways"}, "order"),
        ({"after": -1}, "after"),
        ({"before": "x"}, "before"),
        ({"limit": 0}, "limit"),
        ({"limit": 100_000}, "limit"),
        ({"since": "yesterday"}, "since"),
        ({"since": "0001-01-01T00:00:00+14:00"}, "since"),
        ({"until": "9999-12-31T23:59:59-12:00"}, "until"),
        ({"broker": "x" * 300}, "broker"),
    ]
    for params, field in bad:
        assert live.ask("GET", "changes", params=params, status=422)["field"] == field


def test_the_trend_follows_the_versions(live: Served) -> None:
    assert live.ask("GET", "trend") == {"points": []}
    states = churn(live, 30)
    points = live.ask("GET", "trend")["points"]
    assert [point["version"] for point in points] == sorted(states)[1:]
    for point in points:
        overlay = overlay_of(states[point["version"]])
        assert (point["brokers"], point["links"]) == (len(overlay.interests.brokers), len(overlay.links))
        assert (point["average_degree"], point["max_degree"]) == (overlay.average_degree, overlay.max_degree)
    few = live.ask("GET", "trend", params={"points": 7})["points"]
    assert len(few) <= 7
    assert few[-1]["version"] == points[-1]["version"]
    assert sum(point["opened"] for point in few) == sum(point["opened"] for point in points)
    live.join("one more", "t1")
    more = live.ask("GET", "trend", params={"points": 7})["points"]
    assert more[-1]["version"] == live.version
    assert sum(point["opened"] - point["closed"] for point in more) == more[-1]["links"]
    assert live.ask("GET", "trend", params={"points": 0}, status=422)["field"] == "points"


def test_what_is_older_than_the_settings_say_goes(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path
) -> None:
    with served(neo4j_server, database, tmp_path, history_versions=5) as live:
        states = churn(live, 20)
        last = live.version
        history = live.client.app.state.manager.history  # type: ignore[attr-defined]
        assert live.client.portal is not None
        check_version(live, last - 6, states[last - 6])
        live.client.portal.call(history.forget, datetime.now(UTC))
        live.client.portal.call(history.feed.restart)
        oldest = last - 5
        # Nearer to one that was seen while it was kept than to the live one.
        check_version(live, oldest + 1, states[oldest + 1])
        assert live.ask("GET", "overlay")["oldest_version"] == oldest
        kept = rows(database, "MATCH (c:Change) RETURN c.version AS v ORDER BY v")
        assert [row["v"] for row in kept] == list(range(oldest + 1, last + 1))
        check_version(live, oldest, states[oldest])
        for path in (["overlay"], ["topics", "t1"], ["topics", "t1", "graph"]):
            gone = live.ask("GET", *path, params={"version": oldest - 1}, status=410)
            assert gone["type"] == "urn:topicweave:problem:gone"
            assert str(oldest) in gone["detail"]
        assert live.ask("GET", "diff", params={"from": oldest - 1, "to": last}, status=410)["field"] == "from"
        assert live.ask("GET", "changes", params={"after": oldest - 1}, status=410)["field"] == "after"
        assert live.ask("GET", "changes")["items"][0]["version"] == oldest + 1
        assert live.ask("GET", "events", params={"after": 0}, status=410)["field"] == "after"
        assert [p["version"] for p in live.ask("GET", "trend")["points"]] == list(range(oldest + 1, last + 1))
    with served(neo4j_server, database, tmp_path, history_days=30) as live:
        history = live.client.app.state.manager.history  # type: ignore[attr-defined]
        assert live.client.portal is not None
        live.client.portal.call(history.forget, datetime.now(UTC) + timedelta(days=29))
        assert live.ask("GET", "overlay")["oldest_version"] == oldest
        live.client.portal.call(history.forget, datetime.now(UTC) + timedelta(days=31))
        assert live.ask("GET", "overlay")["oldest_version"] == last - 1, "the newest record stays"
        assert live.ask("GET", "overlay")["at"] is not None
        live.join("later", "t1")
        check_version(live, last, states[last])


def test_history_begins_with_an_import(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path
) -> None:
    with served(neo4j_server, database, tmp_path, demo="autoware") as live:
        first = live.ask("GET", "overlay")
        assert (first["version"], first["oldest_version"]) == (1, 1)
        assert live.ask("GET", "overlay", params={"version": 0}, status=410)["field"] == "version"
        live.join("new one", "/tf")
        assert live.ask("GET", "diff", params={"from": 0, "to": 2}, status=410)["field"] == "from"
        assert live.ask("GET", "overlay", params={"version": 1})["links"] == first["links"]
        (imported, joined) = live.ask("GET", "changes", params={"after": 0})["items"]
        assert (imported["kind"], joined["kind"]) == ("import", "join")
        points = live.ask("GET", "trend")["points"]
        assert [point["links"] for point in points] == [first["links"], live.ask("GET", "overlay")["links"]]


def test_a_history_that_does_not_fit_is_said_so() -> None:
    overlay = Overlay.from_names(Interests.from_mapping({"a": ["x"], "b": ["x"]}), [("a", "b")])
    for wrong in (
        Difference(left={"a"}),
        Difference(closed={("a", "z")}),
        Difference(unsubscribed={("a", "y")}),
        Difference(opened={("a", "c")}),
    ):
        with pytest.raises(Conflict, match="does not lead there"):
            wrong.applied_to(overlay)


def test_coming_and_going_again_is_no_difference() -> None:
    at = datetime.now(UTC)
    came = ChangeRecord(
        1, "g", at, "me", "join", "a", joined=("a",), opened=(("a", "b"),), subscribed=(("a", "x"),)
    )
    went = ChangeRecord(
        2, "g", at, "me", "leave", "a", left=("a",), closed=(("a", "b"),), unsubscribed=(("a", "x"),)
    )
    for one, two in ((came, went), (went, came)):
        net = Difference()
        net.add(one)
        net.add(two)
        assert net == Difference()


def test_a_version_that_passes_while_it_is_asked_for_is_the_one_answered(
    live: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    live.join("a", "x")
    figures, derived = overlay._figures, Mirror.derived
    begun, goes_on, asked = threading.Event(), threading.Event(), threading.Event()

    def held(*given: Any) -> dict[str, Any]:
        begun.set()
        assert goes_on.wait(30)
        return figures(*given)

    def seen(*given: Any) -> Any:
        asked.set()
        return derived(*given)

    monkeypatch.setattr(overlay, "_figures", held)
    with ThreadPoolExecutor(2) as callers:
        first = callers.submit(live.ask, "GET", "overlay")
        assert begun.wait(30)
        live.join("b", "x")
        monkeypatch.setattr(Mirror, "derived", seen)
        second = callers.submit(live.ask, "GET", "overlay", params={"version": 2})
        assert asked.wait(30)
        live.join("c", "x")
        goes_on.set()
        assert first.result(30)["version"] == 1
        assert (second.result(30)["version"], second.result()["brokers"]) == (2, 2)
