"""How long a stranger waits: ``make up`` from outside, caches empty and caches warm.

    python -m benchmarks.start              a first and a second start of `topicweave up` in a new home
    python -m benchmarks.start --cold       also `make up` in a fresh clone with every cache empty (downloads all)

Each line is wall-clock time until the console and the API answer. "Neo4j" is the server's own share (until it answers
Bolt, in the same run); "ours" is what is left of the wait when Neo4j is up: the time that our own code can be blamed for.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from backend.managed.processes import free_port

ROOT = Path(__file__).parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cold", action="store_true", help="also a fresh clone with every cache empty")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="topicweave-bench-") as scratch:
        print("| start | until all answers, s | Neo4j, s | ours after Neo4j, s |")
        print("|---|--:|--:|--:|")
        topicweave = [str(ROOT / ".venv/bin/topicweave"), "up", "--demo", "autoware"]
        for name in ("new home, caches warm", "the same home again"):
            _print(name, *_timed(topicweave, ROOT, Path(scratch) / "warm", dict(os.environ)))
        if options.cold:
            clone = Path(scratch) / "clone"
            subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
            empty = Path(scratch) / "empty"
            caches = {
                name: str(empty) for name in ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "UV_CACHE_DIR")
            }
            environment = {**os.environ, **caches, "PIP_NO_CACHE_DIR": "1"}
            make = ["make", "up"]
            _print("fresh clone, caches empty", *_timed(make, clone, Path(scratch) / "cold", environment))
            _print("the same clone again", *_timed(make, clone, Path(scratch) / "cold", environment))
            shutil.rmtree(clone)


def _timed(
    command: list[str], folder: Path, home: Path, environment: dict[str, str]
) -> tuple[float, float, float]:
    """Seconds until everything answers, until Neo4j answered, and the difference."""
    api, console, bolt = free_port(), free_port(), free_port()
    options = [
        "--home",
        str(home),
        "--api-port",
        str(api),
        "--console-port",
        str(console),
        "--bolt-port",
        str(bolt),
    ]
    if command[0] == "make":
        command = [*command, f"UP_OPTIONS=--demo autoware {' '.join(options)}"]
    else:
        command = [*command, *options]
    log = home.with_suffix(".log")
    started = time.perf_counter()
    with log.open("w") as out:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        for url in (f"http://127.0.0.1:{console}/_stcore/health", f"http://127.0.0.1:{api}/readyz"):
            _wait(url, process, log)
        seconds = time.perf_counter() - started
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
            process.wait(60)
    told = re.search(r"Neo4j answers after ([\d.]+) s", log.read_text())
    whole = re.search(r"TopicWeave is up", log.read_text())
    if not told or not whole:
        sys.exit(f"`{' '.join(command)}` did not come up as expected:\n{log.read_text()}")
    neo4j = float(told[1])
    last = max(float(answer) for answer in re.findall(r"answers after ([\d.]+) s", log.read_text()))
    return seconds, neo4j, last - neo4j


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    while True:
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            if process.poll() is not None:
                sys.exit(f"it ended before {url} answered:\n{log.read_text()}")
            time.sleep(0.05)


def _print(name: str, seconds: float, neo4j: float, ours: float) -> None:
    print(f"| {name} | {seconds:.1f} | {neo4j:.1f} | {ours:.1f} |", flush=True)


if __name__ == "__main__":
    main()
