"""``python -m tests.spark.killing``: a job on executors that are processes, one of which is killed at its work.

The work is held until the kill, so the executor that dies is in the midst of a task, whatever the machine's speed. What
Spark knew at that moment, and what came of it, is printed as JSON; the test judges it.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import neo4j
import psutil
import pyarrow
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark import TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from algorithms import Interests
from algorithms.bulk import parse_bulk
from algorithms.interests import Ints
from spark import bulk, graph, tables
from spark.errors import told
from spark.kernels import GreedyMerge
from spark.rebuild import rebuild_files, rebuild_graph
from spark.session import SessionOptions, make_session

MASTER = "local-cluster[2,1,1024]"
PARTS = 8
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Tables are tiny: what starts fast beats what runs fast."""

SECONDS = 240.0
"""How long anything is waited for."""


@dataclass(frozen=True)
class Gate:
    """A place where tasks wait, once, until an executor was killed; files, since they are processes of their own."""

    folder: Path

    def wait(self) -> None:
        """Say whose task is here, and wait."""
        executor = _executor_above(os.getpid())
        self._put(f"waiting-{executor}")
        _until(lambda: (self.folder / "open").exists(), "nobody opened the gate")

    def second(self) -> bool:
        """Whether the executor has been here with another task before."""
        executor, task = _executor_above(os.getpid()), TaskContext.get()
        assert task is not None
        self._put(f"at-{executor}-{task.taskAttemptId()}")
        return len(list(self.folder.glob(f"at-{executor}-*"))) > 1

    def waiting(self) -> list[int]:
        """The executors whose tasks wait."""
        return sorted(int(path.name.partition("-")[2]) for path in self.folder.glob("waiting-*"))

    def open(self) -> None:
        """Let all go on, now and later."""
        self._put("open")

    def _put(self, name: str) -> None:
        (self.folder / name).touch()


@dataclass(frozen=True)
class Held(GreedyMerge):
    """Waits in the second task of an executor: the first is then lost with it, done as it is."""

    gate: Gate | None = None

    def inside(self, interests: Interests) -> Ints:
        assert self.gate is not None
        if self.gate.second():
            self.gate.wait()
        return super().inside(interests)


def held_rows(links: DataFrame, gate: Gate) -> DataFrame:
    """The same links, of which a task's second half waits: the first may be written by then."""

    def pass_on(batches: Iterable[pyarrow.RecordBatch]) -> Iterable[pyarrow.RecordBatch]:
        for batch in batches:
            half = batch.num_rows // 2
            yield batch.slice(0, half)
            gate.wait()
            yield batch.slice(half)

    return links.mapInArrow(pass_on, links.schema)


class Killer(threading.Thread):
    """Kills an executor while a task of its waits at its work, and keeps what Spark knew of it then."""

    def __init__(
        self,
        session: SparkSession,
        waiting: Callable[[], list[int]],
        look: Callable[[], Any],
        then: Callable[[], None],
    ) -> None:
        super().__init__(name="killer", daemon=True)
        self._session, self._waiting, self._look, self._then = session, waiting, look, then
        self._victim: psutil.Process | None = None
        self.seen: dict[str, Any] = {}

    def run(self) -> None:
        try:
            _until(self._at_work, "no executor has a task that waits")
            assert self._victim is not None
            self.seen["look"] = self._look()
            self._victim.kill()
            self._victim.wait(30)
            self.seen["killed"] = True
        finally:
            self._then()

    def _at_work(self) -> bool:
        tracker = self._session.sparkContext.statusTracker()
        for pid in self._waiting():
            self._victim = psutil.Process(pid)
            executor = _option(self._victim, "--executor-id")
            for stage, task in running(self._session):
                info = tracker.getStageInfo(stage)
                # The figures of a stage come a moment after its tasks.
                if task["executor"] == executor and info is not None and info.numActiveTasks:
                    self.seen = {
                        "executor": executor,
                        "stage": stage,
                        "task": task["task"],
                        "partition": task["partition"],
                        "active": info.numActiveTasks,
                        "done": info.numCompletedTasks,
                    }
                    return True
        return False


def running(session: SparkSession) -> Iterator[tuple[int, dict[str, Any]]]:
    """The tasks that run now, with their stages."""
    for stage in session.sparkContext.statusTracker().getActiveStageIds():
        for task in tasks(session, stage):
            if task["status"] == "RUNNING":
                yield stage, task


def tasks(session: SparkSession, stage: int) -> list[dict[str, Any]]:
    """Every attempt at a task of a stage, as the application's status has them; a stage has attempts of its own, and the
    tasks of each are counted anew, so it is the partition that tells which are attempts at the same work."""
    store = session.sparkContext._jsc.sc().statusStore()
    found = []
    for attempt in range(store.lastStageAttempt(stage).attemptId() + 1):
        listed = store.taskList(stage, attempt, 1000)
        found += [listed.apply(n) for n in range(listed.size())]
    return [
        {
            "task": task.index(),
            "partition": task.partitionId(),
            "status": task.status(),
            "executor": task.executorId(),
        }
        for task in found
    ]


