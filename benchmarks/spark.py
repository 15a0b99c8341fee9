"""Bulk rebuilds on Spark: whole jobs as processes, with the memory of everything they started.

    python -m benchmarks.spark [WORD ...] [--scale X]

Prints a row for each figure whose title has all the words (``dc``, ``million``, ``live`` ...); all of them without words,
half an hour. ``--scale 0.01`` takes that share of the brokers, to see that it runs. Interests are made once, below
TOPICWEAVE_BENCH (else a folder for temporary files); TOPICWEAVE_BENCH_MEMORY is what a job's Java may take.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import psutil

from algorithms import build
from algorithms.divide_conquer import conquer_parts, divide_brokers
from algorithms.files import read_interests, write_interests
from algorithms.workloads import generate
from backend.policy import Policy
from benchmarks.served import Api, api_on, fill, neo4j_on, percentile

FOLDER = Path(os.environ.get("TOPICWEAVE_BENCH", Path(tempfile.gettempdir()) / "topicweave-bench"))
MEMORY = os.environ.get("TOPICWEAVE_BENCH_MEMORY", "4g")
CLIENTS, QUIET_SECONDS, CHANGES = 4, 15.0, 300
"""Clients that join and leave all the time; for how long, and how often, they do so with no job beside them."""

Shape = tuple[int, int, int]
"""Brokers, topics, subscriptions of a broker."""


@dataclass(frozen=True)
class Job:
    """What one job reported, its seconds from start to end of the process, and its peak memory."""

    report: dict[str, Any]
    seconds: float
    megabytes: float

    @property
    def without_session(self) -> float:
        """Seconds without the start of the session."""
        whole: float = self.report["seconds"]["whole"]
        return whole

    def __str__(self) -> str:
        stages = ", ".join(f"{name} {taken:.1f}" for name, taken in self.report["seconds"].items())
        return (
            f"{self.seconds:.0f} s, {self.megabytes / 1000:.1f} GB, degree {self.report['average_degree']:.2f} on "
            f"average and {self.report['max_degree']} at most ({stages})"
        )


@dataclass
class Peak:
    """The most memory that a process and all it started held at one moment, in megabytes (what they share counted
    once)."""

    process: psutil.Process
    megabytes: float = 0.0
    over: threading.Event = field(default_factory=threading.Event)

    def follow(self) -> None:
        while not self.over.wait(0.5):
            whole = 0
            for one in [self.process, *self._children()]:
                try:
                    whole += one.memory_full_info().pss
                except psutil.Error:
                    continue
            self.megabytes = max(self.megabytes, whole / 1e6)

    def _children(self) -> list[psutil.Process]:
        try:
            return self.process.children(recursive=True)
        except psutil.Error:
            return []


@cache
def interests_file(shape: Shape) -> Path:
    path = FOLDER / f"{'-'.join(map(str, shape))}.parquet"
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        brokers, topics, subscriptions = shape
        write_interests(generate(brokers=brokers, topics=topics, subscriptions=subscriptions, seed=1), path)
    return path


@cache
def job(shape: Shape, algorithm: str, *given: str) -> Job:
    """One job from Parquet to Parquet; asked for twice, it is run once."""
    command = [sys.executable, "-m", "spark.rebuild", "--algorithm", algorithm, *given]
    command += ["--interests", str(interests_file(shape)), "--links", str(FOLDER / "links.parquet")]
    command += ["--memory", MEMORY, "--json"]
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        peak = Peak(psutil.Process(process.pid))
        follower = threading.Thread(target=peak.follow)
        follower.start()
        out, _ = process.communicate()
        seconds = time.perf_counter() - started
        peak.over.set()
        follower.join()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return Job(json.loads(out), seconds, peak.megabytes)


def dc(shape: Shape, parts: int) -> Job:
    return job(shape, "dc", "--parts", str(parts))


def own_cost(shape: Shape, parts: int) -> str:
    """The whole job against the same parts conquered in this process, files read, kernels warm."""
    whole = dc(shape, parts)
    interests = read_interests(interests_file(shape))
    part = divide_brokers(interests, parts, "random", 0)
    small = generate(brokers=200, topics=20, subscriptions=5, seed=1)
    conquer_parts(small, divide_brokers(small, 2, "random", 0))
    started = time.perf_counter()
    conquer_parts(interests, part)
    plain = time.perf_counter() - started
    return f"{whole.seconds - plain:.0f} s: {whole} against {plain:.1f} s"


def against_exact(shape: Shape, parts: int) -> str:
    """Bulk GM2's average degree over that of GM2 without parts."""
    found = job(shape, "gm2", "--parts", str(parts))
    exact = build("gm2", read_interests(interests_file(shape))).average_degree
    return f"{found.report['average_degree'] / exact:.3f} times: {found} against degree {exact:.2f}"


