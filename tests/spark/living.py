"""A live overlay as Spark jobs find it in a database: brokers, topics, and the records of two rebuilds that run."""

from __future__ import annotations

from typing import Any

import neo4j

import cypher
from algorithms import Interests
from spark import graph
from tests.backend.conftest import rows
from tests.conftest import Neo4jServer


def make_live(driver: neo4j.Driver, interests: Interests, *more: dict[str, Any]) -> None:
    """Interests as a live overlay of version 7, and ``more`` brokers; the rebuilds r1 and r2 run."""
    for text in cypher.schema():
        driver.execute_query(neo4j.Query(text).text)
    fill(driver, [*({"id": name, "topics": interests.topics_of(name)} for name in interests.brokers), *more])


def fill(driver: neo4j.Driver, brokers: list[dict[str, Any]]) -> None:
    for start in range(0, len(brokers), 2000):
        driver.execute_query(
            "UNWIND $rows AS row CREATE (b:Broker {id: row.id}) WITH b, row UNWIND row.topics AS name"
            " MERGE (t:Topic {name: name}) CREATE (b)-[:SUBSCRIBES]->(t)",
            rows=brokers[start : start + 2000],
        )
    driver.execute_query("CREATE (:Overlay {name: 'live', state: 'live', version: 7})")
    driver.execute_query(
        "CREATE (:Rebuild {id: 'r1', state: 'running'}), (:Rebuild {id: 'r2', state: 'running'})"
    )


def access(server: Neo4jServer) -> graph.Access:
    return graph.Access(server.uri, server.user, server.password)


def candidates(driver: neo4j.Driver, rebuild: str) -> list[tuple[str, str]]:
    found = rows(
        driver,
        "MATCH (a:Broker)-[c:CANDIDATE {rebuild: $rebuild}]->(b:Broker) RETURN a.id AS a, b.id AS b",
        rebuild=rebuild,
    )
    return sorted((row["a"], row["b"]) for row in found)
