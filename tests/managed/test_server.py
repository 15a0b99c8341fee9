"""The managed Neo4j server itself: started for real, twice, and once over a leftover of its own."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest
from neo4j import GraphDatabase

from backend.errors import BadValue, CannotRun
from backend.managed.bolt import check_server, lets_in, require_version
from backend.managed.jars import neo4j_jars
from backend.managed.java import Java, find_java
from backend.managed.processes import free_port
from backend.managed.server import ManagedNeo4j
from backend.settings import Settings
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j


def quiet(line: str) -> None:
    pass


def server_in(home: Path, java: Java | None = None, heap_mb: int = 512) -> ManagedNeo4j:
    jars = neo4j_jars(Settings.load(), quiet)
    return ManagedNeo4j(
        home, free_port(), java or find_java(), jars, heap_mb, page_cache_mb=64, short_lived=True
    )


def test_data_and_password_outlive_a_killed_owner(tmp_path: Path) -> None:
    """The first start on the bundled Java; its owner forgets it; the second start finds the orphan and the data."""
    home = tmp_path / 'a home with "quotes" and ünïcode'
    first = server_in(home, find_java(environment={"PATH": ""}))
    first.start()
    try:
        assert first.child is not None
        orphan = psutil.Process(first.child.pid)
        addresses = {c.laddr.ip for c in orphan.net_connections(kind="tcp") if c.status == psutil.CONN_LISTEN}
        assert addresses <= {"127.0.0.1", "::ffff:127.0.0.1"}
        with GraphDatabase.driver(first.uri, auth=(first.user, first.password)) as driver:
            driver.execute_query("CREATE (:Broker {id: 'kept'})")
        assert (home / "neo4j-password").stat().st_mode & 0o777 == 0o600
        with server_in(home) as second:
            assert first.child.exit_code() is not None
            assert second.password == first.password
            with GraphDatabase.driver(second.uri, auth=(second.user, second.password)) as driver:
                assert driver.execute_query("MATCH (b:Broker) RETURN b.id").records[0][0] == "kept"
            with pytest.raises(CannotRun, match="its data was made with another one"):
                lets_in(second.uri, second.user, "another one")
            (home / "neo4j-password").unlink()
            child = second.child
        assert child is not None
        assert child.mark.find() is None
        assert not second.stop_orphan()
        assert "Stopped." in second.log_tail()
    finally:
        first.stop()


def test_a_server_that_cannot_start_shows_the_end_of_its_log(tmp_path: Path) -> None:
    server = server_in(tmp_path, heap_mb=1)
    with pytest.raises(
        CannotRun, match=r"(?s)Neo4j ended with exit code 1 while starting; its log ends:.*[Hh]eap"
    ):
        server.start()
    assert server.child is None


def test_a_server_that_does_not_answer_in_time_is_stopped(tmp_path: Path) -> None:
    server = server_in(tmp_path)
    with pytest.raises(CannotRun, match="does not answer after 0 s"):
        server.start(patience=0)
    assert server.child is None


def external(server: Neo4jServer, **changes: str) -> Settings:
    options = {
        "NEO4J_URI": server.uri,
        "NEO4J_USER": server.user,
        "NEO4J_PASSWORD": server.password,
        **changes,
    }
    return Settings.load(**options)


def test_a_given_server_is_asked_for_its_version(neo4j_server: Neo4jServer) -> None:
    require_version(check_server(external(neo4j_server)), neo4j_server.uri)


def test_a_given_server_that_refuses_us_is_named(neo4j_server: Neo4jServer) -> None:
    with pytest.raises(CannotRun, match=f"server at {neo4j_server.uri} refuses user neo4j"):
        check_server(external(neo4j_server, NEO4J_PASSWORD="wrong"))


def test_a_given_server_that_is_away_is_named() -> None:
    uri = f"bolt://127.0.0.1:{free_port()}"
    with pytest.raises(CannotRun, match=f"no Neo4j server answers at {uri}"):
        check_server(Settings.load(NEO4J_URI=uri, NEO4J_PASSWORD="any"), patience=0)


def test_an_address_that_is_none_is_named() -> None:
    with pytest.raises(CannotRun, match="no Neo4j server answers at nowhere"):
        check_server(Settings.load(NEO4J_URI="nowhere", NEO4J_PASSWORD="any"))


def test_a_given_server_needs_a_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NEO4J_PASSWORD", raising=False)
    with pytest.raises(BadValue, match="NEO4J_PASSWORD"):
        check_server(Settings.load(NEO4J_URI="bolt://127.0.0.1:7687"))


@pytest.mark.parametrize("version", ["5.26.0", "5.26.30", "5.27-aura", "2025.01.0", "2026.4.1"])
def test_versions_that_fit(version: str) -> None:
    require_version(version, "bolt://x")


@pytest.mark.parametrize("version", ["4.4.44", "5.25.1", "3.5.0", "unknown"])
def test_versions_that_are_too_old_or_make_no_sense(version: str) -> None:
    with pytest.raises(CannotRun, match=rf"bolt://x is version {version}; 5\.26 or newer"):
        require_version(version, "bolt://x")
