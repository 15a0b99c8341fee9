"""Candidates are written whatever holds the writing up, or the job says why it gave up."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from datetime import UTC, datetime

import neo4j
import pytest
from neo4j.exceptions import TransactionError, TransientError
from pyspark.sql import SparkSession

import cypher
from algorithms import Interests, build
from algorithms.bulk import parse_bulk
from spark import graph
from spark.errors import JobFailed
from spark.rebuild import rebuild_graph
from tests.backend.conftest import rows
from tests.conftest import Neo4jServer
from tests.spark.living import access, candidates

pytestmark = pytest.mark.neo4j

UNTIL = datetime(2100, 1, 1, tzinfo=UTC)
GIVEN_WAY = 25
"""How often the job has to give way: more than any number that bounds one batch would allow a whole job."""


class Heartbeats(threading.Thread):
    """Renews the leases of the later brokers and then of the earlier ones, in one transaction: a batch of candidates
    locks the earlier ones first, so that each waits for the other. The one with fewer locks has to give way.
    """

    def __init__(self, driver: neo4j.Driver, brokers: tuple[str, ...]) -> None:
        super().__init__(name="heartbeats")
        self._driver = driver
        self._earlier, self._later = brokers[: len(brokers) // 2], brokers[len(brokers) // 2 :]
        self._over = threading.Event()
        self.given_way: set[str] = set()
        """The transactions of the job that gave way."""

    def run(self) -> None:
        while len(self.given_way) < GIVEN_WAY and not self._over.is_set():
            with self._driver.session() as session, suppress(TransientError, TransactionError):
                transaction = session.begin_transaction()
                self._renew(transaction, self._later)
                while not (waiting := self._waiting()):
                    if self._over.wait(0.01):
                        return
                self._renew(transaction, self._earlier)
                # What waited for the later ones can only have gone by giving way.
                self.given_way |= waiting - self._waiting()
                transaction.commit()

    def end(self) -> None:
        self._over.set()
        self.join()

    def _renew(self, transaction: neo4j.Transaction, brokers: tuple[str, ...]) -> None:
        found = [{"broker": broker, "seconds": 60, "until": UNTIL, "heard": True} for broker in brokers]
        text = neo4j.Query(cypher.statement("agent/renew_leases")).text
        transaction.run(text, rows=found, by="another process").consume()

    def _waiting(self) -> set[str]:
        # Brokers are locked when a batch is committed, all of its links being known.
        text = "SHOW TRANSACTIONS YIELD transactionId, status WHERE status = 'Closing' RETURN transactionId"
        return {row["transactionId"] for row in rows(self._driver, text)}


def test_candidates_that_give_way_time_and_again_are_all_written(
    spark: SparkSession,
    neo4j_server: Neo4jServer,
    live: neo4j.Driver,
    small: Interests,
    with_lonely: Interests,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Batches slip through while the opponent begins anew: many small ones that pause long leave enough to meet it.
    monkeypatch.setattr(graph, "MILLISECONDS_BETWEEN_RETRIES", 200)
    monkeypatch.setattr(graph, "LINKS_A_BATCH", 5)
    wanted = sorted(build("dc", with_lonely, parts=3).link_names())
    opponent = Heartbeats(live, small.brokers)
    opponent.start()
    try:
        with graph.RebuildRecord(access(neo4j_server), "r1") as record:
            report = rebuild_graph(spark, record, "dc", parse_bulk("dc", {"parts": 3}))
    finally:
        opponent.end()
    assert len(opponent.given_way) >= GIVEN_WAY
    assert candidates(live, "r1") == wanted
    assert (report["candidates"], report["departed"]) == (len(wanted), 0)


def test_a_lock_that_nobody_gives_back_fails_the_job(
    spark: SparkSession, neo4j_server: Neo4jServer, live: neo4j.Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph, "SECONDS_WITHOUT_A_BATCH", 2.0)
    monkeypatch.setattr(graph, "SECONDS_A_STATEMENT", 2.0)
    with live.session() as session, session.begin_transaction() as holder:
        holder.run("MATCH (o:Overlay) SET o.asked = 'the test'").consume()
        started = time.monotonic()
        with (
            graph.RebuildRecord(access(neo4j_server), "r1") as record,
            pytest.raises(JobFailed, match=r"^no candidate was written for 2 s$"),
        ):
            rebuild_graph(spark, record, "dc", parse_bulk("dc", {"parts": 3}))
        assert time.monotonic() - started < 60
        # The state comes first, as the manager has it: a batch that is under way writes nothing then.
        live.execute_query("MATCH (r:Rebuild {id: 'r1'}) SET r.state = 'failed'")
        holder.rollback()
    assert candidates(live, "r1") == []
