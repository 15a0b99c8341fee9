"""The shared server fixture itself."""

import pytest
from neo4j import GraphDatabase

from tests.conftest import Neo4jServer


@pytest.mark.neo4j
def test_the_shared_server_answers(neo4j_server: Neo4jServer) -> None:
    with GraphDatabase.driver(neo4j_server.uri, auth=(neo4j_server.user, neo4j_server.password)) as driver:
        assert driver.execute_query("RETURN 1 AS one").records[0]["one"] == 1
