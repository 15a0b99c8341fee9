"""Neo4j is killed while a job is at its work: the job goes on when it is back in time, and else says what it missed."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import neo4j
import pytest
from neo4j.exceptions import DriverError, Neo4jError
from pyspark.sql import SparkSession

from algorithms import Interests, build
from algorithms.bulk import parse_bulk
from backend.managed.jars import neo4j_jars
from backend.managed.java import find_java
from backend.managed.processes import free_port
from backend.managed.server import ManagedNeo4j
from backend.settings import Settings
from spark import bulk, graph
from spark.errors import JobFailed
from spark.rebuild import rebuild_graph
from tests.backend.conftest import rows
from tests.spark.living import candidates, make_live

pytestmark = [pytest.mark.neo4j, pytest.mark.long]

CANDIDATES = "MATCH ()-[c:CANDIDATE]->() RETURN count(c) AS n"


@pytest.fixture
def server(
    small: Interests, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ManagedNeo4j]:
    """A server of the test's own, with a live overlay; many small batches leave time to kill it between two of them."""
    monkeypatch.setattr(graph, "LINKS_A_BATCH", 4)
    jars = neo4j_jars(Settings.load(), lambda line: None)
    with ManagedNeo4j(
        tmp_path_factory.mktemp("neo4j-gone"), free_port(), find_java(), jars,
        heap_mb=256, page_cache_mb=64, short_lived=True,
    ) as started:  # fmt: skip
        with driver_of(started) as driver:
            make_live(driver, small)
        yield started


def driver_of(server: ManagedNeo4j) -> neo4j.Driver:
    return neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password))


def access(server: ManagedNeo4j) -> graph.Access:
    return graph.Access(server.uri, server.user, server.password)


class Killer(threading.Thread):
    """Kills the server once a first batch is committed, then does what comes next."""

    def __init__(self, server: ManagedNeo4j, then: Callable[[], None] = lambda: None) -> None:
        super().__init__(name="killer")
        self._server, self._then = server, then
        self.committed = 0

    def run(self) -> None:
        with driver_of(self._server) as driver:
            while not self.committed:
                time.sleep(0.005)
                self.committed = rows(driver, CANDIDATES)[0]["n"]
            assert self._server.child is not None
            os.kill(self._server.child.pid, signal.SIGKILL)
        self._server.stop()
        self._then()


def test_back_in_time(spark: SparkSession, server: ManagedNeo4j, small: Interests) -> None:
    wanted = sorted(build("dc", small, parts=2).link_names())
    killer = Killer(server, server.start)
    killer.start()
    with graph.RebuildRecord(access(server), "r1") as record:
        report = rebuild_graph(spark, record, "dc", parse_bulk("dc", {"parts": 2}))
    killer.join()
    assert 0 < killer.committed < len(wanted)
    with driver_of(server) as driver:
        assert candidates(driver, "r1") == wanted
    assert (report["candidates"], report["departed"]) == (len(wanted), 0)


class Watched:
    """A driver that says when a statement failed, and counts how many did."""

    def __init__(self, driver: neo4j.Driver) -> None:
        self._driver = driver
        self.failed = threading.Event()
        self.failures = 0

    def execute_query(self, *arguments: Any) -> Any:
        try:
            return self._driver.execute_query(*arguments)
        except (DriverError, Neo4jError):
            self.failures += 1
            self.failed.set()
            raise

    def close(self) -> None:
        self._driver.close()


@pytest.mark.parametrize("after", ["build", "write_candidates"])
def test_back_after_what_was_done(
    spark: SparkSession,
    server: ManagedNeo4j,
    small: Interests,
    monkeypatch: pytest.MonkeyPatch,
    after: str,
) -> None:
    """A finished job waits with the statement that comes next; the server is started once that has failed."""
    monkeypatch.setattr(graph, "LINKS_A_BATCH", 500)
    wanted = sorted(build("dc", small, parts=2).link_names())
    place: Any = bulk if after == "build" else graph
    work = getattr(place, after)

    def work_then_kill(*arguments: Any, **named: Any) -> Any:
        done = work(*arguments, **named)
        assert server.child is not None
        os.kill(server.child.pid, signal.SIGKILL)
        server.stop()
        return done

    monkeypatch.setattr(place, after, work_then_kill)
    with graph.RebuildRecord(access(server), "r1") as record:
        watched = Watched(record._driver)
        monkeypatch.setattr(record, "_driver", watched)

        def start() -> None:
            if watched.failed.wait(120):
                server.start()

        starter = threading.Thread(target=start)
        starter.start()
        report = rebuild_graph(spark, record, "dc", parse_bulk("dc", {"parts": 2}))
        starter.join()
        assert watched.failed.is_set()
    with driver_of(server) as driver:
        assert candidates(driver, "r1") == wanted
    assert (report["candidates"], report["departed"]) == (len(wanted), 0)


def test_a_database_that_never_answered_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = graph.Access(f"bolt://127.0.0.1:{free_port()}", "neo4j", "x")
    with graph.RebuildRecord(nobody, "r1") as record:
        watched = Watched(record._driver)
        monkeypatch.setattr(record, "_driver", watched)
        with pytest.raises(JobFailed, match=f"Neo4j at {nobody.uri}: "):
            record.check()
        assert watched.failures == 1


def test_away_for_too_long(
    spark: SparkSession, server: ManagedNeo4j, small: Interests, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph, "SECONDS_AWAY", 3.0)
    links = len(build("dc", small, parts=2).links)
    killer = Killer(server)
    killer.start()
    with (
        graph.RebuildRecord(access(server), "r1") as record,
        pytest.raises(JobFailed) as raised,
    ):
        rebuild_graph(spark, record, "dc", parse_bulk("dc", {"parts": 2}))
    killer.join()
    place = server.uri.removeprefix("bolt://")
    said = rf"Neo4j at {server.uri}: Couldn't connect to {place} \(resolved to .*\) \(away for 3 s\)"
    assert re.fullmatch(said, str(raised.value)), str(raised.value)
    server.start()
    with driver_of(server) as driver:
        wait_for_answer(driver)
        # The state comes first, as the manager has it: what was under way writes nothing then.
        driver.execute_query("MATCH (r:Rebuild {id: 'r1'}) SET r.state = 'failed'")
        left = rows(driver, CANDIDATES)[0]["n"]
        assert killer.committed <= left < links
        time.sleep(2)
        assert rows(driver, CANDIDATES)[0]["n"] == left
        with graph.RebuildRecord(access(server), "r1") as record:
            record.delete_candidates()
        assert rows(driver, CANDIDATES)[0]["n"] == 0
        assert rows(driver, "MATCH (o:Overlay) RETURN o.version AS version, o.state AS state") == [
            {"version": 7, "state": "live"}
        ]


def wait_for_answer(driver: neo4j.Driver) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            driver.verify_connectivity()
            return
        except (DriverError, Neo4jError):
            assert time.monotonic() < deadline
            time.sleep(0.2)