def growth(small: Shape, few: int, large: Shape, many: int) -> str:
    first, second = dc(small, few).without_session, dc(large, many).without_session
    return f"{second / first:.1f} times: {first:.1f} s, {second:.1f} s"


# Through Neo4j


class Live:
    """A live overlay behind its API, as ``topicweave up`` runs them."""

    def __init__(self, api: Api, topics: tuple[str, ...]) -> None:
        self.api = api
        self.topics = topics

    def rebuild(self, parts: int, seed: int) -> str:
        body = {"algorithm": "dc", "engine": "spark", "params": {"parts": parts}, "seed": seed}
        return str(self.api.ask("POST", "/rebuilds", json=body)["id"])

    def stage(self, rebuild: str) -> str:
        """What the job is at, from its record: the API looks there once a second only."""
        text = "MATCH (r:Rebuild {id: $id}) RETURN r.progress AS progress"
        found = self.api.driver.execute_query(text, id=rebuild).records[0]["progress"]
        return str(json.loads(found)["stage"])

    def changes(self, taken: list[tuple[float, float]], over: threading.Event, client: int) -> None:
        """Join and leave until it is over; the moment and the milliseconds of each change."""
        number = 0
        while not over.is_set():
            broker = f"client-{client}-{number // 2}"
            at = (client * 131 + number * 17) % (len(self.topics) - 20)
            began = time.perf_counter()
            if number % 2 == 0:
                body = {"id": broker, "topics": self.topics[at : at + 20]}
                self.api.ask("POST", "/brokers", json=body)
            else:
                self.api.ask("DELETE", f"/brokers/{broker}")
            taken.append((began, (time.perf_counter() - began) * 1000))
            number += 1


@contextmanager
def live(shape: Shape) -> Iterator[Live]:
    interests = read_interests(interests_file(shape))
    with (
        tempfile.TemporaryDirectory(prefix="topicweave-bench-") as scratch,
        neo4j_on(Path(scratch)) as server,
    ):
        fill(server, build(Policy().algorithm, interests))
        with api_on(server, Path(scratch)) as api:
            yield Live(api, interests.topics)


def call_to_activated(shape: Shape, parts: int) -> str:
    with live(shape) as system:
        began = time.perf_counter()
        rebuild = system.rebuild(parts, seed=1)
        report = system.api.wait(f"/rebuilds/{rebuild}", "planned")["report"]
        planned = time.perf_counter() - began
        system.api.ask("POST", f"/rebuilds/{rebuild}/activate")
        system.api.wait(f"/rebuilds/{rebuild}", "active")
        whole = time.perf_counter() - began
    stages = ", ".join(f"{name} {taken:.1f}" for name, taken in report["seconds"].items())
    return f"{whole:.0f} s: planned after {planned:.0f}, {report['candidates']:,} candidates ({stages})"


