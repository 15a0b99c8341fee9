"""Neo4j in, Neo4j out: candidates under the rebuild's id, progress and report in its record, and what goes wrong."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import neo4j
import pytest
from pyspark.sql import SparkSession

import cypher
from algorithms import BadInput, Cancelled, Interests, Overlay, build
from algorithms.bulk import parse_bulk
from spark import bulk, graph
from spark.errors import JobFailed
from spark.ids import Coded
from spark.rebuild import _written, rebuild_graph
from tests.backend.conftest import rows
from tests.conftest import Neo4jServer
from tests.spark.jobs import links_frame
from tests.spark.living import access, candidates
from tests.spark.page_proxy import pages_of

pytestmark = pytest.mark.neo4j


def test_candidates_are_the_local_links_and_the_record_tells(
    spark: SparkSession,
    neo4j_server: Neo4jServer,
    live: neo4j.Driver,
    with_lonely: Interests,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The interests are read in several pages, each in a transaction of its own, however few cores there are."""
    monkeypatch.setattr(graph, "BROKERS_A_PAGE", 25)
    params = parse_bulk("dc", {"parts": 3})
    with pages_of(access(neo4j_server)) as (pages, way), graph.RebuildRecord(way, "r1") as record:
        report = rebuild_graph(spark, record, "dc", params, ready=2.5)
        assert pages.asked == 13
    assert report["seconds"]["session"] == 2.5
    wanted = build("dc", with_lonely, parts=3).link_names()
    assert candidates(live, "r1") == sorted(wanted)
    node = rows(live, "MATCH (r:Rebuild {id: 'r1'}) RETURN r.state AS state, r.progress AS progress,"
                " r.report AS report, r.heartbeat_at AS beat")[0]  # fmt: skip
    assert node["beat"] is None, "that somebody works on it is the manager's to say"
    assert node["state"] == "running"  # the manager's to change
    assert json.loads(node["progress"]) == {"stage": "done", "share": 1.0}
    assert json.loads(node["report"]) == json.loads(json.dumps(report))
    assert (report["brokers"], report["candidates"], report["departed"]) == (301, len(wanted), 0)
    assert (report["version_before"], report["version_after"]) == (7, 7)
    # A second rebuild meanwhile has candidates of its own, also where the links are the same.
    with graph.RebuildRecord(access(neo4j_server), "r2") as record:
        graph.write_candidates(links_frame(spark, wanted[:50]), record.access, "r2")
        assert record.candidates() == 50
        record.delete_candidates()
        assert record.candidates() == 0
    assert candidates(live, "r1") == sorted(wanted)


@pytest.mark.parametrize("change", ["join", pytest.param("leave", marks=pytest.mark.long)])
def test_the_overlay_moves_between_two_pages(
    spark: SparkSession,
    neo4j_server: Neo4jServer,
    live: neo4j.Driver,
    with_lonely: Interests,
    monkeypatch: pytest.MonkeyPatch,
    change: str,
) -> None:
    """A broker is read twice or not at all; the job says that the overlay moved, and the links are those of what it read."""
    monkeypatch.setattr(graph, "BROKERS_A_PAGE", 50)
    first, *others, last = with_lonely.brokers
    changes = {
        "join": "CREATE (b:Broker {id: '!'}) WITH b MATCH (t:Topic) CREATE (b)-[:SUBSCRIBES]->(t)",
        "leave": f"MATCH (b:Broker {{id: '{first}'}}) DETACH DELETE b",
    }

    def move(number: int) -> None:
        if number == 3:
            live.execute_query(neo4j.Query(changes[change]).text)
            live.execute_query("MATCH (o:Overlay) SET o.version = 8")

    with pages_of(access(neo4j_server), move) as (pages, way), graph.RebuildRecord(way, "r1") as record:
        report = rebuild_graph(spark, record, "dc", parse_bulk("dc", {"parts": 3}))
        assert pages.asked == 7
    assert (report["version_before"], report["version_after"]) == (7, 8)
    assert report["brokers"] == len(with_lonely.brokers) - 1
    assert report["candidates"] + report["departed"] == report["links"]
    found = candidates(live, "r1")
    assert len(found) == report["candidates"]

    def links_without(missed: str) -> list[tuple[str, str]]:
        read = {name: with_lonely.topics_of(name) for name in with_lonely.brokers if name != missed}
        return sorted(build("dc", Interests.from_mapping(read), parts=3).link_names())

    if change == "join":
        # The one before the third page stands in it again; of the last page, one is left over.
        assert report["rows"] > report["subscriptions"]
        assert (report["departed"], found) == (0, links_without(last))
    else:
        assert report["departed"] > 0
        left = ([link for link in links_without(missed) if first not in link] for missed in others)
        assert found in left


def test_a_page_collects_the_topics_of_its_own_brokers_only(
    live: neo4j.Driver, with_lonely: Interests
) -> None:
    """The connector appends SKIP and LIMIT: what is skipped must cost a step through the index, and no more."""
    text = f"PROFILE {cypher.statement('spark/read_interests')} SKIP 280 LIMIT 5"
    plan = live.execute_query(neo4j.Query(text).text).summary.profile
    assert plan is not None
    wanted = sum(len(with_lonely.topics_of(name)) for name in with_lonely.brokers[280:285])
    assert [step["args"]["Rows"] for step in steps(plan) if "Expand" in step["operatorType"]] == [wanted]


