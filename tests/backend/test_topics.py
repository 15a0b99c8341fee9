"""The list of topics: those that need a look."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import neo4j
import pytest

from algorithms import LiveOverlay, Overlay
from algorithms.analysis import TopicAnalysis, topic_analysis, topic_layout
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


def test_topics_are_analysed_beside_the_event_loop_and_only_where_a_change_touched_them(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"t{i}" for i in range(6)]
    analysed, drawn = Counter[str](), Counter[str]()
    threads: set[int] = set()
    begun, gate = threading.Event(), threading.Event()
    alone = LiveOverlay.topic_overlay

    def analyse(overlay: Overlay, topic: str) -> TopicAnalysis:
        analysed[topic] += 1
        begun.set()
        assert gate.wait(60)
        return topic_analysis(overlay, topic)

    def take_apart(overlay: LiveOverlay, topic: str) -> Overlay:
        if not gate.is_set():
            threads.add(threading.get_ident())
        return alone(overlay, topic)

    def lay_out(overlay: Overlay, topic: str, seed: int) -> Any:
        drawn[topic] += 1
        return topic_layout(overlay, topic, seed)

    monkeypatch.setattr("backend.live.mirror.topic_analysis", analyse)
    monkeypatch.setattr("backend.api.topics.topic_layout", lay_out)
    monkeypatch.setattr(LiveOverlay, "topic_overlay", take_apart)
    with served(neo4j_server, database, tmp_path) as live, ThreadPoolExecutor(2) as pool:
        live.join("a", *names)
        live.join("b", *names)
        assert live.client.portal is not None
        loop_thread = live.client.portal.call(threading.get_ident)
        try:
            asked = [
                pool.submit(live.ask, "GET", "topics", params={"sort": sort})
                for sort in ("-diameter", "components")
            ]
            assert begun.wait(60)
            version = live.join("c", "t0")["version"]
            assert version == 3, "changes go on meanwhile"
        finally:
            gate.set()
        for answer in asked:
            assert [row["name"] for row in answer.result()["items"]] == names
        assert loop_thread not in threads
        analysed.subtract(names)
        assert set((+analysed).elements()) <= {"t0"}, "each of the others once, whatever version came between"
        analysed.clear()
        found = live.ask("GET", "topics", params={"sort": "articulation_brokers"})["items"]
        assert {row["name"]: row["subscribers"] for row in found} == {"t0": 3} | dict.fromkeys(names[1:], 2)
        assert not any(row["diameter_sampled"] for row in found)
        assert not analysed
        pictures = [live.ask("GET", "topics", "t1", "graph") for _ in range(2)]
        assert (pictures[0], drawn) == (pictures[1], {"t1": 1})
        live.join("d", "t0")
        assert live.ask("GET", "topics", "t1", "graph")["nodes"] == pictures[0]["nodes"]
        live.join("e", "t1")
        assert len(live.ask("GET", "topics", "t1", "graph")["nodes"]) == 3
        assert drawn == {"t1": 2}
