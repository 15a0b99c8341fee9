"""The guide to Spark holds what it says: its commands run as printed, its tables are the options and settings."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pyarrow.parquet
import pytest

from algorithms.bulk import BULK
from spark.rebuild import main, verify_command
from tests.docs.pages import ROOT, blocks, code, rows, shell_lines, text_of
from tests.spark.groups import run_group

PAGE = text_of("spark.md")
JOBS = {"spark.rebuild": main, "spark/rebuild.py": main, "spark.verify": verify_command}


def test_the_jobs_take_the_options_that_are_printed() -> None:
    found = 0
    for line in shell_lines(PAGE):
        words = shlex.split(line)
        for name, command in JOBS.items():
            if name in words:
                given = words[words.index(name) + 1 :]
                command.make_context(name, given, resilient_parsing=False).close()
                found += 1
    assert found == 4


def test_the_table_of_options_is_what_the_algorithms_take() -> None:
    known = {p.name: p for taken in BULK.values() for p in taken}
    stated = {code(option)[0]: code(default)[0] for option, _, default in rows(PAGE, "option")}
    assert stated == {f"--{n.replace('_', '-')}": str(p.default).lower() for n, p in known.items()}
    shared = {"seed", "max_part", "memory_mb"}
    own = {code(name)[0]: set(code(options)) for name, _, options in rows(PAGE, "algorithm")}
    assert own == {
        name: {f"--{p.name.replace('_', '-')}" for p in taken if p.name not in shared}
        for name, taken in BULK.items()
    }
    assert {name for name, taken in BULK.items() if "memory_mb" not in {p.name for p in taken}} == {
        "hararypt"
    }


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.timeout(900)
def test_the_commands_run_as_printed(tmp_path: Path) -> None:
    for name in (".venv", "spark"):
        (tmp_path / name).symlink_to(ROOT / name)
    script = "\n".join([". .venv/bin/activate", "set -x", *blocks(PAGE, "sh")])
    done = run_group(["bash", "-euo", "pipefail", "-c", script], cwd=tmp_path, seconds=850)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "every topic is connected" in done.stdout
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["parts"], report["brokers"], report["verified"]) == (4, 2000, True)
    for name in ("links", "strong", "blocks"):
        assert pyarrow.parquet.read_table(tmp_path / f"{name}.parquet").num_rows >= 1999
