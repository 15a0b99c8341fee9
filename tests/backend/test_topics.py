"""The list of topics: those that need a look."""

from __future__ import annotations

from pathlib import Path

import neo4j
import pytest

from tests.backend.conftest import rows
from tests.backend.live import served
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j


def test_only_topics_with_problems(neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path) -> None:
    with served(neo4j_server, database, tmp_path) as live:
        live.join("a", "whole", "torn")
        live.join("b", "whole", "torn")
        live.join("c", "whole")
        assert live.ask("GET", "topics", params={"problems": True})["items"] == []
        assert live.ask("GET", "topics", params={"problems": False})["total"] == 2
        refused = live.ask("GET", "topics", params={"problems": "perhaps"}, status=422)
        assert refused["field"] == "problems"
    # Behind our back, as the next start finds it.
    rows(database, "MATCH (:Broker {id: 'a'})-[link:LINK]-(:Broker {id: 'b'}) DELETE link")
    rows(
        database,
        "MATCH (a:Broker {id: 'a'}), (c:Broker {id: 'c'}) MERGE (a)-[:LINK {since: 1, reason: ''}]->(c)",
    )
    rows(
        database,
        "MATCH (b:Broker {id: 'b'}), (c:Broker {id: 'c'}) MERGE (b)-[:LINK {since: 1, reason: ''}]->(c)",
    )
    with served(neo4j_server, database, tmp_path) as live:
        found = live.ask("GET", "topics", params={"problems": True})
        assert [(row["name"], row["components"]) for row in found["items"]] == [("torn", 2)]
        assert found["total"] == live.ask("GET", "overlay")["topics_apart"] == 1
        assert live.ask("GET", "topics", params={"problems": True, "q": "whole"})["total"] == 0
        by_diameter = live.ask("GET", "topics", params={"problems": True, "sort": "-diameter"})
        assert [row["name"] for row in by_diameter["items"]] == ["torn"]
