"""Keys on a real Neo4j: made, used, revoked, in one API process and seen by another."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neo4j
import pytest
from fastapi.testclient import TestClient

from backend.api import create_app
from backend.api.access import UploadAccess
from backend.api.limits import UPLOADS
from backend.keyring import Keyring
from backend.store import Database
from tests.backend.conftest import empty, rows
from tests.backend.test_api import KEY, settings, wait_until_ready
from tests.backend.test_limits import offline
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j


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
    with TestClient(create_app(settings(neo4j_server, tmp_path_factory.mktemp("home")))) as opened:
        wait_until_ready(opened)
        yield opened


def make(client: TestClient, name: str, scope: str) -> dict[str, Any]:
    answer = client.post("/v1/keys", headers=KEY, json={"name": name, "scope": scope})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def whoami(client: TestClient, key: str) -> tuple[int, Any]:
    answer = client.get("/v1/me", headers={"X-API-Key": key})
    return answer.status_code, answer.json()


def test_the_homes_key_is_admin(client: TestClient) -> None:
    assert whoami(client, KEY["X-API-Key"]) == (200, {"name": "admin", "scope": "admin"})


@pytest.mark.parametrize("scope", ["read", "operate", "admin"])
def test_a_key_works_at_once_and_until_it_is_revoked(client: TestClient, scope: str) -> None:
    made = make(client, f"agent for {scope}", scope)
    assert whoami(client, made["key"]) == (200, {"name": f"agent for {scope}", "scope": scope})
    listed = {key["id"]: key for key in client.get("/v1/keys", headers=KEY).json()["items"]}
    assert listed[made["id"]] == {
        "id": made["id"],
        "name": made["name"],
        "scope": scope,
        "created_at": listed[made["id"]]["created_at"],
        "revoked_at": None,
    }
    revoked = client.delete(f"/v1/keys/{made['id']}", headers=KEY)
    assert revoked.status_code == 200
    assert revoked.json()["revoked_at"] is not None
    assert whoami(client, made["key"])[0] == 401
    assert client.delete(f"/v1/keys/{made['id']}", headers=KEY).json() == revoked.json()


def test_neo4j_holds_the_hash_alone(client: TestClient, driver: neo4j.Driver) -> None:
    made = make(client, "hashed", "read")
    (stored,) = rows(driver, "MATCH (key:Key {id: $id}) RETURN properties(key) AS key", id=made["id"])
    secret = made["key"].removeprefix(f"tw_{made['id']}_")
    assert len(secret) >= 43
    assert secret not in repr(stored)
    assert made["key"] not in repr(client.get("/v1/keys", headers=KEY).json())


def test_a_hash_proves_nothing_under_another_id(client: TestClient, driver: neo4j.Driver) -> None:
    low, high = make(client, "low", "read"), make(client, "high", "admin")
    rows(
        driver,
        "MATCH (low:Key {id: $low}) MATCH (high:Key {id: $high}) SET high.hash = low.hash",
        low=low["id"],
        high=high["id"],
    )
    make(client, "anything that makes the keys be read", "read")
    assert whoami(client, low["key"].replace(low["id"], high["id"]))[0] == 401


@pytest.mark.parametrize("cut", [0, 1, 8, 20])
def test_a_part_of_a_key_is_no_key(client: TestClient, cut: int) -> None:
    made = make(client, f"cut {cut}", "read")
    assert whoami(client, made["key"][: -cut or None])[0] == (200 if cut == 0 else 401)
    assert whoami(client, made["id"])[0] == 401
    assert whoami(client, f"tw_{made['id']}_")[0] == 401


def test_scopes_are_kept_apart(client: TestClient) -> None:
    for scope in ("read", "operate"):
        key = {"X-API-Key": make(client, f"scoped {scope}", scope)["key"]}
        assert client.get("/v1/overlay", headers=key).status_code == 200
        for refused in (
            client.get("/v1/keys", headers=key),
            client.post("/v1/keys", headers=key, json={"name": "mine", "scope": "admin"}),
            client.delete("/v1/keys/0", headers=key),
        ):
            assert refused.status_code == 403
            assert refused.json()["type"] == "urn:topicweave:problem:forbidden"
            assert refused.json()["field"] == "X-API-Key"
            assert f"has {scope}" in refused.json()["detail"]
    assert "mine" not in {key["name"] for key in client.get("/v1/keys", headers=KEY).json()["items"]}


def test_an_unknown_key_is_told_how_to_identify_itself(client: TestClient) -> None:
    for headers in ({}, {"X-API-Key": ""}, {"X-API-Key": "tw_000000000000_guess"}):
        answer = client.get("/v1/keys", headers=headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("ApiKey")


def test_names_of_working_keys_are_unique(client: TestClient) -> None:
    first = make(client, "twice", "read")
    again = client.post("/v1/keys", headers=KEY, json={"name": "twice", "scope": "admin"})
    assert again.status_code == 409
    assert again.json()["field"] == "name"
    client.delete(f"/v1/keys/{first['id']}", headers=KEY)
    make(client, "twice", "operate")
    assert client.post("/v1/keys", headers=KEY, json={"name": "admin", "scope": "read"}).status_code == 409


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "", "scope": "read"}, "name"),
        ({"name": "x" * 257, "scope": "read"}, "name"),
        ({"name": "bell\u0007", "scope": "read"}, "name"),
        ({"name": "..", "scope": "read"}, "name"),
        ({"name": 7, "scope": "read"}, "name"),
        ({"name": "a"}, "scope"),
        ({"name": "a", "scope": "root"}, "scope"),
        ({"name": "a", "scope": "read", "colour": "red"}, "colour"),
    ],
)
def test_a_bad_key_is_refused_by_field(client: TestClient, body: dict[str, Any], field: str) -> None:
    answer = client.post("/v1/keys", headers=KEY, json=body)
    assert answer.status_code == 422, answer.text
    assert answer.json()["field"] == field


def test_an_unknown_id_is_not_revoked(client: TestClient) -> None:
    answer = client.delete("/v1/keys/%2Fnobody", headers=KEY)
    assert answer.status_code == 404
    assert answer.json()["field"] == "id"


def test_another_process_notices_by_itself(
    client: TestClient, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    with TestClient(create_app(settings(neo4j_server, tmp_path))) as second:
        wait_until_ready(second)
        made = make(client, "seen elsewhere", "read")
        until(second, made["key"], 200)
        client.delete(f"/v1/keys/{made['id']}", headers=KEY)
        until(second, made["key"], 401)


def until(client: TestClient, key: str, status: int) -> None:
    deadline = time.monotonic() + 60
    while whoami(client, key)[0] != status:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_who_may_not_send_files_is_told_before_any_is_read() -> None:
    async def never(*_: object) -> Any:
        raise AssertionError("somebody reads what is sent")

    async def ask(*keys: tuple[bytes, bytes]) -> list[Any]:
        scope = {"type": "http", "method": "POST", "path": "/v1/imports", "headers": list(keys)}
        said: list[Any] = []

        async def send(message: Any) -> None:
            said.append(message)

        async with Database("bolt://127.0.0.1:1", "neo4j", "secret") as database:
            await UploadAccess(never, Keyring("the home's", database), UPLOADS)(scope, never, send)
        return said

    for keys in ((), ((b"x-api-key", b"guess"),)):
        assert asyncio.run(ask(*keys))[0]["status"] == 401
    with pytest.raises(AssertionError):
        asyncio.run(ask((b"x-api-key", b"the home's")))


def test_before_neo4j_answers_only_the_homes_key_is_known(tmp_path: Path) -> None:
    nobody = Neo4jServer("bolt://127.0.0.1:1", "neo4j", "secret", None)
    with offline(create_app(settings(nobody, tmp_path))) as client:
        assert whoami(client, KEY["X-API-Key"])[0] == 200
        assert whoami(client, "guess")[0] == 401
        status, problem = whoami(client, "tw_0123456789ab_secret")
        assert (status, problem["type"]) == (503, "urn:topicweave:problem:not-ready")
