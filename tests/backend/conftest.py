"""A Neo4j database that a test finds empty."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import neo4j
import pytest

from tests.conftest import Neo4jServer


@pytest.fixture
def database(neo4j_server: Neo4jServer) -> Iterator[neo4j.Driver]:
    """A driver to the shared server, emptied before and after; its schema goes too."""
    with neo4j.GraphDatabase.driver(
        neo4j_server.uri, auth=(neo4j_server.user, neo4j_server.password)
    ) as driver:
        empty(driver)
        yield driver
        empty(driver)


def empty(driver: neo4j.Driver) -> None:
    driver.execute_query("MATCH (any) DETACH DELETE any")
    for record in driver.execute_query("SHOW CONSTRAINTS YIELD name").records:
        driver.execute_query(f"DROP CONSTRAINT `{record['name']}`")
    for record in driver.execute_query("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP'").records:
        driver.execute_query(f"DROP INDEX `{record['name']}`")


def rows(driver: neo4j.Driver, text: str, **parameters: Any) -> list[dict[str, Any]]:
    """What a statement answers, as plain dictionaries."""
    return [record.data() for record in driver.execute_query(neo4j.Query(text), parameters).records]