def while_written(shape: Shape, parts: int) -> str:
    """The p99 of joins and leaves of a few busy clients, while candidates are written and with no job at all."""
    with live(shape) as system:
        over, taken = threading.Event(), list[tuple[float, float]]()
        clients = [
            threading.Thread(target=system.changes, args=(taken, over, client)) for client in range(CLIENTS)
        ]
        for client in clients:
            client.start()
        time.sleep(QUIET_SECONDS / 3)
        began, before = time.perf_counter(), len(taken)
        while time.perf_counter() < began + QUIET_SECONDS or len(taken) < before + CHANGES:
            time.sleep(0.1)
        quiet = began, time.perf_counter()
        rebuild = system.rebuild(parts, seed=2)
        while system.stage(rebuild) != "writing":
            time.sleep(0.1)
        began = time.perf_counter()
        while system.stage(rebuild) == "writing":
            time.sleep(0.1)
        writing = began, time.perf_counter()
        over.set()
        for client in clients:
            client.join()
        system.api.wait(f"/rebuilds/{rebuild}", "planned")
    beside, without = (
        [ms for at, ms in taken if begin <= at and at + ms / 1000 <= end] for begin, end in (writing, quiet)
    )
    if min(len(beside), len(without)) < 100:
        return f"too few changes to tell: {len(beside)} and {len(without)}"
    return (
        f"{percentile(beside, 99) / percentile(without, 99):.1f} times: {percentile(beside, 99):.0f} ms over {len(beside):,} in "
        f"{writing[1] - writing[0]:.1f} s, {percentile(without, 99):.0f} ms over {len(without):,}"
    )


def rows(scale: float) -> Iterator[tuple[str, str, str, Callable[[], object]]]:
    """Title, must, aim and what measures it."""

    def brokers(count: int) -> int:
        return max(int(count * scale), 100)

    small, large = (brokers(100_000), 1000, 20), (brokers(1_000_000), 1000, 20)
    gm2, lively = (brokers(20_000), 200, 30), (brokers(10_000), 1000, 20)
    yield (
        f"dc, {_shown(large)}, a million, Parquet to Parquet",
        "240 s, 8 GB, degree 14",
        "120 s, 11.5",
        lambda: dc(large, 50),
    )
    yield (
        f"dc, {_shown(small)}: Spark's own cost, the job less the same parts in a plain process",
        "60 s",
        "30 s",
        lambda: own_cost(small, 8),
    )
    yield (
        f"hararypt k=4, {_shown(large)}, a million",
        "300 s",
        "120 s",
        lambda: job(large, "hararypt", "--k", "4"),
    )
    yield (
        f"gm2, {_shown(gm2)}, 8 parts: degree against exact GM2",
        "1.25",
        "1.1",
        lambda: against_exact(gm2, 8),
    )
    yield f"gm2, {_shown(small)}, in all", "180 s", "90 s", lambda: job(small, "gm2", "--parts", "16")
    yield (
        f"live overlay of {lively[0]:,} brokers through Neo4j, call to activated",
        "120 s",
        "60 s",
        lambda: call_to_activated(lively, 4),
    )
    yield (
        f"growth of dc, {small[0]:,} to {large[0]:,} brokers, a million, without the session's start",
        "12 times",
        "9 times",
        lambda: growth(small, 8, large, 50),
    )
    yield (
        f"live changes through Neo4j, p99 while candidates of {lively[0]:,} brokers are written : without",
        "5 times",
        "2 times",
        lambda: while_written(lively, 4),
    )


def _shown(shape: Shape) -> str:
    return " / ".join(f"{number:,}" for number in shape)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("words", nargs="*", help="rows whose title has all of them")
    parser.add_argument("--scale", type=float, default=1.0, help="a share of the brokers, to try it out")
    options = parser.parse_args()
    chosen = [row for row in rows(options.scale) if all(word in row[0] for word in options.words)]
    if not chosen:
        parser.error(f"no row has the words {' '.join(options.words)}")
    print("| case | must | aim | measured |\n|---|---|---|---|", flush=True)
    for title, must, aim, measure in chosen:
        print(f"| {title} | {must} | {aim} | {measure()} |", flush=True)


if __name__ == "__main__":
    main()
