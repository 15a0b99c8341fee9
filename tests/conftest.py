"""What all tests share: one Neo4j server a process, its log next to whatever failed on it, and who runs what."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from dataclasses import dataclass

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

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


# A Spark that lives for ten seconds does half of its work for its optimising compiler.
os.environ.setdefault(
    "SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
)

ONE_SYSTEM = ("ui", "spark", "cypher")
"""Folders whose tests share a running system: they stay in one process, and come first, being long."""


def group_of(nodeid: str) -> str:
    """The tests that stay together: a folder of the above, else a file."""
    path = nodeid.partition("::")[0].removeprefix("tests/")
    folder = path.partition("/")[0]
    return folder if folder in ONE_SYSTEM else path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long first, so that no process is left with it at the end."""

    def place(item: pytest.Item) -> int:
        group = group_of(item.nodeid)
        return ONE_SYSTEM.index(group) if group in ONE_SYSTEM else 3 + group.startswith("algorithms/")

    items.sort(key=place)


class ByGroup(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Hands whole groups to the processes of `pytest -n`, in the order of the tests."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByGroup:
    """xdist's own groups go by marks, and it does not see them with the pytest that is locked."""
    return ByGroup(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the end of the server's log with every failure of a test that used it."""
    report = yield
    server = item.config.stash.get(_SERVER, None)
    if report.failed and server and server.managed and "neo4j_server" in getattr(item, "fixturenames", ()):
        report.sections.append(("The end of Neo4j's log", server.managed.log_tail()))
    return report
