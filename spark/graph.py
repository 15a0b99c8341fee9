"""Neo4j in, Neo4j out: interests and candidates through the Spark connector, the rebuild's record through the driver.

A job writes ``progress`` and ``report`` of its Rebuild, and its CANDIDATE relationships; its state and its heartbeat are
the manager's. What it reads comes in pages of separate transactions, so the overlay may move meanwhile: the versions
before and after are in the report, and what moved is repaired when the rebuild is activated.
"""

from __future__ import annotations

import contextlib
import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import neo4j
from neo4j.exceptions import DriverError, Neo4jError, ServiceUnavailable
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

import cypher
from algorithms.errors import BadInput
from spark.errors import JobFailed

WANTED = ("queued", "running")
"""States of a rebuild in which a job may work for it."""

LINKS_A_BATCH = 500
"""Candidates a transaction: while it runs, the brokers at their ends wait."""

RETRIES = 1_000_000
MILLISECONDS_BETWEEN_RETRIES = 250
"""Agents' heartbeats and acknowledgements lock brokers too, in another order: a batch that gives way is sent again. The
connector counts over all batches of a job together, so a number that bounds one batch would fail a large rebuild:
what bounds the writing is time."""

SECONDS_AWAY = 60.0
"""How long a database that has answered may be away; shorter, and the job goes on when it is back."""

SECONDS_BETWEEN_TRIES = 0.5

SECONDS_WITHOUT_A_BATCH = 600.0
"""How long nothing may be written; the links are sorted in that time, before the first batch."""

SECONDS_A_STATEMENT = 60.0
"""What waits for a lock that nobody gives back must end before it is killed."""

BROKERS_A_PAGE = 20_000

KEPT_TWICE = StorageLevel(useDisk=True, useMemory=True, useOffHeap=False, deserialized=True, replication=2)
"""Of what is read: on two executors where there are two, so that it outlives one of them."""


@dataclass(frozen=True)
class Access:
    """Where the database is, and who we are there."""

    uri: str
    user: str
    password: str

    def options(self) -> dict[str, str]:
        """As the connector wants them."""
        return {
            "url": self.uri,
            "authentication.type": "basic",
            "authentication.basic.username": self.user,
            "authentication.basic.password": self.password,
        }


class RebuildRecord:
    """The record of one rebuild, and the overlay it is for."""

    def __init__(self, access: Access, rebuild: str) -> None:
        self.access = access
        self.rebuild = rebuild
        # The driver would tell of every attempt on stderr; what it comes to is told once, by whoever runs the job.
        logging.getLogger("neo4j").addHandler(logging.NullHandler())
        try:
            self._driver = neo4j.GraphDatabase.driver(
                access.uri,
                auth=(access.user, access.password),
                notifications_min_severity="OFF",
                connection_acquisition_timeout=10,
                connection_timeout=10,
                max_transaction_retry_time=5,
            )
        except (ValueError, DriverError) as error:
            raise BadInput("neo4j", access.uri, str(error).splitlines()[0]) from None
        self._answered = self._writing = False
        self._heard = self._moved = 0.0
        self._candidates = -1
        self._trouble = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._driver.close()

    def check(self) -> None:
        """Raise :class:`BadInput` for a rebuild that does not exist, or that nobody waits for."""
        found = self._run("spark/read_rebuild")
        if not found:
            raise BadInput("rebuild", self.rebuild, "there is no such rebuild")
        if found[0]["state"] not in WANTED:
            raise BadInput("rebuild", self.rebuild, f"this rebuild is {found[0]['state']}, not running")
        if found[0]["cancelling"]:
            raise BadInput("rebuild", self.rebuild, "this rebuild is being cancelled")

    def overlay(self) -> tuple[int, int]:
        """The version of the live overlay, and its brokers."""
        found = self._run("spark/read_overlay")
        if not found or found[0]["state"] != "live":
            raise BadInput("neo4j", self.access.uri, "there is no live overlay to rebuild")
        return int(found[0]["version"]), int(found[0]["brokers"])

    def tell(self, stage: str, share: float) -> bool:
        """Record progress; whether the rebuild is still wanted. A database that is away for a moment is not an answer."""
        try:
            found = self._run("spark/record_progress", patient=False, progress=_progress(stage, share))
        except JobFailed as error:
            self._trouble = str(error)
            return True
        self._heard = time.monotonic()
        if found and found[0]["candidates"] != self._candidates:
            self._candidates, self._moved = found[0]["candidates"], self._heard
        return bool(found) and found[0]["state"] in WANTED and not found[0]["cancelling"]

    @contextmanager
    def writing(self) -> Iterator[None]:
        """While candidates are written: from here on :meth:`standstill` looks at the clock."""
        self._heard = self._moved = time.monotonic()
        self._writing = True
        try:
            yield
        finally:
            self._writing = False

    def standstill(self) -> str | None:
        """Why there is no point in waiting for the writing any longer, if there is none, as far as :meth:`tell` saw."""
        now = time.monotonic()
        if self._writing and now - self._heard > SECONDS_AWAY:
            return f"{self._trouble} (away for {SECONDS_AWAY:g} s)"
        if self._writing and now - self._moved > SECONDS_WITHOUT_A_BATCH:
            return f"no candidate was written for {SECONDS_WITHOUT_A_BATCH:g} s"
        return None

    def report(self, report: dict[str, Any]) -> None:
        """Record the job's report."""
        self._run("spark/record_report", report=json.dumps(report))

    def candidates(self) -> int:
        """How many candidates the rebuild has by now."""
        return int(self._run("spark/count_candidates")[0]["candidates"])

    def delete_candidates(self) -> None:
        """Take back what was written, in batches; as far as the database is there."""
        deleted = LINKS_A_BATCH
        with contextlib.suppress(JobFailed):
            while deleted == LINKS_A_BATCH:
                found = self._run("rebuild/delete_candidates", patient=False, limit=LINKS_A_BATCH)
                deleted = found[0]["deleted"]

    def _run(self, name: str, *, patient: bool = True, **parameters: Any) -> list[neo4j.Record]:
        """Run a statement that may run twice. ``patient``: wait for a database that has answered before."""
        query = neo4j.Query(cypher.statement(name), timeout=SECONDS_A_STATEMENT)
        given_up = time.monotonic() + (SECONDS_AWAY if patient and self._answered else 0.0)
        while True:
            try:
                found = self._driver.execute_query(query, {"rebuild": self.rebuild, **parameters}).records
            except (DriverError, Neo4jError, OSError) as error:
                if _passes(error) and time.monotonic() < given_up:
                    time.sleep(SECONDS_BETWEEN_TRIES)
                    continue
                reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(":")
                raise JobFailed(f"Neo4j at {self.access.uri}: {reason}") from None
            self._answered = True
            return found


