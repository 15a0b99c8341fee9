"""``python -m spark.rebuild`` as a process: exit codes, one line on stderr, the report, spark-submit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from algorithms import Interests, build
from algorithms.files import read_links
from backend.managed.java import find_java
from backend.settings import Settings
from spark.session import _java_home

SPARK_HOME = Path(pyspark.__file__).parent


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "spark.rebuild", *arguments],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
        env=os.environ | environment,
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--algorithm", "dcc", "--interests", "a.parquet", "--links", "b.parquet"], "did you mean 'dc'?"),
        (["--algorithm", "dc"], "give --interests and --links, or --neo4j and --rebuild"),
        (
            ["--algorithm", "gm", "--parts", "2", "--interests", "a.parquet", "--links", "b.parquet"],
            "gm on Spark takes no such",
        ),
        (
            [
                "--algorithm",
                "dc",
                "--score",
                "weave",
                "--ties",
                "row",
                "--neo4j",
                "bolt://127.0.0.1:9",
                "--rebuild",
                "r",
            ],
            "ties: is a choice of the score contribution",
        ),
        (
            ["--algorithm", "dc", "--interests", "a.parquet", "--links", "b.csv"],
            "links: the name must end in .parquet",
        ),
        (
            ["--algorithm", "dc", "--neo4j", "bolt://127.0.0.1:9", "--rebuild", "r"],
            "NEO4J_PASSWORD: must be set",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_input_is_one_line_and_exit_2(arguments: list[str], said: str) -> None:
    done = run(*arguments, NEO4J_PASSWORD="")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_database_that_is_not_there_is_one_line_and_exit_1() -> None:
    done = run("--algorithm", "dc", "--neo4j", "bolt://127.0.0.1:9", "--rebuild", "r", NEO4J_PASSWORD="x")
    assert done.returncode == 1
    assert done.stderr.startswith("error: Neo4j at bolt://127.0.0.1:9: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_job_from_file_to_file(small: Interests, small_file: Path, tmp_path: Path) -> None:
    links, report = tmp_path / "links.parquet", tmp_path / "report.json"
    done = run(
        "--algorithm", "dc", "--parts", "3", "--interests", str(small_file), "--links", str(links),
        "--master", "local[2]", "--memory", "1g", "--report", str(report), "--json",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    local = build("dc", small, parts=3)
    assert read_links(links, small).link_names() == local.link_names()
    figures = json.loads(done.stdout)
    assert figures == json.loads(report.read_text())
    assert (figures["algorithm"], figures["links"], figures["parts"]) == ("dc", len(local.links), 3)
    assert figures["seconds"]["session"] > 0


def test_a_java_that_was_wrapped_is_not_wrapped_again(tmp_path: Path) -> None:
    """A process that we started finds the wrapper in JAVA_HOME."""
    home = _java_home(find_java(), tmp_path)
    again = find_java(environment={"JAVA_HOME": str(home), "PATH": ""})
    assert again.executable == home / "bin" / "java"
    assert _java_home(again, tmp_path) == home
    assert str(home) not in (home / "bin" / "java").read_text()


@pytest.mark.long
def test_the_same_file_under_spark_submit(small: Interests, small_file: Path, tmp_path: Path) -> None:
    links = tmp_path / "links.parquet"
    home = _java_home(find_java(environment={"PATH": ""}), Settings.load().cache)
    done = subprocess.run(
        [
            str(SPARK_HOME / "bin" / "spark-submit"), "--master", "local[2]", "--driver-memory", "1g",
            str(Path(__file__).parents[2] / "spark" / "rebuild.py"),
            "--algorithm", "hararypt", "--k", "4", "--interests", str(small_file), "--links", str(links),
        ],
        capture_output=True, text=True, timeout=280, check=False,
        env=os.environ | {"JAVA_HOME": str(home), "SPARK_HOME": str(SPARK_HOME), "PYSPARK_PYTHON": sys.executable},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert read_links(links, small).link_names() == build("hararypt", small, k=4).link_names()
