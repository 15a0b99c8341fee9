"""Ids with quotes, braces, slashes, emoji and Cypher fragments, through HTTP, the mirror and Neo4j and back."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import neo4j
import pytest

from tests.backend.awkward_ids import AWKWARD_IDS, UNFIT_IDS
from tests.backend.conftest import empty, rows
from tests.backend.live import KEY, Served, served
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j
AS_JSON = {**KEY, "Content-Type": "application/json"}


@pytest.fixture(scope="module")
def api(neo4j_server: Neo4jServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    auth = (neo4j_server.user, neo4j_server.password)
    with neo4j.GraphDatabase.driver(neo4j_server.uri, auth=auth) as driver:
        empty(driver)
        with served(neo4j_server, driver, tmp_path_factory.mktemp("home")) as opened:
            opened.join("everywhere", "common")
            yield opened
        empty(driver)


@pytest.mark.parametrize("name", AWKWARD_IDS)
def test_a_broker_and_a_topic_of_that_name(api: Served, name: str) -> None:
    """Joined, read, subscribed, listed, kept in Neo4j, and gone again."""
    before = api.ask("GET", "overlay")
    api.join(name, name, "common")
    assert rows(
        api.driver,
        "MATCH (b:Broker {id: $name})-[:SUBSCRIBES]->(t:Topic {name: $name}) RETURN count(*) AS found",
        name=name,
    ) == [{"found": 1}]
    broker = api.ask("GET", "brokers", name)
    assert broker["id"] == name
    assert broker["topics"] == sorted([name, "common"])
    assert [link["broker"] for link in broker["links"]] == ["everywhere"]
    topic = api.ask("GET", "topics", name)
    assert (topic["name"], topic["components"]) == (name, [[name]])
    assert [node["id"] for node in api.ask("GET", "topics", name, "graph")["nodes"]] == [name]
    for kind, column in (("brokers", "id"), ("topics", "name")):
        page = api.ask("GET", kind, params={"q": name, "limit": 100})
        assert name in {item[column] for item in page["items"]}
    api.ask("POST", "brokers", "everywhere", "topics", name)
    assert name in api.ask("GET", "brokers", "everywhere")["topics"]
    api.ask("DELETE", "brokers", "everywhere", "topics", name)
    assert name not in api.ask("GET", "brokers", "everywhere")["topics"]
    api.ask("PUT", "brokers", name, "topics", json={"topics": [name]})
    assert api.ask("GET", "brokers", name)["links"] == []
    api.leave(name)
    api.ask("GET", "brokers", name, status=404)
    after = api.ask("GET", "overlay")
    counted = ("brokers", "topics", "subscriptions", "links")
    assert [after[figure] for figure in counted] == [before[figure] for figure in counted]


@pytest.mark.parametrize("name", UNFIT_IDS)
def test_an_unfit_id_is_refused_wherever_it_stands(api: Served, name: str) -> None:
    version = api.version
    assert api.ask("POST", "brokers", status=422, json={"id": name, "topics": []})["field"] == "id"
    refused = api.ask("POST", "brokers", status=422, json={"id": "fine", "topics": ["good", name]})
    assert refused["field"] == "topics"
    api.ask("PUT", "brokers", "everywhere", "topics", status=422, json={"topics": [name]})
    api.ask("POST", "changes", status=422, json=[{"op": "join", "broker": name, "topics": []}])
    if name not in ("", ".", ".."):  # what a client itself would fold away
        segment = quote(name, safe="")
        for path in (f"brokers/{segment}", f"topics/{segment}", f"topics/{segment}/graph"):
            assert api.client.get(f"/v1/{path}", headers=KEY).status_code == 422, path
        answer = api.client.post(f"/v1/brokers/everywhere/topics/{segment}", headers=KEY)
        assert answer.status_code == 422
    assert api.version == version


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "1e400", '"\\ud800"', '{"\\udfff": 1}'])
def test_attributes_that_no_answer_could_carry_are_refused(api: Served, value: str) -> None:
    body = f'{{"id": "new", "topics": [], "attributes": {{"a": {value}}}}}'
    answer = api.client.post("/v1/brokers", headers=AS_JSON, content=body.encode())
    assert answer.status_code == 422
    assert answer.json()["field"] == "attributes"
    api.ask("GET", "brokers", "new", status=404)


@pytest.mark.parametrize(
    "body",
    [
        b"\xff",
        b"[1",
        b"[" * 100_000,
        b'{"id": "new", "topics": [], "\\ud800": 1}',
        b'{"id": "\\ud800", "topics": []}',
    ],
)
def test_a_body_that_cannot_be_read_is_refused(api: Served, body: bytes) -> None:
    answer = api.client.post("/v1/brokers", headers=AS_JSON, content=body)
    assert answer.status_code == 422
    assert answer.json()["field"] in ("body", "id")


def test_all_of_them_at_once_come_back_from_neo4j(api: Served) -> None:
    steps = [{"op": "join", "broker": name, "topics": [name, "common"]} for name in AWKWARD_IDS]
    api.ask("POST", "changes", json=steps)
    stored = api.stored_interests()
    assert {name: stored[name] for name in AWKWARD_IDS} == {
        name: sorted([name, "common"]) for name in AWKWARD_IDS
    }
    listed: list[str] = []
    after: dict[str, str] = {}
    while True:
        page = api.ask("GET", "brokers", params={"limit": 7, **after})
        listed += [item["id"] for item in page["items"]]
        if page["next"] is None:
            break
        after = {"after": page["next"]}
    assert listed == sorted([*AWKWARD_IDS, "everywhere"])
    api.ask("POST", "changes", json=[{"op": "leave", "broker": name} for name in AWKWARD_IDS])
    assert set(api.stored_interests()) == {"everywhere"}