def steps(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("children", []):
        yield from steps(child)


def test_brokers_that_leave_meanwhile_are_counted(
    spark: SparkSession, neo4j_server: Neo4jServer, live: neo4j.Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = graph.write_candidates

    def leave_first(*arguments: Any) -> None:
        live.execute_query("MATCH (b:Broker) WITH b ORDER BY b.id LIMIT 3 DETACH DELETE b")
        live.execute_query("MATCH (o:Overlay) SET o.version = 10")
        write(*arguments)

    monkeypatch.setattr(graph, "write_candidates", leave_first)
    with graph.RebuildRecord(access(neo4j_server), "r1") as record:
        report = rebuild_graph(spark, record, "dc", parse_bulk("dc", {"parts": 3}))
    assert report["departed"] > 0
    assert report["candidates"] + report["departed"] == report["links"]
    assert len(candidates(live, "r1")) == report["candidates"]


def test_a_gap_is_a_fault_only_where_nothing_moved(
    spark: SparkSession, neo4j_server: Neo4jServer, live: neo4j.Driver, small: Interests, small_coded: Coded
) -> None:
    """A broker that left while candidates were written, and is back when brokers are counted, proves nothing."""
    links = build("treept", small).link_names()[:300]
    made = bulk.Built(links_frame(spark, links), small_coded, {"links": len(links)})
    with graph.RebuildRecord(access(neo4j_server), "r1") as record:
        graph.write_candidates(links_frame(spark, links[5:]), record.access, "r1")
        with pytest.raises(JobFailed, match="candidates are in the database where"):
            _written(made, 7, spark, record)
        live.execute_query("MATCH (o:Overlay) SET o.version = 9")
        assert _written(made, 7, spark, record) == len(links) - 5
        live.execute_query("MATCH (b:Broker) WITH b ORDER BY b.id LIMIT 1 DETACH DELETE b")
        assert _written(made, 9, spark, record) < len(links) - 5


def test_candidates_of_somebody_else_are_a_fault(
    spark: SparkSession, neo4j_server: Neo4jServer, live: neo4j.Driver, small: Interests, small_coded: Coded
) -> None:
    links = build("treept", small).link_names()[:20]
    made = bulk.Built(links_frame(spark, links[1:]), small_coded, {"links": 19})
    with graph.RebuildRecord(access(neo4j_server), "r1") as record:
        graph.write_candidates(links_frame(spark, links), record.access, "r1")
        with pytest.raises(JobFailed, match="20 candidates are in the database where 19 links were made"):
            _written(made, 7, spark, record)


def test_a_rebuild_called_off_leaves_nothing(
    spark: SparkSession, neo4j_server: Neo4jServer, live: neo4j.Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = graph.write_candidates

    def call_off(*arguments: Any) -> None:
        write(*arguments)
        live.execute_query("MATCH (r:Rebuild {id: 'r1'}) SET r.state = 'cancelled'")

    monkeypatch.setattr(graph, "write_candidates", call_off)
    with graph.RebuildRecord(access(neo4j_server), "r1") as record:
        with pytest.raises((BadInput, Cancelled)):
            rebuild_graph(spark, record, "dc", parse_bulk("dc", {"parts": 3}))
        assert record.candidates() == 0
        assert not record.tell("late", 0.5)
    with graph.RebuildRecord(access(neo4j_server), "r2") as record:
        assert record.tell("early", 0.5)
        live.execute_query("MATCH (r:Rebuild {id: 'r2'}) SET r.cancelling = true")
        assert not record.tell("a wish is heeded before it is granted", 0.5)
        with pytest.raises(BadInput, match="is being cancelled"):
            record.check()


def test_a_rebuild_called_off_while_it_computes_stops(
    spark: SparkSession, neo4j_server: Neo4jServer, live: neo4j.Driver
) -> None:
    timer = threading.Timer(
        0.2, lambda: live.execute_query("MATCH (r:Rebuild {id: 'r1'}) SET r.state = 'cancelled'")
    )
    timer.start()
    with (
        graph.RebuildRecord(access(neo4j_server), "r1") as record,
        pytest.raises(Cancelled, match="rebuild r1 was called off"),
    ):
        rebuild_graph(spark, record, "dc", parse_bulk("dc", {"parts": 20}))
    timer.join()
    assert candidates(live, "r1") == []


def test_nobody_waits_for_it(neo4j_server: Neo4jServer, live: neo4j.Driver) -> None:
    with (
        graph.RebuildRecord(access(neo4j_server), "unknown") as record,
        pytest.raises(BadInput, match="rebuild: there is no such rebuild"),
    ):
        record.check()
    live.execute_query("MATCH (r:Rebuild {id: 'r2'}) SET r.state = 'dropped'")
    with (
        graph.RebuildRecord(access(neo4j_server), "r2") as record,
        pytest.raises(BadInput, match="this rebuild is dropped, not running"),
    ):
        record.check()


@pytest.mark.long
def test_links_of_a_living_overlay_are_a_tco(
    spark: SparkSession, neo4j_server: Neo4jServer, live: neo4j.Driver, small: Interests
) -> None:
    with graph.RebuildRecord(access(neo4j_server), "r1") as record:
        rebuild_graph(spark, record, "gm2", parse_bulk("gm2", {"parts": 2}), verified=True)
    assert Overlay.from_names(small, candidates(live, "r1")).is_ktco(2)
