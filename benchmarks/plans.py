"""Plans: a rebuild and its activation, live changes beside them, what-if, backup and restore.

    python -m benchmarks.plans [--brokers N] [--rounds N]

10,000 brokers, 1,000 topics, 20 subscriptions; the overlay is built by weave, the rebuild is by gm, so that nearly every
link changes. One Neo4j (the sizes that `topicweave up` gives it), one API process, and the load generator
`benchmarks.load`, a process of its own. The rebuild is timed twice: by itself, and with 8 clients who let brokers
join and leave all the time; their p99 is compared with that of as many seconds without a rebuild, just before, in the same
run. The backup is taken from the system after all that, and restored into an empty one.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import psutil

from benchmarks.live import System, filled_system
from benchmarks.served import Api, api_on, neo4j_on, percentile

CLIENTS, A_CHUNK, LEAVES = 8, 200, 50


def rebuild(api: Api) -> tuple[str, float, dict[str, Any]]:
    """A rebuild by gm: its path, seconds from the call to the plan, the plan."""
    began = time.perf_counter()
    path = f"/rebuilds/{api.ask('POST', '/rebuilds', json={'algorithm': 'gm'})['id']}"
    plan = api.wait(path, "planned")["plan"]
    return path, time.perf_counter() - began, plan


def step(api: Api, path: str, name: str, state: str) -> float:
    """Seconds of an activation or a rollback."""
    began = time.perf_counter()
    api.ask("POST", f"{path}/{name}")
    api.wait(path, state)
    return time.perf_counter() - began


def backed_up(api: Api, target: Path) -> float:
    """Seconds of a backup, to a file."""
    began = time.perf_counter()
    api.download("/backup", target)
    return time.perf_counter() - began


def restored(api: Api, backup: Path) -> float:
    """Seconds until a backup is restored, checked parts, history and all."""
    began = time.perf_counter()
    api.import_file("/restores", "backup", backup)
    return time.perf_counter() - began


class Churn:
    """Brokers that join and leave, by the load generator, until it is told to stop."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.milliseconds: list[float] = []

    def __enter__(self) -> Churn:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        here: list[tuple[str, str, Any, str]] = []
        while not self._stop.is_set():
            joins = self._system.joins(A_CHUNK // 2)
            leaves = [("DELETE", f"/v1/brokers/{body['id']}", None, "leave") for _, _, body, _ in here]
            mixed = [one for pair in zip(joins, leaves, strict=True) for one in pair] if leaves else joins
            taken = self._system.load(CLIENTS, mixed)["milliseconds"]
            self.milliseconds += [one for times in taken.values() for one in times]
            here = joins


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--brokers", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3, help="of what is timed by itself; medians are told")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="topicweave-bench-") as scratch:
        backup = Path(scratch) / "backup.zip"
        with filled_system(options.brokers, Path(scratch) / "one") as system:
            rows = _measure(system, options.rounds, backup)
        size = backup.stat().st_size / 1e6
        home = Path(scratch) / "two"
        with neo4j_on(home) as server, api_on(server, home) as api:
            seconds = restored(api, backup)
            if not api.ask("GET", "/check")["good"]:
                sys.exit("what was restored does not pass its check")
        rows.append(
            ("restore of it, into an empty system", "60 s", "30 s", f"{seconds:.1f} s ({size:.1f} MB)")
        )
    print(
        f"{options.brokers:,} brokers; load average {psutil.getloadavg()[0]:.1f}; {options.rounds} rounds.\n"
    )
    print("| figure | must | aim | measured |")
    print("|---|--:|--:|---|")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def _tell(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def _measure(system: System, rounds: int, backup: Path) -> list[tuple[str, str, str, str]]:
    api = system.api
    planned, activated, returned = [], [], []
    for _ in range(rounds):
        path, seconds, plan = rebuild(api)
        planned.append(seconds)
        _tell(f"planned in {seconds:.1f} s")
        activated.append(step(api, path, "activate", "active"))
        returned.append(step(api, path, "rollback", "planned"))
        api.ask("DELETE", path)
        _tell(f"activated in {activated[-1]:.1f} s, rolled back in {returned[-1]:.1f} s")
    brokers = [
        row["id"] for row in api.ask("GET", "/brokers", params={"limit": LEAVES, "sort": "-degree"})["items"]
    ]
    supposed = []
    for _ in range(3 * rounds):
        began = time.perf_counter()
        api.ask("POST", "/what-if", json={"leave": brokers})
        supposed.append(time.perf_counter() - began)
    _tell(f"what-if in {statistics.median(supposed):.2f} s; live changes without a rebuild")
    with Churn(system):
        time.sleep(5)
    with Churn(system) as without:
        time.sleep(statistics.median(planned) + statistics.median(activated))
    _tell("live changes beside a rebuild")
    with Churn(system) as beside:
        path, planning, _ = rebuild(api)
        activating = step(api, path, "activate", "active")
    with Churn(system) as supposing:
        for _ in range(20):
            api.ask("POST", "/what-if", json={"leave": brokers})
    if not api.ask("GET", "/check")["good"]:
        sys.exit("after all that the overlay does not pass its check")
    _tell("backup")
    taken = [backed_up(api, backup) for _ in range(rounds)]
    p99 = {name: percentile(one.milliseconds, 99) for name, one in
           (("without", without), ("beside", beside), ("supposing", supposing))}  # fmt: skip
    ratio = p99["beside"] / p99["without"]
    return [
        ("rebuild with gm, call to planned", "10 s", "4 s", f"{statistics.median(planned):.1f} s"),
        ("activation of it", "60 s", "20 s", f"{statistics.median(activated):.1f} s ({plan['opened']:,} links opened, "
         f"{plan['closed']:,} closed, {plan['kept']:,} kept); rollback {statistics.median(returned):.1f} s"),
        (f"p99 of live changes, {CLIENTS} clients, during a rebuild and its activation : without", "3", "1.5",
         f"{ratio:.2f} ({p99['beside']:.0f} : {p99['without']:.0f} ms, {len(beside.milliseconds):,} and "
         f"{len(without.milliseconds):,} changes; that rebuild took {planning:.1f} s, its activation {activating:.1f} s)"),
        (f"the same during what-if of {LEAVES} leaves, one after the other : without", "-", "-",
         f"{p99['supposing'] / p99['without']:.2f} ({p99['supposing']:.0f} ms)"),
        (f"what-if of {LEAVES} leaves", "1 s", "200 ms", f"{statistics.median(supposed) * 1000:.0f} ms"),
        ("backup", "20 s", "5 s", f"{statistics.median(taken):.1f} s"),
    ]  # fmt: skip


if __name__ == "__main__":
    main()
