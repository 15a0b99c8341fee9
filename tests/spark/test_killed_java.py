"""Java is killed, as for lack of memory: one line says so, and nothing is left of what the job wrote.

The jobs are commands of their own, since a session is one a process, on a local master, whose Java does all the work.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import neo4j
import psutil
import pytest
from pyspark.sql import DataFrame, SparkSession

from algorithms import Interests
from algorithms.interests import Ints
from spark import bulk, graph
from spark.command import run
from spark.kernels import GreedyMerge
from spark.rebuild import main
from tests.conftest import Neo4jServer
from tests.spark.groups import run_group
from tests.spark.living import candidates

ROOT = Path(__file__).parents[2]
SAID = (
    "error: Spark's Java ended while {stage}, most often for lack of memory: give it more (--memory), "
    "or take more parts or a smaller max_part\n"
)


@dataclass(frozen=True)
class Killing(GreedyMerge):
    """Kills the Java that its task belongs to."""

    def inside(self, interests: Interests) -> Ints:
        _kill(next(above for above in psutil.Process().parents() if above.name() == "java"))
        return super().inside(interests)


def while_conquering() -> None:
    bulk._kernel = lambda algorithm, params: Killing(0)
    run(main)


def while_writing() -> None:
    """After some candidates are written."""
    write = graph.write_candidates

    def write_some(links: DataFrame, access: graph.Access, rebuild: str) -> None:
        write(links.limit(20), access, rebuild)
        _kill(_java(links.sparkSession))
        write(links, access, rebuild)

    graph.write_candidates = write_some
    run(main)


def _java(session: SparkSession) -> psutil.Process:
    gateway = session.sparkContext._gateway
    assert gateway is not None
    return psutil.Process(gateway.proc.pid)


def _kill(java: psutil.Process) -> None:
    java.kill()
    psutil.wait_procs([java], timeout=30)


def _ends(job: Callable[[], None], *words: str, **environment: str) -> tuple[int, str, str]:
    code = f"from tests.spark.test_killed_java import {job.__name__}; {job.__name__}()"
    command = [sys.executable, "-c", code, "--algorithm", "dc", "--parts", "4"]
    command += ["--master", "local[2]", "--memory", "1g", *words]
    done = run_group(command, cwd=ROOT, seconds=280, env=os.environ | environment)
    return done.returncode, done.stdout, done.stderr


def test_while_parts_are_conquered(small_file: Path, tmp_path: Path) -> None:
    links = tmp_path / "links.parquet"
    ended = _ends(while_conquering, "--interests", str(small_file), "--links", str(links))
    assert ended == (1, "", SAID.format(stage="conquering"))
    assert not list(tmp_path.iterdir())


@pytest.mark.neo4j
def test_while_candidates_are_written(neo4j_server: Neo4jServer, live: neo4j.Driver) -> None:
    login = {"NEO4J_USER": neo4j_server.user, "NEO4J_PASSWORD": neo4j_server.password}
    ended = _ends(while_writing, "--neo4j", neo4j_server.uri, "--rebuild", "r1", **login)
    assert ended == (1, "", SAID.format(stage="writing"))
    assert candidates(live, "r1") == []
