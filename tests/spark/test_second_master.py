"""Once more, the long ones too, where executors are processes of their own, so nothing leans on the driver's memory:
algorithms, faults, tables, the verifier, and all that goes through Neo4j but for a server that is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FILES = (
    "test_bulk.py",
    "test_faults.py",
    "test_graph.py",
    "test_tables.py",
    "test_verify.py",
    "test_writing.py",
)
"""Left out: commands and the killed executor, which make sessions of their own; whole files of real interests, which
take hours; and the killed server, which is the same to every executor."""


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_the_same_on_separate_executors() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *(str(HERE / file) for file in FILES), "-k", "not killed_executor",
         "-q", "-p", "no:cacheprovider", "--timeout", "900"],
        cwd=HERE.parents[1], capture_output=True, text=True, timeout=1700, check=False,
        env=os.environ | {"TOPICWEAVE_SPARK_MASTER": "local-cluster[2,1,2048]"},
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-4000:]
