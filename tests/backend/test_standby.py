"""Backups: built while nobody waits, stored, and taken up again at the next start."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import neo4j
import pytest
from neo4j.exceptions import ServiceUnavailable

from backend.live import standby
from backend.store.database import Database
from tests.backend.conftest import rows
from tests.backend.live import Served, served
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j


def stored(live: Served) -> dict[str, list[str]]:
    text = "MATCH (b:Broker)-[:BACKED_UP_BY]->(o:Broker) RETURN b.id AS id, collect(o.id) AS backups"
    return {row["id"]: sorted(row["backups"]) for row in rows(live.driver, text)}


def told(live: Served) -> dict[str, list[str]]:
    brokers = live.stored_interests()
    found = {broker: live.ask("GET", "brokers", broker)["backups"] for broker in brokers}
    return {broker: backups for broker, backups in found.items() if backups}


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_backups_are_built_stored_and_taken_up(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path
) -> None:
    with served(neo4j_server, database, tmp_path) as live:
        for i in range(10):
            live.join(f"b{i}", "all", f"t{i % 2}")
        until(lambda: len(told(live)) == 10 and told(live) == stored(live))
        live.leave("b3")
        until(
            lambda: (
                "b3" not in {name for backups in told(live).values() for name in backups}
                and told(live) == stored(live)
            )
        )
        before = told(live)
        primaries = live.ask("GET", "brokers", "b1")["primaries"]
        assert primaries == sorted(broker for broker, backups in before.items() if "b1" in backups)
    with served(neo4j_server, database, tmp_path) as again:
        until(lambda: told(again) == before)


def test_backups_that_neo4j_did_not_take_are_written_later(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[str] = []
    takes = threading.Event()
    write = Database.write

    async def away(self: Database, name: str, /, **parameters: Any) -> list[neo4j.Record]:
        if name == "backups/write_backups" and not takes.is_set():
            refused.extend(row["broker"] for row in parameters["rows"])
            raise ServiceUnavailable("on purpose")
        return await write(self, name, **parameters)

    monkeypatch.setattr(Database, "write", away)
    monkeypatch.setattr(standby, "SECONDS_IDLE", 0.05)
    with served(neo4j_server, database, tmp_path) as live:
        live.ask(
            "POST", "changes", json=[{"op": "join", "broker": f"b{i}", "topics": ["all"]} for i in range(20)]
        )
        until(lambda: len(set(refused)) >= standby.BROKERS_AT_ONCE)
        assert stored(live) == {}
        takes.set()
        until(lambda: len(stored(live)) == 20)
        assert stored(live) == told(live)
