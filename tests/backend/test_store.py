"""The store on a real server: schema again and again, a bulk import whole or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import neo4j
import pytest
from neo4j.exceptions import TransientError

from algorithms import Interests, build
from backend.errors import CannotRun, Conflict
from backend.policy import Policy
from backend.store import Database
from backend.store import database as database_module
from backend.store.bulk import import_overlay
from backend.store.commit import prepare_commits
from backend.store.loading import read_overlay
from tests.backend.conftest import rows
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j
Answer = TypeVar("Answer")

INTERESTS = Interests.from_mapping(
    {"/a": ["/x", "y y"], "b'\"": ["/x"], "ç": ["y y", "только"], "lonely": [], "z": ["/x", "y y"]}
)


def on(server: Neo4jServer, work: Callable[[Database], Awaitable[Answer]]) -> Answer:
    async def run() -> Answer:
        async with Database(server.uri, server.user, server.password) as database:
            return await work(database)

    return asyncio.run(run())


def test_the_schema_is_applied_once_and_recorded(database: neo4j.Driver, neo4j_server: Neo4jServer) -> None:
    for _ in range(2):
        on(neo4j_server, lambda opened: opened.apply_schema())
        constraints = {row["name"] for row in rows(database, "SHOW CONSTRAINTS YIELD name")}
        assert {"broker_id", "topic_name", "overlay_name", "change_version", "rebuild_id"} <= constraints
        assert rows(database, "MATCH (s:Schema) RETURN s.version AS version") == [
            {"version": database_module.SCHEMA_VERSION}
        ]


def test_a_database_of_a_newer_topicweave_is_refused(
    database: neo4j.Driver, neo4j_server: Neo4jServer
) -> None:
    rows(database, "CREATE (:Schema {name: 'topicweave', version: 99})")
    with pytest.raises(CannotRun, match="schema version 99, newer than this TopicWeave's"):
        on(neo4j_server, lambda opened: opened.apply_schema())


def test_what_is_imported_is_read_again(database: neo4j.Driver, neo4j_server: Neo4jServer) -> None:
    overlay = build("gm", INTERESTS)

    async def there_and_back(opened: Database) -> None:
        assert await read_overlay(opened) is None
        await import_overlay(opened, overlay, Policy(k=1, rho=2.0), actor="somebody")
        stored = await read_overlay(opened)
        assert stored is not None
        assert stored.version == 1
        assert stored.policy == Policy(k=1, rho=2.0)
        assert stored.overlay.interests.brokers == INTERESTS.brokers
        assert stored.overlay.interests.topics_of("ç") == ["y y", "только"]
        assert stored.overlay.link_names() == overlay.link_names()
        with pytest.raises(Conflict, match="has brokers already"):
            await import_overlay(opened, overlay, Policy(), actor="somebody else")

    on(neo4j_server, there_and_back)
    assert rows(database, "MATCH (a)-[l:LINK]->(b) WHERE a.id >= b.id RETURN l") == []
    assert rows(
        database, "MATCH (c:Change) RETURN c.version AS version, c.actor AS actor, c.kind AS kind"
    ) == [{"version": 1, "actor": "somebody", "kind": "import"}]


def test_an_interrupted_import_leaves_nothing(
    database: neo4j.Driver, neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Database.write

    async def dies_at_the_links(self: Database, name: str, **parameters: object) -> list[neo4j.Record]:
        if name == "overlay/create_links":
            raise ConnectionResetError("the process ends here")
        return await write(self, name, **parameters)

    monkeypatch.setattr(Database, "write", dies_at_the_links)
    with pytest.raises(ConnectionResetError):
        on(neo4j_server, lambda opened: import_overlay(opened, build("gm", INTERESTS), Policy(), "somebody"))
    monkeypatch.undo()
    emptied = on(neo4j_server, read_overlay)
    assert emptied is not None
    assert (emptied.version, emptied.overlay.interests.brokers) == (0, ())
    assert rows(database, "MATCH (any:Broker|Topic) RETURN any") == []
    assert rows(database, "MATCH (o:Overlay) RETURN o.state AS state, o.version AS version") == [
        {"state": "live", "version": 0}
    ]


def test_a_server_that_does_not_answer_is_named() -> None:
    nobody = Neo4jServer("bolt://127.0.0.1:1", "neo4j", "secret", None)
    with pytest.raises(CannotRun, match=r"bolt://127\.0\.0\.1:1 does not answer"):
        on(nobody, lambda opened: opened.wait_until_up(0.2))


def test_a_wrong_password_is_said_soon(neo4j_server: Neo4jServer) -> None:
    stranger = Neo4jServer(neo4j_server.uri, neo4j_server.user, "not the password", None)
    with pytest.raises(CannotRun, match="refuses our user or password"):
        on(stranger, lambda opened: opened.wait_until_up(60, seconds_for_password=0))


def test_an_old_server_is_refused(neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch) -> None:
    assert on(neo4j_server, lambda opened: opened.check_server()).startswith(("5.", "20"))
    monkeypatch.setattr(database_module, "OLDEST_SERVER", (9999, 0))
    with pytest.raises(CannotRun, match="TopicWeave needs"):
        on(neo4j_server, lambda opened: opened.check_server())


def test_the_plan_of_a_commit_is_made_so_that_it_is_kept(
    neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Neo4j warns of one that it cannot keep."""
    asked: list[dict[str, Any]] = []
    run = Database.run

    async def listened(self: Database, text: str, **parameters: Any) -> None:
        asked.append(parameters)
        await run(self, text, **parameters)

    monkeypatch.setattr(Database, "run", listened)
    on(neo4j_server, prepare_commits)
    assert [list(parameters) for parameters in asked] == [["commit"]]
    assert "cannot be cached" not in caplog.text


def test_what_finds_many_is_read_again_where_a_commit_came_in_the_way(
    database: neo4j.Driver, neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows(database, "UNWIND range(1, 3) AS i CREATE (:Broker {id: toString(i), told_at: datetime()})")
    tried: list[str] = []
    run = neo4j.ManagedTransaction.run

    def outdated(self: neo4j.ManagedTransaction, text: Any, parameters: Any = None) -> neo4j.Result:
        tried.append(text)
        if len(tried) == 1:
            raise TransientError("the transaction read outdated data")
        return run(self, text, parameters)

    monkeypatch.setattr(neo4j.ManagedTransaction, "run", outdated)
    ((_, told),) = on(neo4j_server, lambda opened: opened.read_many("agent/read_agents", by="me", since=None))
    assert sorted(row[0] for row in told) == ["1", "2", "3"]
    assert len(tried) == 2
