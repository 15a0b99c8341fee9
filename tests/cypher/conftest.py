"""One small overlay with a past, stored once for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import neo4j
import pytest

from algorithms import Interests
from algorithms.workloads import generate
from tests.backend.conftest import empty
from tests.conftest import Neo4jServer
from tests.cypher.expected import ACKED, FORGOTTEN, LEASES
from tests.cypher.lived import Lived, live, store


@pytest.fixture(scope="package")
def lived() -> Lived:
    drawn = generate(brokers=40, topics=14, subscriptions=4, distribution="zipf", exponent=0.5, seed=5)
    topics_of = {broker: drawn.topics_of(broker) for broker in drawn.brokers}
    for twin in ("still-twin-a", "still-twin-b"):
        topics_of[twin] = ["t01", "t03", "still-1", "still-2"]
    topics_of |= {
        "still-hub": ["t01", "t02", "t03", "t05", "t06", "still-3"],
        "still-end": ["still-3"],
        "still-leaf": ["t02"],
        "still-alone": [],
    }
    return live(Interests.from_mapping(topics_of), 80, seed=5)


@pytest.fixture(scope="package")
def stored(neo4j_server: Neo4jServer, lived: Lived) -> Iterator[neo4j.Driver]:
    server = neo4j_server
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        empty(driver)
        store(driver, server.uri, server.user, server.password, lived)
        driver.execute_query("CREATE (:Topic {name: $name})", name=FORGOTTEN)
        now = datetime.now(UTC)
        for broker, seconds in LEASES.items():
            driver.execute_query(
                "MATCH (b:Broker {id: $id}) SET b.lease_until = $until, b.lease_seconds = 60",
                id=broker,
                until=now + timedelta(seconds=seconds),
            )
        for broker, acked in ACKED.items():
            driver.execute_query("MATCH (b:Broker {id: $id}) SET b.acked = $acked", id=broker, acked=acked)
        yield driver
        empty(driver)
