"""Rebuilds on Spark as the API runs them: a job of its own over the real database, followed, called off, activated."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import neo4j
import psutil
import pytest

from backend.managed.jars import neo4j_jars
from backend.managed.java import find_java
from backend.managed.processes import free_port
from backend.managed.server import ManagedNeo4j
from backend.settings import Settings
from tests.backend.conftest import rows
from tests.backend.live import Served, served
from tests.backend.test_activation_killed import SILENT, SmallBatches
from tests.backend.test_activation_merge import merged
from tests.backend.test_rebuilds import INTERESTS, check_every_version, fill, planned, wait_for, wait_until
from tests.conftest import Neo4jServer

pytestmark = [pytest.mark.neo4j, pytest.mark.spark, pytest.mark.timeout(600)]


@pytest.fixture
def live(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Served]:
    """Started where packages of other people have the names of ours."""
    for name in ("spark", "algorithms"):
        (tmp_path / "elsewhere" / name).mkdir(parents=True)
        (tmp_path / "elsewhere" / name / "__init__.py").write_text("raise ImportError('not ours')\n")
    monkeypatch.chdir(tmp_path / "elsewhere")
    with served(neo4j_server, database, tmp_path) as opened:
        fill(opened)
        yield opened


def ask(live: Served, algorithm: str, seed: int = 0, **params: Any) -> str:
    request = {"algorithm": algorithm, "engine": "spark", "params": params, "seed": seed}
    asked: dict[str, Any] = live.ask("POST", "rebuilds", json=request, status=202)
    assert asked["engine"] == "spark"
    return str(asked["id"])


STARTING = ("waiting", "starting Spark", "starting")


def follow(live: Served, rebuild: str, until: str | None = None) -> list[dict[str, Any]]:
    """What the API tells of a rebuild, again and again, until its progress names a stage (None: the job has begun to
    work) or it has ended."""
    told = []
    deadline = time.monotonic() + 500
    while True:
        found: dict[str, Any] = live.ask("GET", "rebuilds", rebuild)
        told.append(found)
        stage = found["progress"]["stage"]
        reached = stage not in STARTING if until is None else stage == until
        if found["state"] not in ("queued", "running") or reached:
            return told
        assert time.monotonic() < deadline, found
        time.sleep(0.2)


def candidates(live: Served, rebuild: str | None = None) -> int:
    text = "MATCH ()-[c:CANDIDATE]->() WHERE $id IS NULL OR c.rebuild = $id RETURN count(c) AS n"
    return int(rows(live.driver, text, id=rebuild)[0]["n"])


def jobs() -> list[psutil.Process]:
    """The Spark jobs that this process started and that still live."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if "spark.rebuild" in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


@contextmanager
def nothing_is_committed(driver: neo4j.Driver) -> Iterator[None]:
    """Holds the lock that every commit takes first, those of candidates too: a job comes as far as its writing."""
    with driver.session() as session, session.begin_transaction() as transaction:
        transaction.run("MATCH (o:Overlay {name: 'live'}) SET o.asked = 'the test'").consume()
        yield
        transaction.rollback()


def test_followed_planned_activated_and_dropped_while_the_overlay_lives(live: Served, tmp_path: Path) -> None:
    first = ask(live, "dc", parts=3, score="weave", seed=5)
    second = live.ask("POST", "rebuilds", json={"algorithm": "gm"}, status=202)["id"]
    told = follow(live, first)
    live.join("during", *INTERESTS.topics[:3])
    live.leave(INTERESTS.brokers[0])
    brought = merged(live, tmp_path, "merged")
    with nothing_is_committed(live.driver):
        told += follow(live, first, "writing")
        assert live.ask("GET", "rebuilds", second)["state"] == "queued", "one after the other"
    told += follow(live, first, "planned")
    found = told[-1]
    assert found["state"] == "planned", found["error"]
    shares = [one["progress"]["share"] for one in told]
    assert shares == sorted(shares)
    assert {"starting Spark", "writing"} <= {one["progress"]["stage"] for one in told}
    report = found["report"]
    assert (report["engine"], report["parts"], report["params"]["seed"]) == ("spark", 3, 5)
    assert report["inner_links"] + report["outer_links"] == report["links"]
    assert report["candidates"] + report["departed"] == report["links"]
    assert candidates(live, first) <= report["candidates"]
    wait_for(live, second, "planned")
    version = live.version

    live.ask("POST", "rebuilds", first, "activate", status=202)
    live.join("later", *INTERESTS.topics[2:5])
    wait_for(live, first, "active")
    assert live.version > version
    assert live.stored_links() >= brought, "a plan that knew nothing of a federation leaves its links alone"
    check_every_version(live)
    for rebuild in (second, first):
        live.ask("DELETE", "rebuilds", rebuild)
        assert candidates(live, rebuild) == 0
    assert candidates(live) == 0


