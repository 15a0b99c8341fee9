"""An executor is killed at its work: Spark does the work again and the links are the same, or the job says so and leaves
nothing. Each case is a process of its own, since a session is one a process."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import neo4j
import pytest

from algorithms import Interests, build
from algorithms.files import read_links, write_links
from tests.backend.conftest import rows
from tests.conftest import Neo4jServer
from tests.spark.groups import run_group
from tests.spark.killing import PARTS
from tests.spark.living import access, candidates
from tests.spark.page_proxy import pages_of

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

TRIES, ONCE = 4, 1
"""How often Spark tries a task by itself, and a number that makes the kill the end of the job."""


def run(
    job: str, attempts: int, folder: Path, source: str, target: str, **environment: str
) -> dict[str, Any]:
    """What the job prints, which no executor survives."""
    gate = folder / "gate"
    gate.mkdir()
    words = [sys.executable, "-m", "tests.spark.killing", job, str(gate), str(attempts), source, target]
    done = run_group(words, cwd=ROOT, seconds=800, env=os.environ | environment)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def login(server: Neo4jServer) -> dict[str, str]:
    return {"NEO4J_USER": server.user, "NEO4J_PASSWORD": server.password}


def check_died_at_work(found: dict[str, Any], attempts: int) -> None:
    """Spark had the stage at work, and the task was lost with its executor; it was done again where it may be."""
    assert found["killed"]
    assert found["active"] >= 1
    of_task = [tried for tried in found["attempts"] if tried["partition"] == found["partition"]]
    ended = {(tried["status"], tried["executor"] == found["executor"]) for tried in of_task}
    assert ("FAILED", True) in ended, found["attempts"]
    assert ("SUCCESS", True) not in ended
    assert (("SUCCESS", False) in ended) == (attempts > 1), found["attempts"]


def check_said(found: dict[str, Any]) -> None:
    assert "report" not in found
    said = f"a process of Spark died while writing (task {found['task']}), most often for lack of memory: "
    assert found["failed"].startswith(said), found["failed"]


def test_while_parts_are_conquered(small: Interests, small_file: Path, tmp_path: Path) -> None:
    """What the executor had done before is lost with it, and is done again too."""
    links = tmp_path / "links.parquet"
    found = run("parts", TRIES, tmp_path, str(small_file), str(links))
    check_died_at_work(found, TRIES)
    assert found["done"] >= 1
    assert (found["executor"], "SUCCESS") in {
        (tried["executor"], tried["status"]) for tried in found["attempts"]
    }
    assert read_links(links, small).link_names() == build("dc", small, parts=PARTS).link_names()


@pytest.mark.neo4j
def test_while_parts_are_conquered_and_the_overlay_moves(
    neo4j_server: Neo4jServer, live: neo4j.Driver, with_lonely: Interests, tmp_path: Path
) -> None:
    """What was read once is not read again: the overlay has changed since, and with it the place of every broker."""
    wanted = sorted(build("dc", with_lonely, parts=PARTS).link_names())
    with pages_of(access(neo4j_server)) as (pages, way):
        found = run("moved", TRIES, tmp_path, way.uri, "r1", **login(neo4j_server))
        assert pages.asked == 7
    check_died_at_work(found, TRIES)
    report = found["report"]
    assert (report["version_before"], report["version_after"]) == (7, 8)
    assert (report["brokers"], report["candidates"], report["departed"]) == (301, len(wanted), 0)
    assert candidates(live, "r1") == wanted


@pytest.mark.parametrize("attempts", [TRIES, ONCE])
def test_while_links_are_written(small: Interests, small_file: Path, tmp_path: Path, attempts: int) -> None:
    """Links of before are there until the new ones are whole, and after a job that failed."""
    links = tmp_path / "links.parquet"
    before, wanted = build("treept", small), build("dc", small, parts=PARTS)
    links.mkdir()
    write_links(before, links / "part-0.parquet")
    assert read_links(links, small).link_names() == before.link_names() != wanted.link_names()
    found = run("links", attempts, tmp_path, str(small_file), str(links))
    check_died_at_work(found, attempts)
    assert found["look"] == ["links.parquet", "links.parquet.unfinished"]
    if attempts == ONCE:
        check_said(found)
    left = wanted if attempts > ONCE else before
    assert read_links(links, small).link_names() == left.link_names()
    assert [path.name for path in tmp_path.glob("links*")] == ["links.parquet"]


@pytest.mark.neo4j
@pytest.mark.parametrize("attempts", [TRIES, ONCE])
def test_while_candidates_are_written(
    neo4j_server: Neo4jServer, live: neo4j.Driver, with_lonely: Interests, tmp_path: Path, attempts: int
) -> None:
    """The first batches are committed by then: those of the next attempt come to the same, or they are taken back."""
    wanted = sorted(build("dc", with_lonely, parts=PARTS).link_names())
    found = run("candidates", attempts, tmp_path, neo4j_server.uri, "r1", **login(neo4j_server))
    check_died_at_work(found, attempts)
    assert 0 < found["look"] < len(wanted)
    record = rows(live, "MATCH (r:Rebuild {id: 'r1'}) RETURN r.state AS state, r.report AS report")[0]
    assert record["state"] == "running", "what becomes of it is the manager's to say"
    if attempts == ONCE:
        check_said(found)
        assert record["report"] is None
        time.sleep(2)  # what the killed one had sent, had it outlived it, would be there by now
    else:
        assert json.loads(record["report"]) == found["report"]
        assert (found["report"]["candidates"], found["report"]["departed"]) == (len(wanted), 0)
    assert candidates(live, "r1") == (wanted if attempts > ONCE else [])
    overlay = (
        "MATCH (o:Overlay) RETURN o.version AS version, o.state AS state, COUNT { ()-[:LINK]-() } AS links"
    )
    assert rows(live, overlay) == [{"version": 7, "state": "live", "links": 0}]
