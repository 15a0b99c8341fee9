"""What-if on a real Neo4j: it tells what a change would do, and leaves version, links and the store untouched."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neo4j
import pytest

from algorithms import Interests, Overlay
from algorithms.workloads import generate
from tests.backend.conftest import rows
from tests.backend.live import Served, served
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j

INTERESTS = generate(brokers=60, topics=15, subscriptions=4, seed=1)


@pytest.fixture
def live(neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path) -> Iterator[Served]:
    with served(neo4j_server, database, tmp_path) as opened:
        batch = [{"op": "join", "broker": b, "topics": INTERESTS.topics_of(b)} for b in INTERESTS.brokers]
        opened.ask("POST", "changes", json=batch)
        yield opened


def store(driver: neo4j.Driver) -> list[Any]:
    """All that is stored of the overlay and its rebuilds; ``asked`` is only written to lock a node."""
    return [
        rows(
            driver,
            "MATCH (n:Broker|Topic|Overlay|Change|Rebuild) "
            "RETURN elementId(n) AS id, labels(n) AS labels, n {.*, asked: null} AS properties ORDER BY id",
        ),
        rows(
            driver,
            "MATCH (:Broker)-[r:SUBSCRIBES|LINK|CANDIDATE]->() "
            "RETURN elementId(r) AS id, type(r) AS type, properties(r) AS properties ORDER BY id",
        ),
    ]


def test_what_if_tells_and_changes_nothing(live: Served) -> None:
    hub = live.ask("GET", "brokers", params={"sort": "-degree", "limit": 1})["items"][0]["id"]
    radius = live.ask("GET", "brokers", hub)["blast_radius"]
    before = store(live.driver)
    told = live.ask("POST", "what-if", json={"leave": [hub]})
    assert [row["topic"] for row in told["topics_apart"]] == radius
    assert told["after"]["brokers"] == told["before"]["brokers"] - 1
    crowd = {
        "leave": list(INTERESTS.brokers[:9]),
        "join": [{"id": "new", "topics": ["t1", "never seen"]}],
        "subscribe": [{"broker": INTERESTS.brokers[20], "topics": ["t2"]}],
        "unsubscribe": [{"broker": INTERESTS.brokers[21], "topics": INTERESTS.topics_of(INTERESTS.brokers[21])}],
    }  # fmt: skip
    live.ask("POST", "what-if", json=crowd)
    assert store(live.driver) == before, "not a property of a node is another"
    done = live.leave(hub)
    assert (done["opened"], done["closed"]) == (told["opened"], told["closed"])


def test_the_pieces_are_those_before_the_repair(live: Served) -> None:
    """Against the subgraphs that igraph makes of what is stored, topic by topic."""
    gone = set(INTERESTS.brokers[:12])
    told = live.ask("POST", "what-if", json={"leave": sorted(gone)})
    rest = Interests.from_mapping(
        {b: topics for b, topics in live.stored_interests().items() if b not in gone}
    )
    links = [link for link in live.stored_links() if not gone.intersection(link)]
    left = Overlay.from_names(rest, links)
    found = {row["topic"]: row for row in told["topics_apart"]}
    assert sorted(found) == left.topics_apart()
    assert told["topics_below_k"] == len(found)
    for topic, row in found.items():
        graph = left.topic_graph(topic)
        pieces = [sorted(graph.vs[piece]["name"]) for piece in graph.connected_components()]
        assert sorted(row["components"]) == sorted(pieces)
        assert [len(piece) for piece in row["components"]] == sorted(map(len, pieces), reverse=True)
        assert row["subscribers"] == graph.vcount()


REFUSED: tuple[tuple[dict[str, Any], int, str], ...] = (
    ({"leave": ["nobody"]}, 404, "broker"),
    ({}, 422, "leave"),
    ({"leave": "b1"}, 422, "leave"),
    ({"join": [{"id": INTERESTS.brokers[0], "topics": []}]}, 409, "id"),
    ({"unsubscribe": [{"broker": INTERESTS.brokers[0], "topics": ["no such topic"]}]}, 404, "topic"),
    ({"leave": [INTERESTS.brokers[0]], "subscribe": [{"broker": INTERESTS.brokers[0], "topics": ["x"]}]}, 422, "changes"),
    ({"explode": True}, 422, "explode"),
)  # fmt: skip


def test_what_cannot_be_supposed_is_named(live: Served) -> None:
    for body, status, field in REFUSED:
        assert live.ask("POST", "what-if", json=body, status=status)["field"] == field


def test_changes_go_on_beside_it(live: Served) -> None:
    """While suppositions are worked out one after the other, changes are committed between them."""
    stop, supposed = threading.Event(), []

    def suppose() -> None:
        while not stop.is_set():
            supposed.append(live.ask("POST", "what-if", json={"leave": list(INTERESTS.brokers[:30])}))

    worker = threading.Thread(target=suppose)
    worker.start()
    try:
        for i in range(10):
            live.join(f"n{i}", "t1", "t2")
            time.sleep(0.01)
    finally:
        stop.set()
        worker.join()
    assert supposed
    assert [told["version"] for told in supposed] == sorted(told["version"] for told in supposed)
    assert live.version == 11


def test_as_many_topics_can_be_supposed_as_can_be_changed(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path
) -> None:
    with served(neo4j_server, database, tmp_path, max_batch_subscriptions=3) as small:
        small.join("a", "x")
        supposed = {
            "join": [{"id": "b", "topics": ["x", "y"]}],
            "subscribe": [{"broker": "a", "topics": ["y"]}],
        }
        assert small.ask("POST", "what-if", json=supposed)["after"]["brokers"] == 2
        supposed["unsubscribe"] = [{"broker": "a", "topics": ["x"]}]
        assert small.ask("POST", "what-if", json=supposed, status=422)["field"] == "topics"
