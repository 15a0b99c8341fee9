"""``python -m spark.rebuild`` as a process: exit codes, one line on stderr, the report, spark-submit."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from algorithms import BadInput, Interests, build
from algorithms.files import read_links
from backend.managed.java import find_java
from backend.settings import Settings
from spark.command import chosen_options
from spark.errors import JobFailed
from spark.rebuild import _check_report, _write_report
from spark.session import SessionOptions, _java_home, partitions_of

SPARK_HOME = Path(pyspark.__file__).parent


def run(
    *arguments: str, module: str = "spark.rebuild", **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
        env=os.environ | environment,
    )


FILES = ["--algorithm", "dc", "--interests", "a.parquet", "--links", "b.parquet"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*FILES, "--memory", "much"], "memory: must be a size like 3g or 800m, at least 512m (got 'much')"),
        (
            [*FILES, "--report", "/no/such/report.json"],
            "report: there is no such folder (got '/no/such/report",
        ),
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


@pytest.mark.parametrize("module", ["spark.rebuild", "spark.verify"])
def test_a_wrong_option_is_one_line_and_exit_2(module: str) -> None:
    for arguments, said in (
        ((), "error: Missing option "),
        (("--nothing",), "error: No such option '--nothing'"),
        (("--links",), "error: Option '--links' requires an argument."),
    ):
        done = run(*arguments, module=module)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(said)
        assert len(done.stderr.splitlines()) == 1
    done = run("--help", module=module)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Usage: python -m {module} [OPTIONS]")


def test_what_spark_submit_was_given_is_refused_after_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    assert chosen_options(None, None, None, "warn", False).log_level == "WARN"
    for name, given in (
        ("master", ("local[2]", None, None, None, False)),
        ("memory", (None, "1g", None, None, False)),
        ("jars", (None, None, "a.jar", None, False)),
        ("ui", (None, None, None, None, True)),
    ):
        with pytest.raises(BadInput, match=f"{name}: is spark-submit's own to say") as raised:
            chosen_options(*given)
        assert "give it to that, before the file" in str(raised.value)


def test_a_database_that_is_not_there_is_one_line_and_exit_1() -> None:
    done = run("--algorithm", "dc", "--neo4j", "bolt://127.0.0.1:9", "--rebuild", "r", NEO4J_PASSWORD="x")
    assert done.returncode == 1
    assert done.stderr.startswith("error: Neo4j at bolt://127.0.0.1:9: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"memory": "100m"}, "memory: must be a size like 3g or 800m, at least 512m (got '100m')"),
        ({"memory": "-1g"}, "memory: must be"),
        ({"log_level": "loud"}, "log-level: must be one of ALL, DEBUG,"),
        ({"master": "local[0]"}, "master: must be local, local[N], local[*], spark://HOST:PORT or"),
        ({"master": "here"}, "(got 'here')"),
    ],
)
def test_options_that_spark_would_fail_on_are_named(options: dict[str, str], said: str) -> None:
    with pytest.raises(BadInput, match=re.escape(said)):
        chosen_options(options.get("master"), options.get("memory"), None, options.get("log_level"), False)


def test_options_that_spark_knows_are_taken() -> None:
    cluster = "local-cluster[2,1,2048]"
    for master in ("local", "local[*]", "local[2,4]", cluster, "yarn", "spark://a:7077,b:7077"):
        SessionOptions(master=master).check()
    for size in ("512m", "1g", "2G"):
        SessionOptions(memory=size).check()
    assert chosen_options(None, None, None, "warn", True).log_level == "WARN"


def test_a_cluster_has_partitions_enough_before_its_executors_are_there() -> None:
    assert [partitions_of(master, 2) for master in ("local", "local[2]", "local[*]")] == [8, 8, 8]
    for master in ("spark://a:7077", "yarn", "k8s://a", "local-cluster[2,1,1024]"):
        assert partitions_of(master, 2) == 200
        assert partitions_of(master, 500) == 2000


def test_more_settings_come_from_the_folder_that_spark_is_told(tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text("spark.executor.memory 700m\n")
    lines = (
        "from spark.session import SessionOptions, make_session",
        "session = make_session(SessionOptions(master='local[1]', memory='512m', jars=()))",
        "print(session.conf.get('spark.executor.memory'))",
        "session.stop()",
    )
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        capture_output=True, text=True, timeout=280, check=False,
        env=os.environ | {"SPARK_CONF_DIR": str(tmp_path)},
    )  # fmt: skip
    assert done.stdout == "700m\n", done.stderr


def test_a_folder_is_no_report(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="report: this is a folder"):
        _check_report(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser writes everywhere")
def test_a_report_that_cannot_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(BadInput, match="report: nothing can be written there"):
        _check_report(tmp_path / "report.json")


def test_a_report_that_cannot_be_written_in_the_end_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(JobFailed, match=r"the links are written, but not their report: .*: No such file"):
        _write_report(tmp_path / "gone" / "report.json", {})


def test_pages_of_spark_are_served_where_asked(tmp_path: Path) -> None:
    """In the least memory there may be."""
    lines = (
        "import urllib.request",
        "from spark.session import SessionOptions, make_session",
        "session = make_session(SessionOptions(master='local[1]', memory='512m', jars=(), ui=True))",
        "print(urllib.request.urlopen(session.sparkContext.uiWebUrl).status)",
        "session.stop()",
    )
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout == "200\n", done.stderr


def test_a_job_from_file_to_file(small: Interests, small_file: Path, tmp_path: Path) -> None:
    """With its own Python and its own Spark, whatever a shell names for other work."""
    links, report = tmp_path / "links.parquet", tmp_path / "report.json"
    done = run(
        "--algorithm", "dc", "--parts", "3", "--interests", str(small_file), "--links", str(links),
        "--master", "local[2]", "--memory", "1g", "--report", str(report), "--json",
        PYSPARK_PYTHON="/no/python", PYSPARK_DRIVER_PYTHON="/no/python", SPARK_HOME="/no/spark",
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
