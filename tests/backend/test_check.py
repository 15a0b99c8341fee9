"""`check` on a real Neo4j: good while only we write, and every edit behind our back is named."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neo4j
import pytest

from backend.check import MEANINGS
from tests.backend.conftest import rows
from tests.backend.live import Served, served, wait_until_ready
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j

BROKER = "MATCH (b:Broker {id: 'b'}) "
LISTS = ("joined", "left", "opened_a", "opened_b", "opened_reason", "closed_a", "closed_b", "closed_reason",
         "subscribed_broker", "subscribed_topic", "unsubscribed_broker", "unsubscribed_topic")  # fmt: skip
A_CHANGE_OF_NOTHING = (
    "MATCH (c:Change {version: 4}) WITH c {.*, version: 5, "
    + ", ".join(f"{name}: []" for name in LISTS)
    + "} AS facts CREATE (later:Change) SET later = facts"
)
"""Later than the overlay; it touches nobody, or what it touches would be excused as being in motion."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def live(neo4j_server: Neo4jServer, database: neo4j.Driver, home: Path) -> Iterator[Served]:
    with served(neo4j_server, database, home) as opened:
        opened.join("a", "x", "y", "z")
        opened.join("b", "x")
        opened.join("c", "y", "x")
        opened.ask(
            "POST", "brokers", status=201, json={"id": "d", "topics": ["y", "z"], "attributes": {"rack": 7}}
        )
        yield opened


def kinds(report: Any) -> dict[str, list[str]]:
    return {finding["kind"]: finding["examples"] for finding in report["findings"]}


def test_what_only_we_wrote_is_good(live: Served) -> None:
    report = live.ask("GET", "check")
    assert report["good"], report
    assert (report["version"], report["compared_at"], report["brokers"]) == (4, 4, 4)
    assert (report["subscriptions"], report["links"]) == (8, len(live.stored_links()))


def test_every_edit_behind_our_back_is_named(live: Served) -> None:
    """One check finds all of them: each is about something else."""
    edits = {
        "broker-unknown": ("CREATE (:Broker {id: 'ghost'})", "ghost"),
        "attributes": ("MATCH (d:Broker {id: 'd'}) SET d.attributes = '{\"rack\": 8}'", "d"),
        "subscription-unknown": (BROKER + "MATCH (t:Topic {name: 'y'}) CREATE (b)-[:SUBSCRIBES]->(t)", "b - y"),
        "subscription-twice": (
            "MATCH (a:Broker {id: 'a'}), (t:Topic {name: 'x'}) CREATE (a)-[:SUBSCRIBES]->(t)",
            "a - x",
        ),
        "subscription-missing": ("MATCH (:Broker {id: 'c'})-[s:SUBSCRIBES]->(:Topic {name: 'y'}) DELETE s", "c - y"),
        "topic-idle": ("CREATE (:Topic {name: 'nobody'})", "nobody"),
        "link-loop": (BROKER + "CREATE (b)-[:LINK {since: 1, reason: 'r'}]->(b)", "b - b"),
        "link-foreign": (BROKER + "CREATE (b)-[:LINK]->(:Stranger {id: 's'})", "b - s"),
        "link-backwards": (
            BROKER + "MATCH (d:Broker {id: 'd'}) CREATE (d)-[:LINK {since: 1, reason: 'r'}]->(b)",
            "d - b",
        ),
        "link-unknown": ("RETURN 1", "b - d"),
        "link-missing": ("MATCH (:Broker {id: 'a'})-[l:LINK]->(:Broker {id: 'b'}) DELETE l", "a - b"),
        "link-facts": ("MATCH (:Broker {id: 'a'})-[l:LINK]->(:Broker {id: 'd'}) SET l.since = 99", "a - d"),
        "link-idle": (
            "MATCH (g:Broker {id: 'ghost'}), (a:Broker {id: 'a'}) CREATE (a)-[:LINK {since: 1, reason: 'r'}]->(g)",
            "a - ghost",
        ),
        "link-twice": (
            "MATCH (a:Broker {id: 'a'})-[l:LINK]->(d:Broker {id: 'd'}) CREATE (a)-[k:LINK]->(d) SET k = properties(l)",
            "a - d",
        ),
        "history-gap": ("MATCH (c:Change {version: 2}) DELETE c", "2"),
        "version": (A_CHANGE_OF_NOTHING, "the overlay is at 4, the newest Change at 5"),
        "policy": ("MATCH (o:Overlay) SET o.rho = 9.0", None),
        "broker-unnamed": ("CREATE (:Broker {id: 5})", "5"),
        "topic-unnamed": (BROKER + "CREATE (b)-[:SUBSCRIBES]->(:Topic)", "b - None"),
        "topic-below-k": ("RETURN 1", None),
    }  # fmt: skip
    assert ("a", "d") in live.stored_links()
    for text, _ in edits.values():
        rows(live.driver, text)
    report = live.ask("GET", "check")
    assert not report["good"]
    found = kinds(report)
    for kind, (_, example) in edits.items():
        assert kind in found, (kind, found)
        assert example is None or example in found[kind], (kind, found[kind])
    assert set(found) <= set(MEANINGS)
    assert live.version == 4


def test_a_missing_broker_and_a_second_overlay(live: Served) -> None:
    rows(live.driver, "MATCH (d:Broker {id: 'd'}) DETACH DELETE d")
    rows(live.driver, "CREATE (:Overlay {name: 'other'})")
    found = kinds(live.ask("GET", "check"))
    assert found["broker-missing"] == ["d"]
    assert found["overlay-count"] == ["2 Overlay nodes, 1 of them live"]
    rows(live.driver, "MATCH (o:Overlay {name: 'other'}) DELETE o")
    assert live.ask("POST", "check", "reload") == {"version": 4}
    assert live.ask("GET", "brokers", "d", status=404)
    assert live.ask("GET", "check")["good"]


def test_what_cannot_be_loaded_is_not_served_until_it_is_mended(live: Served) -> None:
    rows(live.driver, BROKER + "CREATE (b)-[:LINK {since: 1, reason: 'r'}]->(b)")
    problem = live.ask("POST", "check", "reload", status=503)
    assert "cannot be loaded" in problem["detail"]
    assert live.client.get("/readyz").json()["detail"] == problem["detail"]
    assert live.ask("DELETE", "brokers", "a", status=503)["detail"] == problem["detail"]
    rows(live.driver, "MATCH (b:Broker)-[l:LINK]->(b) DELETE l")
    wait_until_ready(live.client)
    assert live.leave("a")["version"] == 5


def test_churn_is_no_fault(live: Served) -> None:
    stop = threading.Event()

    def churn() -> None:
        i = 0
        while not stop.is_set():
            live.join(f"n{i}", "x", "y")
            live.leave(f"n{i}")
            i += 1

    worker = threading.Thread(target=churn)
    worker.start()
    try:
        report = live.ask("GET", "check")
    finally:
        stop.set()
        worker.join()
    assert report["good"], report
    assert live.ask("GET", "check")["good"]
