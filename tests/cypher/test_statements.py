"""Every statement the product runs is one the server understands; those of the history are read along their index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import neo4j
import pytest

import cypher
from tests.backend.conftest import empty
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j

_FOLDER = Path(cypher.__file__).parent
STATEMENTS = sorted(
    path.relative_to(_FOLDER).with_suffix("").as_posix()
    for path in _FOLDER.rglob("*.cypher")
    if path.parent.name not in ("analysis", "schema")
)
PARAMETER_MISSING = "01N60"


@pytest.fixture(scope="module")
def session(neo4j_server: Neo4jServer) -> Iterator[neo4j.Session]:
    with (
        neo4j.GraphDatabase.driver(
            neo4j_server.uri,
            auth=(neo4j_server.user, neo4j_server.password),
            notifications_disabled_classifications=["UNRECOGNIZED", "PERFORMANCE"],
        ) as driver,
        driver.session() as session,
    ):
        for text in cypher.schema():
            session.run(neo4j.Query(text)).consume()
        session.run("CALL db.awaitIndexes(60)").consume()
        yield session
        empty(driver)


def operators(session: neo4j.Session, name: str) -> set[str]:
    """The steps of a statement's plan."""
    text = cypher.statement(name)
    before = "UNWIND $events AS event" if "event." in text else ""  # put there by the Spark connector
    summary = session.run(neo4j.Query(f"EXPLAIN {before} {text}")).consume()
    complaints = {status.gql_status for status in summary.gql_status_objects if status.is_notification}
    assert complaints <= {PARAMETER_MISSING}, (name, summary.gql_status_objects)
    found: set[str] = set()
    rest = [summary.plan]
    while rest:
        step = rest.pop()
        assert step is not None
        found.add(step["operatorType"].split("@")[0])
        rest += step.get("children", [])
    return found


def test_every_statement_is_understood(session: neo4j.Session) -> None:
    assert len(STATEMENTS) > 20
    for name in STATEMENTS:
        assert operators(session, name)


@pytest.mark.parametrize(
    "name", ["change/read_changes", "history/read_changes_ascending", "history/read_changes_descending"]
)
def test_the_history_is_read_along_its_index(session: neo4j.Session, name: str) -> None:
    steps = operators(session, name)
    assert not steps & {"AllNodesScan", "NodeByLabelScan", "Sort", "Top", "PartialSort", "PartialTop"}, steps
    assert any("IndexSeekByRange" in step for step in steps), steps


def test_a_commit_looks_for_everything_by_name(session: neo4j.Session) -> None:
    """Its plan is kept while the overlay grows: what is made of an empty one must do for a large one."""
    steps = operators(session, "change/write_commit")
    assert not any("Scan" in step for step in steps), steps
    assert not any(step.startswith(("NodeHashJoin", "ValueHashJoin")) for step in steps), steps


@pytest.mark.parametrize("name", ["rebuild/find_leftovers", "rebuild/forget_rebuilds"])
def test_links_of_rebuilds_are_looked_for_along_their_index(session: neo4j.Session, name: str) -> None:
    steps = operators(session, name)
    assert not any("RelationshipTypeScan" in step for step in steps), steps
    assert any("RelationshipIndexSeek" in step for step in steps), steps
