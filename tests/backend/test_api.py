"""The API over a real Neo4j with the demo overlay: answers, ids with slashes, pages, problems."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import neo4j
import pytest
from fastapi.testclient import TestClient

from algorithms import Interests, Overlay
from backend.api import create_app
from backend.demos import load_demo
from backend.policy import Policy
from backend.settings import Settings
from tests.backend.conftest import empty, rows
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j
KEY = {"X-API-Key": "a key for tests"}


def settings(server: Neo4jServer, home: Path, **more: Any) -> Settings:
    return Settings.load(
        home=home,
        api_key=KEY["X-API-Key"],
        neo4j_uri=server.uri,
        neo4j_user=server.user,
        neo4j_password=server.password,
        **more,
    )


def wait_until_ready(client: TestClient) -> None:
    deadline = time.monotonic() + 180  # the kernels may have to be compiled first
    while client.get("/readyz").status_code != 200:
        assert time.monotonic() < deadline, client.get("/readyz").json()
        time.sleep(0.05)


@pytest.fixture(scope="module")
def driver(neo4j_server: Neo4jServer) -> Iterator[neo4j.Driver]:
    with neo4j.GraphDatabase.driver(
        neo4j_server.uri, auth=(neo4j_server.user, neo4j_server.password)
    ) as opened:
        empty(opened)
        yield opened
        empty(opened)


@pytest.fixture(scope="module")
def client(
    neo4j_server: Neo4jServer, driver: neo4j.Driver, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TestClient]:
    app = create_app(settings(neo4j_server, tmp_path_factory.mktemp("home"), demo="autoware"))
    with TestClient(app) as opened:
        wait_until_ready(opened)
        yield opened


@pytest.fixture(scope="module")
def demo() -> Interests:
    return load_demo("autoware")


def get(client: TestClient, path: str) -> Any:
    answer = client.get(path, headers=KEY)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_health_needs_no_key(client: TestClient) -> None:
    assert client.get("/healthz").json() == {"status": "alive"}
    assert client.get("/readyz").json() == {"status": "serving", "version": 1}


def test_the_overlay_is_what_neo4j_holds(client: TestClient, driver: neo4j.Driver, demo: Interests) -> None:
    overlay = get(client, "/v1/overlay")
    (stored,) = rows(
        driver,
        "MATCH (b:Broker) WITH count(b) AS brokers MATCH (t:Topic) WITH brokers, count(t) AS topics "
        "MATCH ()-[s:SUBSCRIBES]->() WITH brokers, topics, count(s) AS subscriptions "
        "MATCH ()-[l:LINK]->() RETURN brokers, topics, subscriptions, count(l) AS links",
    )
    assert {name: overlay[name] for name in stored} == stored
    assert (overlay["brokers"], overlay["topics"], overlay["subscriptions"]) == (94, 303, 483)
    assert overlay["topics_apart"] == 0
    assert overlay["average_degree"] == pytest.approx(2 * overlay["links"] / 94)
    assert overlay["policy"] == Policy().properties()
    assert sum(brokers for _, brokers in overlay["degree_histogram"]) == 94
    assert max(degree for degree, _ in overlay["degree_histogram"]) == overlay["max_degree"]
    links = [
        (row["a"], row["b"]) for row in rows(driver, "MATCH (a)-[:LINK]->(b) RETURN a.id AS a, b.id AS b")
    ]
    assert Overlay.from_names(demo, links).is_tco()


def test_a_topic_with_slashes_is_one_segment(client: TestClient, demo: Interests) -> None:
    for name in demo.topics:
        topic = get(client, f"/v1/topics/{quote(name, safe='')}")
        assert topic["name"] == name
        assert topic["subscribers"] == len(demo.subscribers_of(name))
        assert [sorted(component) for component in topic["components"]] == [demo.subscribers_of(name)]


def test_a_topic_has_all_its_figures(client: TestClient) -> None:
    topic = get(client, "/v1/topics/%2Fdiagnostics")
    assert {"name", "version", "subscribers", "components", "blocks", "articulation_brokers"} <= set(topic)
    assert {"bridges", "diameter", "connectivity"} <= set(topic)
    assert topic["version"] == 1
    assert topic["connectivity"] in (1, 2, "3+")


def test_a_topic_is_drawn(client: TestClient, demo: Interests) -> None:
    graph = get(client, "/v1/topics/%2Fdiagnostics/graph")
    assert sorted(node["id"] for node in graph["nodes"]) == demo.subscribers_of("/diagnostics")
    assert all(-1 <= node["x"] <= 1 and -1 <= node["y"] <= 1 for node in graph["nodes"])
    assert len({(node["x"], node["y"]) for node in graph["nodes"]}) == len(graph["nodes"])
    assert all(1 <= node["topic_degree"] <= node["degree"] for node in graph["nodes"])
    assert {end for link in graph["links"] for end in (link["a"], link["b"])} == {
        n["id"] for n in graph["nodes"]
    }
    topic = get(client, "/v1/topics/%2Fdiagnostics")
    assert {n["id"] for n in graph["nodes"] if n["articulation"]} == set(topic["articulation_brokers"])
    assert sum(link["bridge"] for link in graph["links"]) == len(topic["bridges"])
    assert get(client, "/v1/topics/%2Fdiagnostics/graph") == graph


@pytest.mark.parametrize("column", ["name", "subscribers", "components", "diameter", "articulation_brokers"])
@pytest.mark.parametrize("sign", ["", "-"])
def test_pages_follow_each_other(client: TestClient, demo: Interests, column: str, sign: str) -> None:
    seen: list[dict[str, Any]] = []
    after = ""
    while True:
        page = get(client, f"/v1/topics?sort={sign}{column}&limit=100{after}")
        assert page["total"] == 303
        seen += page["items"]
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert sorted(item["name"] for item in seen) == list(demo.topics)
    values = [item[column] for item in seen]
    assert values == sorted(values, reverse=sign == "-")
    assert get(client, f"/v1/topics?sort={sign}{column}&limit=3&offset=100")["items"] == seen[100:103]


def test_search_finds_a_part_of_the_name_in_any_case(client: TestClient) -> None:
    page = get(client, "/v1/topics?q=DIAGNOSTICS")
    assert page["total"] == len(page["items"]) > 1
    assert all("diagnostics" in item["name"].lower() for item in page["items"])
    assert get(client, "/v1/topics?q=nowhere") == {"items": [], "total": 0, "next": None}


def test_the_registry_is_served(client: TestClient) -> None:
    found = {algorithm["name"]: algorithm for algorithm in get(client, "/v1/algorithms")}
    assert list(found["weave"]["engines"]) == ["local"]
    assert found["gm2"]["engines"]["local"] == found["gm2"]["parameters"]
    # Parts are Spark's affair: the local GM2 has none.
    assert "parts" in {parameter["name"] for parameter in found["gm2"]["engines"]["spark"]}


@pytest.mark.parametrize(
    ("path", "status", "slug", "field"),
    [
        ("/v1/topics/unknown", 404, "not-found", "topic"),
        ("/v1/topics/%2Funknown/graph", 404, "not-found", "topic"),
        ("/v1/topics/%ff", 422, "bad-value", "path"),
        ("/v1/topics?limit=0", 422, "bad-value", "limit"),
        ("/v1/topics?limit=many", 422, "bad-value", "limit"),
        ("/v1/topics?offset=-1", 422, "bad-value", "offset"),
        ("/v1/topics?sort=colour", 422, "bad-value", "sort"),
        ("/v1/topics?after=rubbish", 422, "bad-value", "after"),
        ("/v1/topics?sort=subscribers&after=WyJ4IiwgIngiXQ", 422, "bad-value", "after"),
        ("/v1/topics?after=WyJ4IiwgIngiXQ&offset=3", 422, "bad-value", "offset"),
        ("/v1/nothing", 404, "not-found", None),
    ],
)
def test_problems_name_the_field(
    client: TestClient, path: str, status: int, slug: str, field: str | None
) -> None:
    answer = client.get(path, headers=KEY)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["type"] == f"urn:topicweave:problem:{slug}"
    assert problem["status"] == status
    assert problem["title"]
    assert problem["detail"]
    assert problem.get("field") == field


@pytest.mark.parametrize("headers", [{}, {"X-API-Key": "guess"}, {"X-API-Key": "é".encode("latin-1")}])
def test_without_the_key_nothing_is_said(client: TestClient, headers: dict[str, Any]) -> None:
    for path in ("/v1/overlay", "/v1/topics", "/v1/topics/%2Fdiagnostics", "/v1/algorithms"):
        answer = client.get(path, headers=headers)
        assert answer.status_code == 401
        assert answer.json()["field"] == "X-API-Key"


def test_a_restart_reads_the_same_overlay(
    client: TestClient, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    # Drift is estimated a moment after the start.
    before = {**get(client, "/v1/overlay"), "drift": None}
    with TestClient(create_app(settings(neo4j_server, tmp_path))) as second:
        wait_until_ready(second)
        assert {**get(second, "/v1/overlay"), "drift": None} == before


def test_a_new_installation_without_a_demo_isempty(
    database: neo4j.Driver, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    with TestClient(create_app(settings(neo4j_server, tmp_path))) as empty:
        wait_until_ready(empty)
        overlay = get(empty, "/v1/overlay")
        assert (overlay["version"], overlay["brokers"], overlay["links"], overlay["average_degree"]) == (
            0,
            0,
            0,
            0.0,
        )
        assert get(empty, "/v1/topics") == {"items": [], "total": 0, "next": None}


def test_a_database_that_is_away_is_said_and_ends_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.manager.SECONDS_FOR_NEO4J", 0.2)
    failed: list[bool] = []
    nobody = Neo4jServer("bolt://127.0.0.1:1", "neo4j", "secret", None)
    with TestClient(create_app(settings(nobody, tmp_path), on_failure=lambda: failed.append(True))) as client:
        answer = client.get("/readyz")
        assert answer.status_code == 503
        assert "waiting for Neo4j" in answer.json()["detail"]
        deadline = time.monotonic() + 20
        while not failed:
            assert time.monotonic() < deadline
            time.sleep(0.05)
