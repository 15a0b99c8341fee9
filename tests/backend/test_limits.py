"""Limits: each is a setting, each is enforced, none can be talked around."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient

from algorithms.errors import BadInput
from algorithms.ids import LONGEST_ID
from backend.api import create_app
from backend.api.limits import BodyLimit, Limits
from backend.api.pages import PageQuery
from backend.api.problems import answer_problems
from backend.errors import BadValue
from backend.settings import Settings

KEY = {"X-API-Key": "a key for tests"}
SMALL = {
    "max_body_bytes": 2000,
    "max_upload_bytes": 5000,
    "max_id_length": 40,
    "max_page_size": 30,
    "max_batch_size": 3,
    "max_broker_topics": 2,
    "max_batch_subscriptions": 5,
}


def settings(home: Path, **more: Any) -> Settings:
    return Settings.load(
        home=home, api_key=KEY["X-API-Key"], neo4j_uri="bolt://127.0.0.1:1", neo4j_password="unused", **more
    )


@contextmanager
def offline(app: FastAPI) -> Iterator[TestClient]:
    """A client of an app that was not started: nobody looks for its Neo4j, only the home's key is known."""
    yield TestClient(app)
    asyncio.run(app.state.manager.database.__aexit__())


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Limits hold before anything else is asked, so no Neo4j is needed."""
    with offline(create_app(settings(tmp_path_factory.mktemp("home"), **SMALL))) as opened:
        yield opened


def test_a_body_of_announced_length_is_refused_unread(client: TestClient) -> None:
    answer = client.post("/v1/keys", headers=KEY, content=b"x" * 2001)
    assert answer.status_code == 413
    problem = answer.json()
    assert problem["type"] == "urn:topicweave:problem:too-large"
    assert "2000 bytes (TOPICWEAVE_MAX_BODY_BYTES)" in problem["detail"]
    assert client.post("/v1/keys", headers=KEY, content=b"x" * 2000).status_code == 422


def test_a_body_whose_length_nobody_announced_is_counted(client: TestClient) -> None:
    def chunks(count: int) -> Iterator[bytes]:
        yield b'{"name": "'
        for _ in range(count):
            yield b"x" * 100
        yield b'", "scope": "read"}'

    assert client.post("/v1/keys", headers=KEY, content=chunks(30)).status_code == 413
    assert client.post("/v1/keys", headers=KEY, content=chunks(10)).status_code == 422


def test_a_wrong_length_does_not_help(client: TestClient) -> None:
    """The server cuts a body at its announced length; where it does not, the count still holds."""
    headers = {**KEY, "Content-Length": "-1"}
    answer = client.post("/v1/keys", headers=headers, content=iter([b"x" * 2001]))
    assert answer.status_code == 413


def test_uploads_have_a_limit_of_their_own() -> None:
    app = FastAPI()
    read: list[int] = []

    @app.post("/v1/imports")
    async def take(request: Request) -> int:
        read.append(0)
        async for chunk in request.stream():
            read[-1] += len(chunk)
        return read[-1]

    limits = Limits(**SMALL)
    app.add_middleware(BodyLimit, limits=limits)
    client = TestClient(app)
    assert client.post("/v1/imports", content=iter([b"x" * 1000] * 5)).json() == 5000
    assert client.post("/v1/imports", content=iter([b"x" * 1000] * 900)).status_code == 413
    assert read[0] == 5000
    assert read[1] <= 5000, "what is over the limit is not read on"


def test_an_answer_that_began_before_the_limit_showed_is_broken_off() -> None:
    sent: list[dict[str, Any]] = []

    async def echo(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while (await receive()).get("more_body"):
            pass

    async def run() -> None:
        bodies = iter([b"x" * 1500] * 3)

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": next(bodies), "more_body": True}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "http", "path": "/v1/keys", "headers": []}
        await BodyLimit(echo, Limits(**SMALL))(scope, receive, send)

    with pytest.raises(Exception, match="at most 2000 bytes"):
        asyncio.run(run())
    assert [message["status"] for message in sent] == [200]


@pytest.mark.parametrize(
    ("path", "field", "limit"),
    [
        ("/v1/topics/" + "x" * 41, "name", "at most 40 characters here"),
        ("/v1/topics/" + "x" * 257, "name", "at most 256 characters"),
        ("/v1/topics/a%07b", "name", "control characters"),
    ],
)
def test_what_is_too_long_is_named(client: TestClient, path: str, field: str, limit: str) -> None:
    answer = client.get(path, headers=KEY)
    assert answer.status_code == 422
    assert answer.json()["field"] == field
    assert limit in answer.json()["detail"]


@pytest.mark.parametrize(
    ("query", "field", "limit"),
    [
        ("limit=31", "limit", "at most 30 rows a page (TOPICWEAVE_MAX_PAGE_SIZE; got 31)"),
        ("q=" + "x" * 41, "q", "at most 40 characters (TOPICWEAVE_MAX_ID_LENGTH; got 41)"),
    ],
)
def test_pages_have_a_limit(query: str, field: str, limit: str) -> None:
    app = FastAPI()
    app.state.limits = Limits(**SMALL)
    answer_problems(app)

    @app.get("/list")
    async def rows(page: PageQuery) -> int:
        return page.limit

    client = TestClient(app)
    assert client.get("/list?limit=30&q=x").json() == 30
    assert client.get("/list").json() == 30, "the default stays within the limit"
    answer = client.get(f"/list?{query}")
    assert answer.status_code == 422
    assert answer.json()["field"] == field
    assert limit in answer.json()["detail"]


def test_ids_topics_and_batches_are_checked() -> None:
    limits = Limits(**SMALL)
    limits.check_topics(["a", "b"])
    limits.check_batch([1, 2, 3])
    limits.check_ids(["x" * 40, "/é"], "broker")
    with pytest.raises(BadValue, match=r"topics: at most 2 topics a broker .*got 3"):
        limits.check_topics(["a", "b", "c"])
    with pytest.raises(BadValue, match=r"changes: at most 3 changes in a batch .*got 4"):
        limits.check_batch([1, 2, 3, 4])
    limits.check_subscriptions(5)
    with pytest.raises(BadValue, match=r"changes: at most 5 topics in a batch .*got 6"):
        limits.check_subscriptions(6)
    with pytest.raises(BadValue, match="broker: an id has at most 40 characters here"):
        limits.check_ids(["x" * 41], "broker")
    with pytest.raises(BadInput, match="broker: an id cannot be empty"):
        limits.check_ids([""], "broker")


def test_every_limit_is_a_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SMALL.items():
        monkeypatch.setenv(f"TOPICWEAVE_{name.upper()}", str(value))
    assert Limits.of(settings(tmp_path)) == Limits(**SMALL)


@pytest.mark.parametrize(
    ("name", "value"),
    [("max_page_size", 0), ("max_id_length", 257), ("max_id_length", 35), ("max_body_bytes", 10)],
)
def test_a_limit_that_cannot_be_is_refused(tmp_path: Path, name: str, value: int) -> None:
    with pytest.raises(BadValue, match=f"{name}: .*got {value}"):
        settings(tmp_path, **{name: value})


def test_the_longest_id_is_the_one_of_the_algorithms(tmp_path: Path) -> None:
    assert settings(tmp_path).max_id_length == LONGEST_ID
