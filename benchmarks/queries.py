"""Every question of the analysts' library against an overlay of 10,000 brokers and 200,000 subscriptions with a past.

    python -m benchmarks.queries                        1,000 topics, uniform
    python -m benchmarks.queries --topics 100           larger topics, fewer links
    python -m benchmarks.queries hubs topic_path        only these

The overlay is built by GM, changed 3,000 times by the live overlay, stored by the product's own import in a Neo4j
server started for this run (1 GB heap, as `topicweave up` does it), with backups and a rebuild's candidates. Each
question is asked once cold and five times more through `backend.queries`, with the rows that the API sends at the
most. The processor's time is the server's, so it tells more than the clock on a busy machine.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import neo4j
import psutil

from algorithms.workloads import generate
from backend.managed.jars import neo4j_jars
from backend.managed.java import find_java
from backend.managed.processes import free_port
from backend.managed.server import ManagedNeo4j
from backend.queries import run_query
from backend.settings import Settings
from backend.store import Database
from cypher.library import Query, queries
from tests.cypher.lived import REBUILD, Lived, live, store

TIMES = 5
SLOW = 2.0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="QUERY", help="only these")
    parser.add_argument("--brokers", type=int, default=10_000)
    parser.add_argument("--topics", type=int, default=1000)
    parser.add_argument("--subscriptions", type=int, default=20, help="of each broker")
    parser.add_argument("--distribution", choices=["uniform", "zipf"], default="uniform")
    parser.add_argument("--changes", type=int, default=3000)
    options = parser.parse_args()
    unknown = set(options.names) - set(queries())
    if unknown:
        parser.error(f"no such query: {', '.join(sorted(unknown))}")
    interests = generate(
        brokers=options.brokers,
        topics=options.topics,
        subscriptions=options.subscriptions,
        distribution=options.distribution,
        exponent=0.5,
        seed=1,
    )
    lived = live(interests, options.changes, seed=1, hours=0.5, keep=False)
    with tempfile.TemporaryDirectory(prefix="topicweave-bench-") as home:
        settings = Settings.load()
        with ManagedNeo4j(Path(home), free_port(), find_java(print), neo4j_jars(settings, print)) as server:
            with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
                store(driver, server.uri, server.user, server.password, lived)
            assert server.child is not None
            process = psutil.Process(server.child.mark.pid)
            asyncio.run(_measure(server, process, lived, options.names or list(queries()), settings))


async def _measure(
    server: ManagedNeo4j, process: psutil.Process, lived: Lived, names: list[str], settings: Settings
) -> None:
    now = lived.now
    held = sum(map(len, now.topics.values()))
    print(
        f"{len(now.topics):,} brokers, {len(now.subscribers()):,} topics, {held:,} subscriptions, {len(now.links):,} links, "
        f"{len(lived.changes):,} changes; load {psutil.getloadavg()[0]:.1f}\n"
    )
    print("| query | rows | cold, s | median, s | best, s | processor, s |")
    print("|---|--:|--:|--:|--:|--:|")
    slow = []
    async with Database(server.uri, server.user, server.password) as database:
        for name in names:
            query = queries()[name]
            params = _params(query, lived)
            taken = []
            for turn in range(TIMES + 1):
                if turn == 1:
                    before = sum(process.cpu_times()[:2])
                started = time.perf_counter()
                answer = await run_query(
                    database, query, params, seconds=settings.query_seconds, rows=settings.query_rows
                )
                taken.append(time.perf_counter() - started)
            processor = (sum(process.cpu_times()[:2]) - before) / TIMES
            cold, warm = taken[0], taken[1:]
            print(
                f"| {name} | {len(answer.rows):,} | {cold:.2f} | {statistics.median(warm):.2f} | {min(warm):.2f} "
                f"| {processor:.2f} |",
                flush=True,
            )
            if statistics.median(warm) > SLOW:
                slow.append(name)
    print(f"\nOver {SLOW:g} s at the median: {', '.join(slow) or 'none'}; load {psutil.getloadavg()[0]:.1f}")


def _params(query: Query, lived: Lived) -> dict[str, Any]:
    """Values that have an answer: the largest topic, its ends, the broker with most links, a version in the past."""
    who = lived.now.subscribers()
    topic = max(who, key=lambda name: (len(who[name]), name))
    degrees = lived.now.degrees()
    broker = max(who[topic], key=lambda name: (degrees[name], name))
    ends: dict[str, Any] = {"from": min(who[topic]), "to": max(who[topic])}
    if query.name == "difference_between":
        ends = {"from": lived.version // 3, "to": lived.version}
    a, b = min(lived.now.links)
    chosen: dict[str, Any] = {"topic": topic, "broker": broker, "a": a, "b": b, "rebuild": REBUILD, **ends}
    chosen["version"] = lived.version // 2
    if query.name == "overlay_at_version":
        chosen["broker"] = ""
    return {parameter.name: chosen.get(parameter.name, parameter.default) for parameter in query.parameters}


if __name__ == "__main__":
    main()
