"""Whole overlays in and out: import, start, memory, backup, restore, over HTTP on a Neo4j of its own.

    python -m benchmarks.imports                       10,000 and 100,000 brokers, 1,000 topics, 20 subscriptions
    python -m benchmarks.imports --brokers 10000       one size

Neo4j and the API have the sizes that `topicweave up` gives them. Import: from the upload of a CSV file to an overlay
that is served, links included. Start: from the start of the API's process to /readyz, Neo4j being up. Wall-clock
seconds; beside them the processor seconds that the API (with its helpers) and Neo4j took, which a busy machine does not
stretch. Memory: the API's own, resident, at its peak since that start.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from algorithms import workloads
from algorithms.files import write_interests
from benchmarks.served import Api, api_on, neo4j_on, used

TOPICS, SUBSCRIPTIONS = 1000, 20


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--brokers", type=int, nargs="*", default=[10_000, 100_000])
    options = parser.parse_args()
    print("| brokers | step | seconds | API, processor s | Neo4j, processor s | API, MB |")
    print("|--:|---|--:|--:|--:|--:|")
    for brokers in options.brokers:
        with tempfile.TemporaryDirectory(prefix="topicweave-bench-") as scratch:
            _measure(brokers, Path(scratch))


def _measure(brokers: int, scratch: Path) -> None:
    interests = scratch / "interests.csv"
    write_interests(
        workloads.generate(brokers=brokers, topics=TOPICS, subscriptions=SUBSCRIPTIONS, seed=1), interests
    )
    saved = scratch / "saved.zip"
    with neo4j_on(scratch / "first") as server:
        with api_on(server, scratch / "first") as api, _step(api, brokers, "import"):
            api.import_file("/imports", "interests", interests)
        assert server.child is not None
        before = used(psutil.Process(server.child.pid))
        with api_on(server, scratch / "first") as api:
            _tell(api, brokers, "start", api.seconds_to_ready, 0.0, before)
            with _step(api, brokers, "backup"):
                api.download("/backup", saved)
            with _step(api, brokers, "check"):
                assert api.ask("GET", "/check")["good"]
    with (
        neo4j_on(scratch / "second") as server,
        api_on(server, scratch / "second") as api,
        _step(api, brokers, "restore"),
    ):
        api.import_file("/restores", "backup", saved)


@contextmanager
def _step(api: Api, brokers: int, name: str) -> Iterator[None]:
    ours, theirs = used(api.process), used(api.server)
    began = time.perf_counter()
    yield
    _tell(api, brokers, name, time.perf_counter() - began, ours, theirs)


def _tell(api: Api, brokers: int, name: str, seconds: float, ours: float, theirs: float) -> None:
    print(
        f"| {brokers:,} | {name} | {seconds:.1f} | {used(api.process) - ours:.1f}"
        f" | {used(api.server) - theirs:.1f} | {_peak_mb(api.process):.0f} |",
        flush=True,
    )


def _peak_mb(process: psutil.Process) -> float:
    try:
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return float(process.memory_info().rss) / 2**20


if __name__ == "__main__":
    main()