def parts(session: SparkSession, folder: Path, interests: str, links: str) -> dict[str, Any]:
    """Killed in the stage that runs the parts."""
    gate = Gate(folder)
    bulk._kernel = lambda algorithm, params: Held(params["seed"], gate=gate)
    killer = Killer(session, gate.waiting, lambda: None, gate.open)
    killer.start()
    return _files(session, killer, interests, links)


def links(session: SparkSession, folder: Path, interests: str, links: str) -> dict[str, Any]:
    """Killed while links are written."""
    gate = Gate(folder)
    write = tables.write_links
    tables.write_links = lambda links, path: write(held_rows(links, gate), path)

    def there() -> list[str]:
        return sorted(path.name for path in Path(links).parent.glob(f"{Path(links).name}*"))

    killer = Killer(session, gate.waiting, there, gate.open)
    killer.start()
    return _files(session, killer, interests, links)


def _files(session: SparkSession, killer: Killer, interests: str, links: str) -> dict[str, Any]:
    run = partial(rebuild_files, session, "dc", parse_bulk("dc", {"parts": PARTS}), interests, links)
    return _ended(session, killer, run)


def moved(session: SparkSession, folder: Path, uri: str, rebuild: str) -> dict[str, Any]:
    """Killed in the stage that runs the parts, after a broker joined that comes before all others."""
    graph.BROKERS_A_PAGE = 50
    gate = Gate(folder)
    bulk._kernel = lambda algorithm, params: Held(params["seed"], gate=gate)
    with _database(uri) as (access, driver):

        def join() -> None:
            driver.execute_query(
                "CREATE (b:Broker {id: '!'}) WITH b MATCH (t:Topic) CREATE (b)-[:SUBSCRIBES]->(t)"
            )
            driver.execute_query("MATCH (o:Overlay) SET o.version = 8")

        killer = Killer(session, gate.waiting, join, gate.open)
        killer.start()
        return _graph(session, killer, access, rebuild)


def candidates(session: SparkSession, folder: Path, uri: str, rebuild: str) -> dict[str, Any]:
    """Killed while candidates are written: the overlay is locked after the first batches, so that the next one waits."""
    graph.LINKS_A_BATCH = 4
    with (
        _database(uri) as (access, driver),
        driver.session() as holding,
        graph.RebuildRecord(access, rebuild) as record,
    ):
        held: list[neo4j.Transaction] = []

        def waiting() -> list[int]:
            if not held and record.candidates():
                held.append(holding.begin_transaction())
                held[0].run("MATCH (o:Overlay) SET o.asked = 'the test'").consume()
            return [process.pid for process in executors()] if held else []

        def let_go() -> None:
            if held:
                held[0].rollback()

        killer = Killer(session, waiting, record.candidates, let_go)
        killer.start()
        return _graph(session, killer, access, rebuild)


@contextmanager
def _database(uri: str) -> Iterator[tuple[graph.Access, neo4j.Driver]]:
    access = graph.Access(uri, os.environ["NEO4J_USER"], os.environ["NEO4J_PASSWORD"])
    with neo4j.GraphDatabase.driver(uri, auth=(access.user, access.password)) as driver:
        yield access, driver


def _graph(session: SparkSession, killer: Killer, access: graph.Access, rebuild: str) -> dict[str, Any]:
    with graph.RebuildRecord(access, rebuild) as record:
        return _ended(
            session, killer, partial(rebuild_graph, session, record, "dc", parse_bulk("dc", {"parts": PARTS}))
        )


def _ended(session: SparkSession, killer: Killer, run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """How the job ended, and what the killer saw."""
    try:
        ended: dict[str, Any] = {"report": run()}
    except (PySparkException, Py4JError) as error:
        ended = {"failed": told(error)}
    killer.join(SECONDS)
    seen = killer.seen
    return {**ended, **seen, "attempts": tasks(session, seen["stage"])}


def executors() -> list[psutil.Process]:
    """The executors of this process's session."""
    return [process for process in psutil.Process().children(recursive=True) if _is_executor(process)]


def _is_executor(process: psutil.Process) -> bool:
    try:
        words = process.cmdline()
    except psutil.Error:
        return False
    return "org.apache.spark.executor.CoarseGrainedExecutorBackend" in words


def _executor_above(pid: int) -> int:
    return next(process.pid for process in psutil.Process(pid).parents() if _is_executor(process))


def _option(process: psutil.Process, name: str) -> str:
    words = process.cmdline()
    return words[words.index(name) + 1]


def _until(true: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.05)


JOBS = {"parts": parts, "links": links, "moved": moved, "candidates": candidates}


def main() -> None:
    name, folder, failures, source, target = sys.argv[1:]
    options = SessionOptions(
        master=MASTER,
        memory="1g",
        partitions=2,
        java_options=QUICK,
        settings=(
            ("spark.task.maxFailures", failures),
            ("spark.executor.extraJavaOptions", QUICK),
            # What is asked for is what is, not what was up to a tenth of a second and one event ago.
            ("spark.ui.liveUpdate.period", "0"),
            ("spark.sql.codegen.wholeStage", "false"),
            ("spark.sql.codegen.factoryMode", "NO_CODEGEN"),
        ),
    )
    session = make_session(options.for_files() if name in ("parts", "links") else options)
    try:
        found = JOBS[name](session, Path(folder), source, target)
    finally:
        session.stop()
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    # Executors import what they are handed by its module's name.
    from tests.spark import killing

    killing.main()
