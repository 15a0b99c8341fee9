"""Once more, the long ones too, where executors are processes of their own, so nothing leans on the driver's memory:
algorithms, real interests, faults, tables, the verifier, and all that goes through Neo4j but for a server that is killed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.spark.groups import run_group

HERE = Path(__file__).parent
FILES = (
    "test_bulk.py",
    "test_faults.py",
    "test_graph.py",
    "test_real_interests.py",
    "test_tables.py",
    "test_verify.py",
    "test_writing.py",
)
"""Left out: commands and killed executors, which have sessions of their own; files of TOPICWEAVE_DATA, which take hours;
and the killed server, which is the same to every executor."""


@pytest.mark.long
@pytest.mark.timeout(3000)
def test_the_same_on_separate_executors() -> None:
    files = [str(HERE / file) for file in FILES]
    run = run_group(
        [sys.executable, "-m", "pytest", *files, "-q", "-p", "no:cacheprovider", "--timeout", "900"],
        cwd=HERE.parents[1],
        seconds=2900,
        env=os.environ | {"TOPICWEAVE_SPARK_MASTER": "local-cluster[2,1,2048]", "TOPICWEAVE_DATA": ""},
    )
    assert run.returncode == 0, run.stdout[-4000:]
