"""Loading an overlay beside a process that never rests: what comes out is one version, the last one."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import neo4j
import pytest
from fastapi.testclient import TestClient

from backend import manager
from backend.api import create_app
from backend.store import Database, StoredOverlay
from backend.store import loading as module
from backend.store.loading import read_overlay
from tests.backend.conftest import rows
from tests.backend.live import Served, served, settings_of, wait_until_ready
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j

TOPICS = [f"t{i}" for i in range(9)]


@pytest.fixture
def live(neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path) -> Iterator[Served]:
    with served(neo4j_server, database, tmp_path) as opened:
        for i in range(30):
            opened.join(f"b{i:02d}", *random.Random(i).sample(TOPICS, 3))
        yield opened


def loaded(server: Neo4jServer) -> StoredOverlay:
    async def load() -> StoredOverlay:
        async with Database(server.uri, server.user, server.password) as database:
            found = await read_overlay(database)
            assert found is not None
            return found

    return asyncio.run(load())


def disturb(monkeypatch: pytest.MonkeyPatch, change: Callable[[str], None]) -> None:
    """Have something happen before, amid and after each long read."""
    read = Database.rows

    def disturbed(self: Database, name: str, **parameters: Any) -> Iterator[tuple[Any, ...]]:
        change(name)
        for number, row in enumerate(read(self, name, **parameters)):
            yield row
            if number == 5:
                change(name)
        change(name)

    monkeypatch.setattr(Database, "rows", disturbed)


def check(found: StoredOverlay, live: Served) -> None:
    assert found.version == live.version
    assert {b: sorted(found.overlay.interests.topics_of(b)) for b in found.overlay.interests.brokers} == (
        live.stored_interests()
    )
    assert set(found.overlay.link_names()) == live.stored_links() == set(found.links)
    assert found.overlay.is_tco()
    for broker in found.overlay.interests.brokers:
        for link in live.ask("GET", "brokers", broker)["links"]:
            pair = tuple(sorted((broker, link["broker"])))
            assert found.links[pair] == (link["since"], link["reason"])


@pytest.mark.parametrize("seed", range(4))
def test_an_overlay_that_changes_all_the_time_is_loaded(
    live: Served, neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chosen = random.Random(seed)
    here = [f"b{i:02d}" for i in range(30)]
    gone: list[str] = []
    asked: list[str] = []

    def change(name: str) -> None:
        asked.append(name)
        for _ in range(3):
            joins, act = f"n{len(gone):02d}-{live.version}", chosen.randrange(5)
            if act == 0:
                live.join(joins, *chosen.sample([*TOPICS, f"new-{joins}"], 3))
                here.append(joins)
            elif act == 1:
                gone.append(here.pop(chosen.randrange(len(here))))
                live.leave(gone[-1])
            elif act == 2 and gone:
                here.append(gone.pop())
                live.join(here[-1], *chosen.sample(TOPICS, 2))
            else:
                topics = chosen.sample(TOPICS, chosen.randrange(4))
                live.ask("PUT", "brokers", chosen.choice(here), "topics", json={"topics": topics})

    disturb(monkeypatch, change)
    found = loaded(neo4j_server)
    assert asked == ["overlay/read_brokers"] * 3 + ["overlay/read_links"] * 3, "it is read once"
    check(found, live)


def test_a_newcomer_brings_its_facts_and_a_policy_is_the_last_one(
    live: Served, neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    def change(name: str) -> None:
        if name == "overlay/read_links" and not done:
            done.append(name)
            body = {"id": "late", "topics": ["t1"], "attributes": {"rack": 7}}
            live.ask("POST", "brokers", status=201, json=body)
            live.ask("PUT", "policy", json={"rho": 2.5})

    disturb(monkeypatch, change)
    found = loaded(neo4j_server)
    assert found.facts["late"].attributes == {"rack": 7}
    assert found.policy.rho == 2.5
    check(found, live)


def test_where_the_history_does_not_tell_it_is_read_again(
    live: Served, neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def change(name: str) -> None:
        asked.append(name)
        if len(asked) == 2:
            live.join("forgotten", "t1")
            live.driver.execute_query("MATCH (c:Change {version: $v}) DELETE c", v=live.version)

    disturb(monkeypatch, change)
    monkeypatch.setattr(module, "RECORDS_AT_ONCE", 1)
    found = loaded(neo4j_server)
    assert len(asked) == 12
    check(found, live)


def test_what_cannot_be_loaded_at_the_start_is_waited_for(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(neo4j_server, database, tmp_path) as live:
        live.join("a", "x")
    rows(database, "MATCH (b:Broker) CREATE (b)-[:LINK {since: 1, reason: 'by hand'}]->(b)")
    monkeypatch.setattr(manager, "SECONDS_BETWEEN_TRIES", 0.05)
    with TestClient(create_app(settings_of(neo4j_server, tmp_path))) as client:
        deadline = time.monotonic() + 180
        while "cannot be loaded" not in client.get("/readyz").json()["detail"]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert client.get("/readyz").status_code == 503
        rows(database, "MATCH (b:Broker)-[l:LINK]->(b) DELETE l")
        wait_until_ready(client)
