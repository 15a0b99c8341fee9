"""What all tests share: one Neo4j server a session, and its log next to whatever failed on it."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass

import pytest

from backend.managed.jars import neo4j_jars
from backend.managed.java import find_java
from backend.managed.processes import free_port
from backend.managed.server import ManagedNeo4j
from backend.settings import Settings


@dataclass(frozen=True)
class Neo4jServer:
    """A server for tests. It is shared: a test leaves it as empty as it wants to find it."""

    uri: str
    user: str
    password: str
    managed: ManagedNeo4j | None


_SERVER = pytest.StashKey[Neo4jServer]()


@pytest.fixture(scope="session")
def neo4j_server(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Neo4jServer]:
    """The server of NEO4J_URI if that is set, else a private one on a free port, started once."""
    settings = Settings.load()
    if settings.neo4j_uri:
        password = settings.neo4j_password
        assert password is not None, "NEO4J_URI is set, so NEO4J_PASSWORD must be too"
        yield Neo4jServer(settings.neo4j_uri, settings.neo4j_user, password.get_secret_value(), None)
        return
    home = tmp_path_factory.mktemp("neo4j-home")
    jars = neo4j_jars(settings, print)
    with ManagedNeo4j(
        home, free_port(), find_java(print), jars, heap_mb=512, page_cache_mb=64, short_lived=True
    ) as managed:
        server = Neo4jServer(managed.uri, managed.user, managed.password, managed)
        pytestconfig.stash[_SERVER] = server
        yield server


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the end of the server's log with every failure of a test that used it."""
    report = yield
    server = item.config.stash.get(_SERVER, None)
    if report.failed and server and server.managed and "neo4j_server" in getattr(item, "fixturenames", ()):
        report.sections.append(("The end of Neo4j's log", server.managed.log_tail()))
    return report
