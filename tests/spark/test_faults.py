"""A part that fails is named; an executor that dies is replaced, and the links are the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from algorithms import Interests, build
from algorithms.files import read_links
from algorithms.interests import Ints
from spark.conquer import conquer
from spark.divide import divide
from spark.errors import PartFailed, told
from spark.ids import Coded
from spark.kernels import GreedyMerge


def test_the_part_that_failed_is_named(spark: SparkSession, small_coded: Coded) -> None:
    @dataclass(frozen=True)
    class Broken(GreedyMerge):
        """Fails where it is handed a certain number of brokers."""

        size: int = 0

        def inside(self, interests: Interests) -> Ints:
            if len(interests.brokers) == self.size:
                raise MemoryError("no room\nfor these")
            return super().inside(interests)

    coded = small_coded
    rows = divide(coded, "random", 0).divided(4)
    counted = rows.groupBy("part").agg(sf.count_distinct("v").alias("brokers")).collect()
    sizes = {row["part"]: row["brokers"] for row in counted}
    size = max(sizes.values())
    solved = conquer(
        rows, Broken(0, size=size), topics=coded.topic_count, parts=4, shared=np.empty(0, np.int32)
    )
    with pytest.raises(PySparkException) as raised:
        solved.figures()
    said = told(raised.value)
    assert said.startswith("part ")
    assert f"of 4 ({size} brokers) failed: MemoryError: no room for these" in said
    assert any(said.startswith(f"part {number} of 4") for number, count in sizes.items() if count == size)


def test_errors_say_one_line() -> None:
    assert (
        str(PartFailed("part 3 of 8", 12, ValueError("a\nb")))
        == "part 3 of 8 (12 brokers) failed: ValueError: a b"
    )
    assert told(RuntimeError("")) == "RuntimeError"


def test_a_job_whose_parent_was_killed_ends() -> None:
    job = (
        "import os, time; from spark import parent; parent.SECONDS_BETWEEN_LOOKS = 0.05; "
        "parent.end_with(os.getppid()); print('watching', flush=True); time.sleep(60)"
    )
    starter = (
        f"import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', {job!r}], start_new_session=True); "
        "print(child.pid, flush=True); child.wait()"
    )
    with subprocess.Popen([sys.executable, "-c", starter], stdout=subprocess.PIPE, text=True) as api:
        assert api.stdout is not None
        said = [api.stdout.readline().strip(), api.stdout.readline().strip()]
        child = psutil.Process(int(next(line for line in said if line != "watching")))
        assert child.is_running()
        os.kill(api.pid, signal.SIGKILL)
    deadline = time.monotonic() + 30
    while child.is_running() and child.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_killed_executor_costs_time_and_nothing_else(
    small: Interests, small_file: Path, tmp_path: Path
) -> None:
    """In a process of its own, since a session is one a process: executors are processes there, and one is killed."""
    links = tmp_path / "links.parquet"
    script = textwrap.dedent(f"""
        import time, psutil
        from contextlib import contextmanager
        from algorithms.bulk import parse_bulk
        from spark.rebuild import rebuild_files
        from spark.session import SessionOptions, make_session
        from spark.stages import Stages

        session = make_session(SessionOptions(master="local-cluster[2,1,1024]", memory="1g"))

        def executors():
            mine = psutil.Process().children(recursive=True)
            return [p for p in mine if "CoarseGrainedExecutorBackend" in " ".join(p.cmdline()) and "java" in p.name()]

        killed = []
        stage = Stages.stage

        @contextmanager
        def killing(self, name, share_of=None):
            with stage(self, name, share_of):
                if name == "conquering":  # what was read and divided is with both of them
                    while len(executors()) < 2:
                        time.sleep(0.2)
                    victim = executors()[0]
                    victim.kill()
                    victim.wait(30)
                    killed.append(victim.pid)
                yield

        Stages.stage = killing
        params = parse_bulk("dc", {{"parts": 6}})
        rebuild_files(session, "dc", params, {str(small_file)!r}, {str(links)!r})
        assert len(killed) == 1
        session.stop()
        print("done")
    """)
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=800, check=False
    )
    assert run.stdout.strip().endswith("done"), run.stderr[-2000:]
    assert read_links(links, small).link_names() == build("dc", small, parts=6).link_names()
