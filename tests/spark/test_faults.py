"""A part that fails is named, and so is any other work; a job ends with the process that started it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import psutil
import pytest
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from algorithms import BadInput, Interests, divide_conquer
from algorithms.interests import Ints, Longs
from spark import bulk
from spark.circles import circles
from spark.conquer import conquer
from spark.divide import divide
from spark.errors import PartFailed, numbers, told
from spark.ids import Coded
from spark.kernels import GreedyMerge
from spark.verify import weak_topics
from tests.spark.jobs import built_coded


@dataclass(frozen=True)
class Broken(GreedyMerge):
    """Does ``how`` to whatever does the work ``where``, of so many brokers (0: of any)."""

    where: str = "inside"
    how: str = "memory"
    size: int = 0

    def inside(self, interests: Interests) -> Ints:
        self._break("inside", len(interests.brokers))
        return super().inside(interests)

    def across(self, interests: Interests, part: Ints, degrees: Ints, topic_sizes: Longs) -> Ints:
        self._break("across", len(interests.brokers))
        return super().across(interests, part, degrees, topic_sizes)

    def stars(self, interests: Interests, part: Ints) -> Ints:
        self._break("stars", len(interests.brokers))
        return super().stars(interests, part)

    def _break(self, where: str, size: int) -> None:
        if where == self.where and self.size in (0, size):
            if self.how == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            if self.how == "refused":
                raise BadInput("memory_mb", 16, "is too little")
            raise MemoryError("no room\nfor these")


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("memory", "MemoryError: no room for these"),
        ("refused", "BadInput: memory_mb: is too little (got 16)"),
    ],
)
def test_the_part_that_failed_is_named(
    spark: SparkSession, small_coded: Coded, how: str, reason: str
) -> None:
    """A refusal from inside a part too, which Python prints before the error that it is the cause of."""
    coded = small_coded
    rows = divide(coded, "random", 0).divided(4)
    counted = rows.groupBy("part").agg(sf.count_distinct("v").alias("brokers")).collect()
    part, size = max(((row["part"], row["brokers"]) for row in counted), key=lambda found: found[1])
    assert [row["brokers"] for row in counted].count(size) == 1
    kernel = Broken(0, how=how, size=size)
    solved = conquer(rows, kernel, topics=coded.topic_count, parts=4, shared=np.empty(0, np.int32))
    with pytest.raises(PySparkException) as raised:
        solved.figures()
    assert told(raised.value) == f"part {part} of 4 ({size} brokers) failed: {reason}"


@pytest.mark.parametrize(
    ("given", "broken", "said"),
    [
        (
            {"parts": 4},
            {"where": "across"},
            r"level 1, the join of parts 0, 1, 2, 3 \(\d+ stars\) failed: Mem",
        ),
        ({"parts": "auto"}, {"where": "stars"}, r"trying \d+ parts, part \d+ \(\d+ brokers\) failed: Mem"),
        (
            {"parts": 4},
            {"how": "killed"},
            r"a process of Spark died while conquering \(task \d\), most often for lack of memory: take more parts",
        ),
    ],
    ids=["join", "sample", "killed"],
)
def test_other_work_that_failed_is_named(
    spark: SparkSession,
    small_coded: Coded,
    monkeypatch: pytest.MonkeyPatch,
    given: dict[str, Any],
    broken: dict[str, str],
    said: str,
) -> None:
    monkeypatch.setattr(divide_conquer, "SMALLEST_PART", 50)
    monkeypatch.setattr(bulk, "_kernel", lambda algorithm, params: Broken(0, **broken))  # type: ignore[arg-type]
    with pytest.raises((PySparkException, Py4JError)) as raised:
        built_coded(small_coded, "dc", **given)
    assert re.match(said, told(raised.value)), told(raised.value)
    assert "\n" not in told(raised.value)


def test_topics_that_failed_are_named(spark: SparkSession, small_coded: Coded) -> None:
    """Counts that are too small stop every kernel."""
    broken = replace(small_coded, broker_count=1, topic_count=1)
    topics = r"topics \d+(, \d+)* and \d+ more in the order of ids \(\d+ rows\)"
    links = circles(small_coded, 2, "id", 0)
    for work, said in (
        (circles(broken, 2, "id", 0), f"drawing {topics}"),
        (circles(broken, 2, "nearest", 0), r"drawing all circles in one task \(300 brokers\)"),
        (weak_topics(broken, links, 2), f"looking at {topics}"),
    ):
        with pytest.raises(PySparkException) as raised:
            work.collect()
        assert re.match(f"{said} failed: ValueError: ", told(raised.value)), told(raised.value)


def test_errors_say_one_line() -> None:
    assert str(PartFailed("part 3 of 8", ValueError("a\nb"))) == "part 3 of 8 failed: ValueError: a b"
    assert told(RuntimeError("")) == "RuntimeError"
    assert numbers([3, 1, 3]) == "1, 3"
    assert numbers(range(12)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"


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
