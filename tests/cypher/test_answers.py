"""Every question of the analysts' library, asked of a real server; the answers are computed once more in Python."""

from __future__ import annotations

import asyncio
from typing import Any

import neo4j
import networkx as nx
import pytest

from backend.queries import Answer, find_query, run_query
from backend.store import Database
from cypher.library import queries
from tests.conftest import Neo4jServer
from tests.cypher.expected import CASES, LEASES, Case, graph, links_between, most_moved_link
from tests.cypher.lived import REBUILD, Lived

pytestmark = pytest.mark.neo4j

BESIDES = {"topic_path", "links_between", "expiring_leases"}
"""Questions with tests of their own: what to ask depends on the overlay, or on the clock."""
MAY_BE_EMPTY = {"links_for_nothing"}


def ask(server: Neo4jServer, name: str, params: dict[str, Any]) -> Answer:
    async def run() -> Answer:
        async with Database(server.uri, server.user, server.password) as database:
            return await run_query(database, find_query(name), params, seconds=30, rows=10_000)

    return asyncio.run(run())


def even(value: Any) -> Any:
    """Sums of floats come in any order."""
    if isinstance(value, list):
        return [even(item) for item in value]
    return round(value, 9) if isinstance(value, float) else value


def test_every_question_has_an_answer_that_is_checked() -> None:
    assert {case.query for case in CASES} | BESIDES == set(queries())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.query}-{case.params}")
def test_the_answer_is_right(
    neo4j_server: Neo4jServer, stored: neo4j.Driver, lived: Lived, case: Case
) -> None:
    answer = ask(neo4j_server, case.query, case.params)
    assert answer.columns == [column.name for column in queries()[case.query].columns]
    assert even(answer.rows) == even(case.rows(lived))
    assert not answer.truncated


@pytest.mark.parametrize("name", sorted({case.query for case in CASES} - MAY_BE_EMPTY))
def test_the_overlay_has_something_to_answer(lived: Lived, name: str) -> None:
    assert any(case.rows(lived) for case in CASES if case.query == name)


@pytest.mark.parametrize("name", queries())
def test_the_statement_is_planned_without_complaint(stored: neo4j.Driver, name: str) -> None:
    query = queries()[name]
    parameters = {parameter.name: parameter.example for parameter in query.parameters}
    with stored.session(default_access_mode=neo4j.READ_ACCESS) as session:
        summary = session.run(neo4j.Query(f"EXPLAIN {query.cypher}"), parameters).consume()
    assert summary.query_type == "r"
    complaints = [status for status in summary.gql_status_objects if status.is_notification]
    # A cartesian product with the one Overlay, or of two brokers named by id, is meant.
    assert [
        status.gql_status
        for status in complaints
        if "cartesian" not in status.status_description.lower()
        and status.gql_status not in {"01N50", "01N51", "01N52"}
    ] == []


def test_a_path_is_one_of_the_shortest(neo4j_server: Neo4jServer, stored: neo4j.Driver, lived: Lived) -> None:
    drawn = graph(lived.now, "t01")
    first, *others = sorted(drawn)
    degrees = lived.now.degrees()
    for other in [first, *others[::3]]:
        rows = ask(neo4j_server, "topic_path", {"topic": "t01", "from": first, "to": other}).rows
        assert [row[0] for row in rows] == list(range(len(rows)))
        path = [row[1] for row in rows]
        assert path == [first] if other == first else nx.is_path(drawn, path)
        assert (path[0], path[-1]) == (first, other)
        assert len(path) - 1 == nx.shortest_path_length(drawn, first, other)
        assert [row[2] for row in rows] == [degrees[broker] for broker in path]


def test_there_is_no_path_from_who_does_not_subscribe(
    neo4j_server: Neo4jServer, stored: neo4j.Driver, lived: Lived
) -> None:
    inside = lived.now.subscribers()["t01"]
    stranger = min(set(lived.now.topics) - inside)
    asked = {"topic": "t01", "from": stranger, "to": min(inside)}
    assert ask(neo4j_server, "topic_path", asked).rows == []


def test_the_past_of_a_link(neo4j_server: Neo4jServer, stored: neo4j.Driver, lived: Lived) -> None:
    a, b = most_moved_link(lived)
    expected = links_between(lived, a, b)
    assert len(expected) > 1
    assert ask(neo4j_server, "links_between", {"a": a, "b": b}).rows == expected
    assert ask(neo4j_server, "links_between", {"a": b, "b": a}).rows == expected


