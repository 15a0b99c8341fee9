"""Every call of the real API, and the shape that the OpenAPI document gives its answer: the two are the same."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import neo4j
import pytest
from fastapi import FastAPI

from backend.rebuilds import activation
from cypher.library import queries
from tests.backend.conftest import empty
from tests.backend.documented import WITHOUT_SHAPE, Judge, misfits, successes
from tests.backend.live import KEY, Served, served
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j

TOPICS = ["/tf", "/sensing/lidar", "t'\"{}"]
INTERESTS = "broker,topic\n" + "".join(f"b{i},{TOPICS[i % 3]}\nb{i},/tf\n" for i in range(12))
LINKS = "broker_a,broker_b\n" + "".join(f"b{i},b{i + 1}\n" for i in range(8)) + "b1,b9\n"
SECOND = "broker,topic\nc0,/tf\nc1,/tf\nc2,other\nc3,other\n"
SECOND_LINKS = "broker_a,broker_b\nc0,c1\nc1,c2\n"


def watched(live: Served) -> Judge:
    """From now on every answer is judged."""
    judge = Judge(cast(FastAPI, live.client.app).openapi())
    ask = live.client.request

    def judged(method: str, url: str, **more: Any) -> Any:
        answer = ask(method, url, **more)
        judge.judge(method, url, answer)
        return answer

    live.client.request = judged  # type: ignore[method-assign, assignment]
    return judge


def finished(find: Callable[[], Any], *states: str) -> Any:
    """The job when it has come to one of these states."""
    deadline = time.monotonic() + 240
    while (job := find())["state"] not in states:
        assert job["state"] in ("queued", "running", "activating", "applying"), job
        assert time.monotonic() < deadline, job
        time.sleep(0.1)
    return job


def send(live: Served, path: str, files: dict[str, tuple[str, Any]], **fields: str) -> Any:
    """Send files, and what the job came to."""
    answer = live.client.request("POST", f"/v1/{path}", headers=KEY, files=files, data=fields)
    assert answer.status_code == 202, answer.text
    assert answer.headers["Location"] == f"/v1/imports/{answer.json()['id']}"
    return finished(lambda: live.ask("GET", "imports", answer.json()["id"]), "done")["result"]


def bring_files(live: Served) -> None:
    """Links judged, links adopted, an import into the living overlay, a second federation."""
    live.ask("PUT", "policy", json={"k": 2})
    files = {"interests": ("i.csv", INTERESTS), "links": ("l.csv", LINKS)}
    judged = send(live, "imports", files, adopt="false")
    score = judged["adopted"]["score"]
    assert score["topics_apart_first"]
    assert score["topics_below_k_first"]
    assert score["hubs"]
    assert judged["adopted"]["opened_first"]
    assert judged["version"] is None
    live.ask("PUT", "policy", json={"k": 1})
    assert send(live, "imports", files)["seconds"]["store"] > 0
    assert send(live, "imports", {"interests": ("i.csv", INTERESTS + "late,/tf\n")})["joined"] == 1
    files = {"interests": ("i.csv", SECOND), "links": ("l.csv", SECOND_LINKS)}
    assert send(live, "merges", files)["left_out_first"]


def change(live: Served) -> None:
    """Joins, leaves, subscriptions, leases and their agents; dry and for real."""
    joining = {"id": "new", "topics": TOPICS, "attributes": {"rack": 4}, "ttl_seconds": 600}
    live.ask("POST", "brokers", json=joining, params={"dry_run": True})
    live.ask("POST", "brokers", json=joining, status=201)
    live.ask("POST", "brokers", "new", "heartbeat", json={"ttl_seconds": 900})
    live.ask("POST", "brokers", "new", "acks", json={"version": live.version})
    link = ["new", live.ask("GET", "brokers", "new")["links"][0]["broker"]]
    live.ask("POST", "brokers", "new", "failures", json={"link": link, "reason": "refused"})
    told = live.ask("GET", "brokers", "new")
    assert told["lease"]
    assert told["failures"]
    assert told["acked"]
    live.ask("PUT", "brokers", "b0", "topics", json={"topics": ["/tf"]})
    live.ask("POST", "brokers", "b0", "topics", "only here")
    live.ask("DELETE", "brokers", "b0", "topics", "only here")
    live.ask("POST", "changes", json=[{"op": "leave", "broker": "b1"}])
    live.ask("DELETE", "brokers", "b2")
    live.ask("PUT", "policy", json={"k": 2}, params={"dry_run": True})
    live.ask("PUT", "policy", json={"k": 2})
    live.ask("PUT", "policy", json={"k": 1})
    live.ask("POST", "prune")
    assert live.ask("POST", "brokers", "gone", "heartbeat", status=404)["field"]


def read(live: Served) -> None:
    """The overlay, brokers, topics, the history; now and at a version."""
    old = {"version": live.version - 3}
    for params in ({}, old):
        live.ask("GET", "overlay", params=params)
        live.ask("GET", "topics", "/tf", params=params)
        live.ask("GET", "topics", "/tf", "graph", params=params)
    live.ask("GET", "topics", "/tf", "graph", params={"around": "new"})
    for sort in ("id", "-blast_radius"):
        assert live.ask("GET", "brokers", params={"sort": sort, "limit": 2})["next"]
    live.ask("GET", "topics", params={"sort": "-diameter", "limit": 2})
    live.ask("GET", "policy")
    assert any(
        change["policy_after"] for change in live.ask("GET", "changes", params={"limit": 500})["items"]
    )
    live.ask("GET", "diff", params={"from": live.version, "to": old["version"]})
    assert live.ask("GET", "trend", params={"points": 5})["points"]
    hub = live.ask("GET", "brokers", params={"sort": "-blast_radius", "limit": 1})["items"][0]["id"]
    assert live.ask("POST", "what-if", json={"leave": [hub]})["topics_apart"]
    live.ask("GET", "algorithms")
    live.ask("GET", "me")
    assert live.ask("GET", "check")["good"]


def ask_the_library(live: Served) -> None:
    """Every question, its text, and one of them asked."""
    for query in live.ask("GET", "queries")["items"]:
        assert live.ask("GET", "queries", query["name"])["cypher"] == queries()[query["name"]].cypher
    live.ask("POST", "queries", "hubs", "run", json={"params": {}})


def manage_keys(live: Served) -> None:
    made = live.ask("POST", "keys", status=201, json={"name": "agent", "scope": "read"})
    live.ask("GET", "keys")
    assert live.ask("DELETE", "keys", made["id"])["revoked_at"]


def rebuild(live: Served) -> None:
    """Planned, held, let go, called off, activated, rolled back, dropped."""
    asked = {"algorithm": "weave", "params": {"keep": 0.25}}
    found = live.ask("POST", "rebuilds", json=asked, status=202)["id"]

    def find() -> Any:
        return live.ask("GET", "rebuilds", found)

    assert finished(find, "planned")["plan"]["keep_curve"]
    found = live.ask("POST", "rebuilds", json={"algorithm": "gm2"}, status=202)["id"]
    assert finished(find, "planned")["plan"]["most_changed"]
    live.ask("POST", "rebuilds", found, "activate", status=202)
    for step in ("pause", "resume", "pause", "cancel"):
        live.ask("POST", "rebuilds", found, step)
    finished(find, "planned")
    live.ask("POST", "rebuilds", found, "activate", status=202)
    finished(find, "active")
    live.ask("GET", "rebuilds")
    live.ask("POST", "rebuilds", found, "rollback", status=202)
    finished(find, "planned")
    live.ask("DELETE", "rebuilds", found)


def simulate(live: Served) -> None:
    """On the live overlay, and applied to it; on a workload."""
    workload = {"brokers": 20, "topics": 5, "subscriptions": 2, "distribution": "zipf"}
    for asked in ({"rounds": 4, "drift_every": 2}, {"source": "workload", "workload": workload, "rounds": 3}):
        found = live.ask("POST", "simulations", json=asked, status=202)["id"]
        told = finished(lambda found=found: live.ask("GET", "simulations", found), "done")  # type: ignore[misc]
        assert told["summary"]["rounds"] == len(told["rounds"]) == asked["rounds"]
    live.ask("DELETE", "simulations", found)
    first = live.ask("GET", "simulations")["items"][-1]["id"]
    live.ask("POST", "simulations", first, "apply", status=202)
    finished(lambda: live.ask("GET", "simulations", first), "applied")


def test_every_answer_has_the_shape_that_is_documented(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activation, "LINKS_A_BATCH", 1)
    monkeypatch.setattr(activation, "SECONDS_BETWEEN_LOOKS", 0.05)
    with served(neo4j_server, database, tmp_path / "first") as live:
        live.ask("PUT", "policy", json={"settle_seconds": 0})
        judge = watched(live)
        bring_files(live)
        change(live)
        read(live)
        ask_the_library(live)
        manage_keys(live)
        rebuild(live)
        simulate(live)
        live.ask("POST", "check", "reload")
        backup = live.client.get("/v1/backup", headers=KEY).content
    empty(database)
    with served(neo4j_server, database, tmp_path / "second") as live:
        again = watched(live)
        assert send(live, "restores", {"backup": ("backup.zip", backup)})["brokers"]
    left = set(successes(judge.document)) - judge.seen - again.seen
    assert {(method, path) for method, path, _ in left} <= set(WITHOUT_SHAPE), left


def test_a_field_that_nobody_described_is_found(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path
) -> None:
    with served(neo4j_server, database, tmp_path) as live:
        judge = watched(live)
        overlay = live.ask("GET", "overlay")
    schema = {"$ref": "#/components/schemas/Overlay"}
    assert misfits(judge.document, schema, overlay) == []
    (found,) = misfits(judge.document, schema, {**overlay, "colour": "blue"})
    assert "'colour' was unexpected" in found
    (found,) = misfits(judge.document, schema, {**overlay, "links": "many"})
    assert found.startswith("$.links: ")
