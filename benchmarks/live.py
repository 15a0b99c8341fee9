"""Changes and reads over HTTP beside the bare driver: 10,000 brokers, 1,000 topics, 20 subscriptions.

    python -m benchmarks.live [--rounds N] [--brokers N]

One Neo4j (the sizes that `topicweave up` gives it), one API process, and the load generator `benchmarks.load`, a process
of its own. The bare driver is the synchronous one in this process, the API being stopped meanwhile: it commits the very
rows that the joins before it came to (20 subscriptions, the links, the record, the version; new brokers under other
names), by a statement for each kind of thing, as one would write it, and again by the product's one statement; they are
taken out again. HTTP and driver take turns, round by round, so that both see the same machine; ratios are of the medians
of the rounds.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, LiteralString

import neo4j
import psutil

import cypher
from algorithms import build
from algorithms.workloads import generate
from backend.policy import Policy
from backend.record import ChangeRecord
from backend.store.commit import Commit
from backend.store.overlay import BrokerFacts
from benchmarks.served import KEY, Api, api_on, fill, neo4j_on, percentile, used

TOPICS, SUBSCRIPTIONS, CLIENTS, A_TRANSACTION = 1000, 20, 64, 100
SINGLE, MANY, READS = 60, 1000, 400
"""Requests of a round: joins of one client, joins of 64 clients, reads of each kind."""

Rows = list[dict[str, Any]]
Committing = Callable[[neo4j.ManagedTransaction, Rows], None]


class System:
    """The API under load, and the bare driver beside it."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.driver = api.driver
        self._random = random.Random(1)
        self._count = 0
        self.topics = generate(brokers=1000, topics=TOPICS, subscriptions=SUBSCRIPTIONS, seed=1).topics

    def load(self, clients: int, requests: Sequence[tuple[str, str, Any, str]]) -> dict[str, Any]:
        """Have the load generator send requests; they must all be answered well."""
        work = {"key": KEY, "clients": clients, "requests": requests}
        ran = subprocess.run(
            [sys.executable, "-m", "benchmarks.load", "127.0.0.1", str(self.api.port)],
            input=json.dumps(work),
            capture_output=True,
            text=True,
            check=False,
        )
        if ran.returncode:
            sys.exit(ran.stderr)
        answer: dict[str, Any] = json.loads(ran.stdout)
        assert set(answer["statuses"]) <= {"200", "201"}, answer["statuses"]
        return answer

    def joins(self, count: int) -> list[tuple[str, str, Any, str]]:
        """Requests of brokers that join, with topics of their own."""
        self._count += count
        return [
            (
                "POST",
                "/v1/brokers",
                {"id": f"new-{i}", "topics": self._random.sample(self.topics, SUBSCRIPTIONS)},
                "join",
            )
            for i in range(self._count - count, self._count)
        ]

    def records(self, after: int) -> Rows:
        """The Change records since a version."""
        text = "MATCH (c:Change) WHERE c.version > $after RETURN properties(c) AS change ORDER BY c.version"
        return [row["change"] for row in self.driver.execute_query(text, after=after).records]

    @property
    def version(self) -> int:
        text = "MATCH (o:Overlay) RETURN o.version AS version"
        version: int = self.driver.execute_query(text).records[0]["version"]
        return version

    def bare(self, records: Rows, a_transaction: int, commit: Committing) -> list[float]:
        """Seconds of each transaction in which the driver commits joins, with the API stopped."""
        self._stop_api()
        version = self.version
        try:
            renamed = [_renamed(record, version + 1 + i) for i, record in enumerate(records)]
            taken = []
            with self.driver.session() as session:
                for i in range(0, len(renamed), a_transaction):
                    began = time.perf_counter()
                    session.execute_write(commit, renamed[i : i + a_transaction])
                    taken.append(time.perf_counter() - began)
            return taken
        finally:
            for text in (
                "MATCH (b:Broker) WHERE b.id STARTS WITH 'bare-' DETACH DELETE b",
                "MATCH (c:Change) WHERE c.version > $version DETACH DELETE c",
                "MATCH (o:Overlay) SET o.version = $version",
            ):
                self.driver.execute_query(text, version=version)
            self.api.process.send_signal(signal.SIGCONT)

    def _stop_api(self) -> None:
        """Stop it at a moment when it holds no lock: it writes backups of its own accord."""
        while True:
            self.api.process.send_signal(signal.SIGSTOP)
            found = self.driver.execute_query("SHOW TRANSACTIONS YIELD transactionId RETURN count(*) AS open")
            if found.records[0]["open"] <= 1:  # the one that asks
                return
            self.api.process.send_signal(signal.SIGCONT)
            time.sleep(0.02)