@pytest.mark.parametrize("name", ["rebuild_against_live", "rebuild_brokers"])
@pytest.mark.parametrize(
    ("state", "stored_under", "asked", "answered"),
    [
        ("planned", None, "r2", True),  # of brokers without common topics: no candidates is the answer
        ("planned", None, "r2 before", False),
        ("active", "r2", "r2", True),
        ("active", "r2 before", "r2 before", True),
        ("running", "r2", "r2", False),
        ("failed", None, "r2", False),
        ("failed", "r2", "r2", False),
        ("dropped", None, "r2", False),
    ],
)
def test_only_a_rebuild_that_can_be_activated_is_set_against_live_links(
    neo4j_server: Neo4jServer, stored: neo4j.Driver, lived: Lived,
    name: str, state: str, stored_under: str | None, asked: str, answered: bool,
) -> None:  # fmt: skip
    stored.execute_query("CREATE (:Rebuild {id: 'r2', state: $state})", state=state)
    a, b = min(lived.now.links)
    stored.execute_query(
        "MATCH (a:Broker {id: $a}), (b:Broker {id: $b}) CREATE (a)-[:CANDIDATE {rebuild: $under}]->(b)",
        a=a, b=b, under=stored_under or "nowhere",
    )  # fmt: skip
    try:
        rows = ask(neo4j_server, name, {"rebuild": asked}).rows
        assert bool(rows) == answered
        if answered and name == "rebuild_against_live":
            kept = int(stored_under is not None)
            assert rows[0][:5] == [kept, len(lived.now.links), kept, 0, len(lived.now.links) - kept]
    finally:
        stored.execute_query("MATCH (r:Rebuild {id: 'r2'}) DELETE r")
        stored.execute_query("MATCH ()-[c:CANDIDATE]->() WHERE c.rebuild <> $kept DELETE c", kept=REBUILD)


def test_leases_that_end_soon(neo4j_server: Neo4jServer, stored: neo4j.Driver, lived: Lived) -> None:
    rows = ask(neo4j_server, "expiring_leases", {"seconds": 60}).rows
    degrees = lived.now.degrees()
    assert [(row[0], row[3]) for row in rows] == [
        (broker, degrees[broker]) for broker in ("still-leaf", "still-twin-a")
    ]
    assert rows[0][2] < rows[1][2] <= 20
    assert [row[0] for row in ask(neo4j_server, "expiring_leases", {"seconds": 7200}).rows] == list(LEASES)


def test_what_was_edited_by_hand_is_found(
    neo4j_server: Neo4jServer, stored: neo4j.Driver, lived: Lived
) -> None:
    strangers = min(
        (a, b)
        for a in lived.now.topics
        for b in lived.now.topics
        if a < b and not lived.now.topics[a] & lived.now.topics[b]
    )
    leaf = min(broker for broker, degree in lived.now.degrees().items() if degree == 1)
    (link,) = [link for link in lived.now.links if leaf in link]
    (topic,) = [min(lived.now.common(link))]
    by_hand = {"a": strangers[0], "b": strangers[1], "c": link[0], "d": link[1]}
    stored.execute_query(
        "MATCH (a:Broker {id: $a}), (b:Broker {id: $b}) CREATE (a)-[:LINK {since: 5, reason: 'by hand'}]->(b)",
        by_hand,
    )
    stored.execute_query("MATCH (:Broker {id: $c})-[l:LINK]->(:Broker {id: $d}) DELETE l", by_hand)
    try:
        assert ask(neo4j_server, "links_for_nothing", {}).rows == [[*strangers, 5, "by hand"]]
        assert ask(neo4j_server, "links_by_topics", {}).rows[0] == [0, 1]
        assert leaf in [row[0] for row in ask(neo4j_server, "unlinked_brokers", {}).rows]
        ((subscribers, reached, cut_off, connected),) = ask(
            neo4j_server, "topic_reach", {"topic": topic}
        ).rows
        assert subscribers == len(lived.now.subscribers()[topic])
        assert not connected
        assert reached == 1 or cut_off == [leaf]
    finally:
        stored.execute_query(
            "MATCH (:Broker {id: $a})-[l:LINK]->(:Broker {id: $b}) DELETE l"
            " WITH * MATCH (c:Broker {id: $c}), (d:Broker {id: $d}) CREATE (c)-[:LINK {since: $since, reason: $reason}]->(d)",
            {**by_hand, "since": lived.now.links[link][0], "reason": lived.now.links[link][1]},
        )


def test_the_growth_over_years_is_told_within_the_memory_of_a_question(
    neo4j_server: Neo4jServer, stored: neo4j.Driver, lived: Lived
) -> None:
    """A change on each of 2,500 days more, which move nothing: all end as the overlay is now."""
    days = 2500
    stored.execute_query(
        "MATCH (last:Change {version: $version}) UNWIND range(1, $days) AS day CREATE (change:Change:Extra)"
        " SET change = last {.*, version: $version + day, at: last.at + duration({days: day}), joined: [], left: [],"
        " opened_a: [], closed_a: [], subscribed_broker: [], unsubscribed_broker: []}",
        version=lived.version,
        days=days,
    )
    try:
        rows = ask(neo4j_server, "growth_by_day", {}).rows
    finally:
        stored.execute_query("MATCH (change:Extra) DELETE change")
    now = [len(lived.now.topics), sum(map(len, lived.now.topics.values())), len(lived.now.links)]
    assert [row[1] for row in rows[-days:]] == list(range(lived.version + 1, lived.version + days + 1))
    assert all(row[2:5] == now for row in rows[-days:])
