"""What agents tell one of two processes, while a slow change runs, at a stop, and while the overlay is loaded anew."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import neo4j
import pytest
from neo4j.exceptions import ClientError, ServiceUnavailable

from backend import agents as agents_module
from backend.agents import Agents
from backend.live import writer as live_writer
from backend.store.database import Database
from tests.backend.conftest import rows
from tests.backend.live import Served, served
from tests.backend.test_policy import until
from tests.backend.test_store import on
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j

AGENT = "MATCH (b:Broker {id: $id}) RETURN b.acked AS acked, b.lease_seconds AS seconds"


@pytest.fixture
def live(neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path) -> Iterator[Served]:
    with served(neo4j_server, database, tmp_path) as opened:
        for i in range(8):
            opened.join(f"b{i}", "all", f"t{i % 3}")
        yield opened


@pytest.fixture
def other(
    live: Served, neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path
) -> Iterator[Served]:
    """Another process on the same database."""
    with served(neo4j_server, database, tmp_path) as opened:
        yield opened


def agents_of(process: Served) -> Agents:
    agents: Agents = process.client.app.state.agents  # type: ignore[attr-defined]
    return agents


def test_what_an_agent_tells_two_processes_both_learn(
    live: Served, other: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each hides nothing of the other, whichever wrote last and however soon."""
    body = {"id": "told", "topics": ["all", "t0", "t1"], "ttl_seconds": 600}
    version = live.ask("POST", "brokers", json=body, status=201)["version"]
    link = next(link for link in sorted(live.stored_links()) if "told" in link)
    (end,) = {*link} - {"told"}  # which tells nobody anything
    given = min({"b1", "b2"} - {end})
    until(lambda: other.version == version)
    until(lambda: all(agents_of(process)._reading.since for process in (live, other)))
    monkeypatch.setattr(agents_module, "SECONDS_BETWEEN_READS", 3600.0)
    live.ask("POST", "brokers", "told", "acks", json={"version": version})
    live.ask("POST", "brokers", given, "heartbeat", json={"ttl_seconds": 700})
    until(lambda: rows(live.driver, AGENT, id="told") == [{"acked": version, "seconds": 600}])
    until(lambda: rows(live.driver, AGENT, id=given) == [{"acked": None, "seconds": 700}])
    body = {"link": [*link], "reason": "no route"}
    version = live.ask("POST", "brokers", "told", "failures", json=body)["version"]
    until(lambda: other.version == version)
    other.ask("POST", "brokers", "told", "heartbeat", json={"ttl_seconds": 500})
    other.ask("POST", "brokers", given, "acks", json={"version": version})
    until(lambda: rows(live.driver, AGENT, id="told") == [{"acked": version - 1, "seconds": 500}])
    until(lambda: rows(live.driver, AGENT, id=given) == [{"acked": version, "seconds": 700}])
    monkeypatch.setattr(agents_module, "SECONDS_BETWEEN_READS", 0.0)

    def know(process: Served) -> bool:
        told = {broker: process.ask("GET", "brokers", broker) for broker in ("told", given, end)}
        known = [
            (told[broker]["acked"], told[broker]["lease"] and told[broker]["lease"]["ttl_seconds"])
            for broker in ("told", given)
        ]
        reasons = [[one["reason"] for one in told[broker]["failures"]] for broker in ("told", end)]
        return known == [(version - 1, 500), (version, 700)] and reasons == [["no route"], ["no route"]]

    for process in (live, other):
        until(lambda process=process: know(process))  # type: ignore[misc]


def test_what_is_read_is_what_others_wrote_since(neo4j_server: Neo4jServer, database: neo4j.Driver) -> None:
    now = datetime.now(UTC)
    for name, told in {
        "theirs": {"told_at": now, "lease_by": "them"},
        "of both": {"told_at": now, "lease_by": "me", "acked_by": "them"},
        "mine": {"told_at": now, "lease_by": "me", "acked_by": "me"},
        "of long ago": {"told_at": now - timedelta(hours=1), "lease_by": "them", "acked_by": "them"},
        "failed": {"failures": ["{}"]},
        "plain": {},
    }.items():
        rows(database, "CREATE (b:Broker {id: $id}) SET b += $told", id=name, told=told)

    def read(since: datetime | None) -> set[str]:
        ((_, told),) = on(
            neo4j_server, lambda opened: opened.read_many("agent/read_agents", by="me", since=since)
        )
        return {row[0] for row in told}

    assert read(now - timedelta(minutes=1)) == {"theirs", "of both"}
    assert read(None) == {"theirs", "of both", "mine", "of long ago", "failed"}


def test_an_older_lease_or_version_never_replaces_a_newer_one(
    neo4j_server: Neo4jServer, database: neo4j.Driver
) -> None:
    """Two processes write when they come to it, not in the order in which they heard."""
    rows(database, "CREATE (:Broker {id: 'b'})")
    now = datetime.now(UTC)

    def renew(by: str, seconds: int, heard_at: int, heard: bool = True) -> list[Any]:
        lease = {"broker": "b", "seconds": seconds, "heard": heard}
        lease["until"] = now + timedelta(seconds=heard_at + seconds)
        on(neo4j_server, lambda opened: opened.write("agent/renew_leases", by=by, rows=[lease]))
        text = "MATCH (b:Broker) RETURN b.lease_by AS by, b.lease_seconds AS s, b.lease_until AS until"
        (found,) = rows(database, text)
        return [
            found["by"],
            found["s"],
            found["until"] and round((found["until"].to_native() - now).total_seconds()),
        ]

    assert renew("p", 60, 0, heard=False) == [None, None, None], "nobody gave it a lease"
    assert renew("p", 60, 0) == ["p", 60, 60]
    assert renew("q", 60, -1) == ["p", 60, 60]
    assert renew("q", 5, 1) == ["q", 5, 6], "a shorter term, told later"
    assert renew("p", 60, 2, heard=False) == ["", 5, 62], "grace is longer, and for all to read"

    def acknowledge(by: str, version: int) -> dict[str, Any]:
        row = {"broker": "b", "version": version}
        on(neo4j_server, lambda opened: opened.write("agent/write_acks", by=by, rows=[row]))
        (found,) = rows(database, "MATCH (b:Broker) RETURN b.acked AS acked, b.acked_by AS by")
        return found

    assert acknowledge("p", 0) == {"acked": 0, "by": "p"}
    assert acknowledge("q", 7) == {"acked": 7, "by": "q"}
    assert acknowledge("p", 3) == {"acked": 7, "by": "q"}