@pytest.mark.parametrize("stage", [pytest.param(None, marks=pytest.mark.long), "writing"])
def test_called_off_while_it_runs(live: Served, stage: str | None) -> None:
    version, links = live.version, live.stored_links()
    rebuild = ask(live, "dc", parts=2 if stage else 20)
    assert follow(live, rebuild)[-1]["state"] == "running"
    with ThreadPoolExecutor(1) as pool:
        with nothing_is_committed(live.driver):
            assert follow(live, rebuild, stage)[-1]["state"] == "running"
            assert len(jobs()) == 1
            answer = pool.submit(live.ask, "POST", "rebuilds", rebuild, "cancel")
            text = "MATCH (r:Rebuild {id: $id}) RETURN r.cancelling AS cancelling"
            wait_until(lambda: bool(rows(live.driver, text, id=rebuild)[0]["cancelling"]))
        assert answer.result()["state"] == "cancelled"
    assert jobs() == []
    assert candidates(live) == 0
    assert (live.version, live.stored_links()) == (version, links)
    live.ask("POST", "rebuilds", rebuild, "activate", status=409)
    assert planned(live, "gm")["state"] == "planned", "the next one has its turn"


@pytest.mark.long
@pytest.mark.parametrize(
    ("algorithm", "params"),
    [
        ("gm", {}),
        ("gm2", {"parts": 2, "divide": "cluster"}),
        ("degree-cover", {"parts": 2}),
        ("hararypt", {"k": 3, "order": "random", "even_if_cheaper": False}),
    ],
    ids=str,
)
def test_every_algorithm_of_spark(live: Served, algorithm: str, params: dict[str, Any]) -> None:
    found = follow(live, ask(live, algorithm, **params), "planned")[-1]
    assert found["state"] == "planned", found["error"]
    assert found["plan"]["links"] == found["report"]["links"] == candidates(live)


@pytest.mark.long
def test_neo4j_goes_while_a_job_runs(tmp_path: Path) -> None:
    """The rebuild has failed when the database is back, and the overlay is what it was."""
    jars = neo4j_jars(Settings.load(), lambda line: None)
    with ManagedNeo4j(
        tmp_path, free_port(), find_java(), jars, heap_mb=256, page_cache_mb=64, short_lived=True
    ) as server:
        api = SmallBatches("api", tmp_path, server.uri, server.password)
        try:
            api.start()
            api.wait_until_ready()
            batch = [{"op": "join", "broker": b, "topics": INTERESTS.topics_of(b)} for b in INTERESTS.brokers]
            api.ask("POST", "changes", batch)
            links = api.ask("GET", "overlay")["links"]
            body = {"algorithm": "dc", "engine": "spark", "params": {"parts": 3}}
            rebuild = api.ask("POST", "rebuilds", body)["id"]
            wait_until(lambda: api.ask("GET", f"rebuilds/{rebuild}")["progress"]["stage"] not in STARTING)
            assert server.child is not None
            os.kill(server.child.pid, signal.SIGKILL)
            server.stop()
            wait_until(lambda: jobs() == [])
            server.start()
            api.wait_until_ready()
            wait_until(lambda: api.ask("GET", f"rebuilds/{rebuild}")["state"] == "failed")
            assert api.ask("GET", f"rebuilds/{rebuild}")["error"].startswith("the Spark job failed: ")
            assert (api.ask("GET", "overlay")["links"], api.ask("GET", "check")["good"]) == (links, True)
        finally:
            if api.child is not None:
                api.child.stop(20)


@pytest.mark.long
def test_a_job_ends_with_the_api_that_was_killed(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path
) -> None:
    api = SmallBatches("killed", tmp_path, neo4j_server.uri, neo4j_server.password)
    try:
        api.start()
        api.wait_until_ready()
        batch = [{"op": "join", "broker": b, "topics": INTERESTS.topics_of(b)} for b in INTERESTS.brokers]
        api.ask("POST", "changes", batch)
        rebuild = api.ask("POST", "rebuilds", {"algorithm": "dc", "engine": "spark"})["id"]
        wait_until(lambda: api.ask("GET", f"rebuilds/{rebuild}")["progress"]["stage"] not in STARTING)
        with nothing_is_committed(database):
            running = jobs()
            assert len(running) == 1
            api.kill()
        psutil.wait_procs(running, 60)
        assert not any(job.is_running() for job in running)
        rows(database, SILENT)
        api.start()
        api.wait_until_ready()
        wait_until(lambda: api.ask("GET", f"rebuilds/{rebuild}")["state"] == "failed")
        wait_until(lambda: rows(database, "MATCH ()-[c:CANDIDATE]->() RETURN c") == [])
    finally:
        if api.child is not None:
            api.child.stop(20)


@pytest.mark.long
def test_a_job_that_fails_says_why(live: Served) -> None:
    # The halves are 30 each on average: only the job finds out that one of them is larger.
    found = follow(live, ask(live, "dc", parts=2, max_part=30), "planned")[-1]
    assert found["state"] == "failed"
    assert re.match(r"the Spark job failed: parts: part [01] would have 3\d brokers", found["error"])
    assert "a task is handed 30 at most" in found["error"]
    assert candidates(live) == 0


@pytest.mark.parametrize(
    ("algorithm", "params", "field"),
    [
        ("weave", {}, "algorithm"),
        ("gm", {"rounds": 2}, "rounds"),
        ("gm2", {"weighted": True}, "weighted"),
        ("hararypt", {"order": "independent"}, "order"),
        ("degree-cover", {"k": 3}, "k"),
        ("dc", {"max_part": 1}, "max_part"),
    ],
    ids=str,
)
def test_what_spark_does_not_do_is_refused_at_once(
    live: Served, algorithm: str, params: dict[str, Any], field: str
) -> None:
    request = {"algorithm": algorithm, "engine": "spark", "params": params}
    assert live.ask("POST", "rebuilds", json=request, status=422)["field"] == field
    assert live.ask("GET", "rebuilds")["items"] == []