def _commit_apart(transaction: neo4j.ManagedTransaction, records: Rows) -> None:
    """The rows of joins, kind by kind."""

    def run(text: LiteralString, **parameters: Any) -> None:
        transaction.run(text, parameters).consume()

    run("MATCH (overlay:Overlay {name: 'live'}) SET overlay.group = $group", group="bare")
    run(
        "UNWIND $rows AS row CREATE (broker:Broker {id: row.id}) WITH broker, row UNWIND row.topics AS name "
        "MERGE (topic:Topic {name: name}) CREATE (broker)-[:SUBSCRIBES]->(topic)",
        rows=[{"id": r["broker"], "topics": r["subscribed_topic"]} for r in records],
    )
    run(
        "UNWIND $rows AS row MATCH (a:Broker {id: row.a}) MATCH (b:Broker {id: row.b}) "
        "CREATE (a)-[:LINK {since: row.since, reason: row.reason}]->(b)",
        rows=[
            {"a": a, "b": b, "since": r["version"], "reason": reason}
            for r in records
            for a, b, reason in zip(r["opened_a"], r["opened_b"], r["opened_reason"], strict=True)
        ],
    )
    run("UNWIND $rows AS row CREATE (change:Change) SET change = row", rows=records)
    run(
        "MATCH (overlay:Overlay {name: 'live'}) SET overlay.version = $version",
        version=records[-1]["version"],
    )


def _commit_in_one(transaction: neo4j.ManagedTransaction, records: Rows) -> None:
    """The same by the product's statement, which the API sends."""
    changes = [ChangeRecord.from_node(record) for record in records]
    commit = Commit("bare", records[0]["version"] - 1, changes, {r["broker"]: BrokerFacts() for r in records})
    for name, parameters in commit.statements(()):
        transaction.run(cypher.statement(name), parameters).consume()


BARE = (_commit_apart, _commit_in_one)


def _renamed(record: dict[str, Any], version: int) -> dict[str, Any]:
    """The same join by another broker; an id as long, with the same place in the order of ids for most others."""
    old, new = record["broker"], f"bare-{record['broker']}"

    def names(ids: list[str]) -> list[str]:
        return [new if one == old else one for one in ids]

    changed = {name: names(record[name]) for name in ("joined", "opened_a", "opened_b", "subscribed_broker")}
    return {**record, **changed, "broker": new, "version": version, "group": "bare"}


@contextmanager
def filled_system(brokers: int, home: Path) -> Iterator[System]:
    """A system whose overlay was built by the algorithm of the policy."""
    interests = generate(brokers=brokers, topics=TOPICS, subscriptions=SUBSCRIPTIONS, seed=1)
    with neo4j_on(home) as server:
        fill(server, build(Policy().algorithm, interests))
        with api_on(server, home) as api:
            yield System(api)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--brokers", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="topicweave-bench-") as scratch,
        filled_system(options.brokers, Path(scratch)) as system,
    ):
        _measure(system, options.rounds)