def read_interests(session: SparkSession, access: Access, brokers: int) -> DataFrame:
    """Interests ``(broker, topic)`` of the live overlay, in pages; a broker without topics has one row with a null."""
    pages = max(1, -(-brokers // BROKERS_A_PAGE))
    read = (
        session.read.format("org.neo4j.spark.DataSource")
        .options(**access.options())
        .option("query", cypher.statement("spark/read_interests"))
        .option("query.count", str(brokers))
        .option("partitions", str(pages))
        .schema("broker string, topics array<string>")
        .load()
    )
    # One read serves all steps: pages read twice could differ, and with them the place of every broker.
    kept = read.persist(KEPT_TWICE)
    return kept.select("broker", sf.explode_outer("topics").alias("topic"))


def write_candidates(links: DataFrame, access: Access, rebuild: str) -> None:
    """Write links ``(broker_a, broker_b)`` as candidates, one batch after the other: two at once could wait for
    each other's brokers for ever."""
    (
        links.select(sf.lit(rebuild).alias("rebuild"), "broker_a", "broker_b")
        .repartition(1)
        .sortWithinPartitions("broker_a", "broker_b")
        .write.format("org.neo4j.spark.DataSource")
        .options(**access.options())
        .option("query", cypher.statement("spark/create_candidates"))
        .option("batch.size", str(LINKS_A_BATCH))
        .option("transaction.retries", str(RETRIES))
        .option("transaction.retry.timeout", str(MILLISECONDS_BETWEEN_RETRIES))
        .mode("Overwrite")
        .save()
    )


def departed(links: DataFrame, session: SparkSession, access: Access) -> int:
    """How many of the links have an end that is no broker any more."""
    live = (
        session.read.format("org.neo4j.spark.DataSource")
        .options(**access.options())
        .option("labels", ":Broker")
        .schema("id string")
        .load()
        .select("id")
        .persist()
    )
    here = links.join(live.withColumnRenamed("id", "broker_a"), "broker_a", "left_semi")
    both = here.join(live.withColumnRenamed("id", "broker_b"), "broker_b", "left_semi")
    return links.count() - both.count()


def _passes(error: DriverError | Neo4jError | OSError) -> bool:
    """Whether it may be gone by itself: a lost connection, or what the server says is for now."""
    return isinstance(error, (OSError, ServiceUnavailable)) or error.is_retryable()


def _progress(stage: str, share: float) -> str:
    return json.dumps({"stage": stage, "share": round(min(max(share, 0.0), 1.0), 4)})