def test_a_writing_that_waits_for_brokers_is_ended(neo4j_server: Neo4jServer, database: neo4j.Driver) -> None:
    """What is told is stamped when its writing begins: readers look back only so far."""
    rows(database, "CREATE (:Broker {id: 'b'})")
    given = {"by": "me", "rows": [{"broker": "b", "version": 1}]}

    async def write(opened: Database) -> None:
        async with asyncio.timeout(60):
            await opened.write_within(0.5, "agent/write_acks", **given)

    with database.session() as session, session.begin_transaction() as transaction:
        transaction.run("MATCH (b:Broker) SET b.held = true").consume()
        with pytest.raises(ClientError):
            on(neo4j_server, write)
    assert rows(database, AGENT, id="b") == [{"acked": None, "seconds": None}]


def test_agents_do_not_wait_for_a_slow_change(live: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents_module, "SECONDS_TO_LOOK", 0.1)
    writer = live.client.app.state.manager.writer  # type: ignore[attr-defined]
    held, gate = threading.Event(), threading.Event()

    async def hold() -> None:
        async with writer.holding():
            held.set()
            await asyncio.to_thread(gate.wait)

    version = live.version
    assert live.client.portal is not None
    holding = live.client.portal.start_task_soon(hold)
    with ThreadPoolExecutor(1) as pool:

        def tell(broker: str, asked: str, said: object, status: int = 200) -> Any:
            answer = pool.submit(live.ask, "POST", "brokers", broker, asked, json=said, status=status)
            return answer.result(60)

        try:
            assert held.wait(60)
            assert tell("b1", "heartbeat", {"ttl_seconds": 600})["ttl_seconds"] == 600
            assert tell("b1", "acks", {"version": version}) == {"acked": version}
            assert tell("nobody", "heartbeat", None, 503)["type"].endswith("not-ready")
            assert tell("b1", "acks", {"version": version + 1}, 503)["type"].endswith("not-ready")
        finally:
            gate.set()
    holding.result()
    monkeypatch.setattr(agents_module, "SECONDS_TO_LOOK", 60)
    live.ask("POST", "brokers", "nobody", "heartbeat", status=404)
    live.ask("POST", "brokers", "b1", "acks", json={"version": version + 1}, status=422)


def test_a_stop_within_the_writing_loses_nothing(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing = threading.Event()
    write = Database.write_within

    async def never_the_first(self: Database, seconds: float | None, name: str, /, **given: Any) -> Any:
        if name.startswith("agent/") and not writing.is_set():
            writing.set()
            await asyncio.Event().wait()
        return await write(self, seconds, name, **given)

    with served(neo4j_server, database, tmp_path) as live:
        version = live.join("a", "x")["version"]
        monkeypatch.setattr(Database, "write_within", never_the_first)
        live.ask("POST", "brokers", "a", "acks", json={"version": version})
        assert writing.wait(60)
    assert rows(database, AGENT, id="a") == [{"acked": version, "seconds": None}]


def test_what_waits_to_be_written_outlives_a_new_mirror(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But not its broker: who has joined under that id since told us nothing."""
    monkeypatch.setattr(
        live_writer, "SECONDS_BETWEEN_LOOKS", 3600.0
    )  # it hears of that when it loads all anew
    away = threading.Event()
    write = Database.write_within

    async def not_while_away(self: Database, seconds: float | None, name: str, /, **given: Any) -> Any:
        if name.startswith("agent/") and away.is_set():
            raise ServiceUnavailable("on purpose")
        return await write(self, seconds, name, **given)

    monkeypatch.setattr(Database, "write_within", not_while_away)
    with served(neo4j_server, database, tmp_path) as live:
        manager = live.client.app.state.manager  # type: ignore[attr-defined]
        agents = agents_of(live)
        live.join("b1", "all")
        version = live.join("b2", "all")["version"]
        away.set()
        for broker in ("b1", "b2"):
            live.ask("POST", "brokers", broker, "acks", json={"version": version})
            live.ask("POST", "brokers", broker, "heartbeat", json={"ttl_seconds": 600})
        with served(neo4j_server, database, tmp_path) as other:
            other.leave("b2")
            other.join("b2", "all")
        assert live.client.portal is not None
        live.client.portal.call(manager.writer.reload)
        until(lambda: agents._mirror is manager.mirror)
        away.clear()
        until(lambda: rows(database, AGENT, id="b1") == [{"acked": version, "seconds": 600}])
        until(lambda: not agents._renewed and not agents._acked)
        told = {broker: live.ask("GET", "brokers", broker) for broker in ("b1", "b2")}
        assert (told["b1"]["acked"], told["b1"]["lease"]["ttl_seconds"]) == (version, 600)
        assert (told["b2"]["acked"], told["b2"]["lease"]) == (None, None)
    assert rows(database, AGENT, id="b2") == [{"acked": None, "seconds": None}]