def _measure(system: System, rounds: int) -> None:
    _single(system)
    _many(system)
    single = [_single(system) for _ in range(rounds)]
    many = [_many(system) for _ in range(rounds)]
    leaves, p50 = _leaves(system), _reads(system)
    print(
        f"Load generator: benchmarks.load, 1 process; load average {psutil.getloadavg()[0]:.1f}; "
        f"{rounds} rounds.\n"
    )
    print("| figure | must | aim | measured |")
    print("|---|--:|--:|---|")
    ours, apart, in_one = (statistics.median(one[i] for one in single) for i in range(3))
    print(
        f"| join over HTTP, one client, median : the same rows by the bare driver | 1.5 | 1.2 "
        f"| {ours / apart:.2f} ({ours:.1f} : {apart:.1f} ms) |"
    )
    print(
        f"| the same : the bare driver with our one statement | - | - | {ours / in_one:.2f} ({in_one:.1f} ms) |"
    )
    ours, apart, in_one = (statistics.median(one[i] for one in many) for i in range(3))
    print(
        f"| joins a second over HTTP, {CLIENTS} clients : the bare driver, {A_TRANSACTION} joins a transaction "
        f"| 0.4 | 0.7 | {ours / apart:.2f} ({ours:,.0f} : {apart:,.0f}) |"
    )
    print(
        f"| the same : the bare driver with our one statement | - | - | {ours / in_one:.2f} ({in_one:,.0f}) |"
    )
    api, server, generator = (statistics.median(one[i] for one in many) for i in (3, 4, 5))
    print(
        f"| the same in processor time of one join: API, Neo4j, load generator; Neo4j under the bare driver | - | - "
        f"| {api:.2f}, {server:.2f}, {generator:.2f}; {statistics.median(one[6] for one in many):.2f} ms |"
    )
    print(
        f"| p99 of a leave with {CLIENTS} clients busy (half joins, half leaves; p50 beside it) | 500 ms | 150 ms "
        f"| {percentile(leaves, 99):.0f} ms ({percentile(leaves, 50):.0f}) |"
    )
    for name, taken in p50.items():
        print(f"| `GET /v1/{name}` p50 (p99) | 10 ms | 3 ms | {percentile(taken, 50):.1f} ms "
              f"({percentile(taken, 99):.1f}) |")  # fmt: skip


def _single(system: System) -> tuple[float, ...]:
    """Milliseconds of a join at the median: over HTTP, and by the bare driver in both ways."""
    before = system.version
    answer = system.load(1, system.joins(SINGLE))
    records = system.records(before)
    taken = [statistics.median(system.bare(records, 1, commit)) * 1000 for commit in BARE]
    return statistics.median(answer["milliseconds"]["join"]), *taken


def _many(system: System) -> tuple[float, ...]:
    """Joins a second over HTTP and by the bare driver in both ways; processor milliseconds of a join, process by process."""
    before = system.version
    api, server = used(system.api.process), used(system.api.server)
    answer = system.load(CLIENTS, system.joins(MANY))
    ours, theirs = used(system.api.process) - api, used(system.api.server) - server
    records = system.records(before)
    bare = []
    for commit in BARE:
        began = used(system.api.server)
        bare.append(MANY / sum(system.bare(records, A_TRANSACTION, commit)))
        by_bare = used(system.api.server) - began
    a_join = (1000 / MANY * seconds for seconds in (ours, theirs, answer["processor"], by_bare))
    return MANY / answer["seconds"], *bare, *a_join


def _leaves(system: System) -> list[float]:
    """Milliseconds of each leave, among as many joins."""
    joins = system.joins(MANY)
    system.load(CLIENTS, joins)
    leaves = [("DELETE", f"/v1/brokers/{body['id']}", None, "leave") for _, _, body, _ in joins]
    mixed = [one for pair in zip(leaves, system.joins(MANY), strict=True) for one in pair]
    taken: list[float] = system.load(CLIENTS, mixed)["milliseconds"]["leave"]
    return taken


def _reads(system: System) -> dict[str, list[float]]:
    """Milliseconds of each read, one client; no broker and no topic twice, and a change before, so that nothing is kept."""
    system.load(1, system.joins(1))
    brokers = random.Random(2).sample(range(10_000), READS)
    paths = [("brokers/{id}", f"/v1/brokers/{name}") for name in _some_brokers(system, brokers)]
    paths += [
        ("topics/{name}", f"/v1/topics/{name}") for name in random.Random(2).sample(system.topics, READS)
    ]
    taken: dict[str, list[float]] = system.load(1, [("GET", path, None, label) for label, path in paths])[
        "milliseconds"
    ]
    return taken


def _some_brokers(system: System, places: list[int]) -> list[str]:
    found = system.driver.execute_query("MATCH (b:Broker) RETURN b.id AS id ORDER BY id").records
    return [found[place % len(found)]["id"] for place in places]


if __name__ == "__main__":
    main()
