"""Logs and request ids: one JSON object a line, each with the id that the caller got back."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from fastapi import APIRouter, FastAPI
from fastapi.responses import StreamingResponse

from backend.api import create_app
from backend.logs import configure_logs
from tests.backend.test_limits import KEY, offline, settings


@pytest.fixture
def restored() -> Iterator[None]:
    """The root logger as pytest wants it, afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers, root.level = handlers, level
    structlog.reset_defaults()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def lines(restored: None) -> Any:
    stream = io.StringIO()
    configure_logs(stream=stream)
    return lambda: [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.fixture
def app(tmp_path: Path) -> FastAPI:
    app = create_app(settings(tmp_path))
    broken = APIRouter()

    @broken.get("/broken")
    async def broken_route() -> None:
        logging.getLogger("somewhere.else").warning("about to %s", "fail")
        raise ZeroDivisionError("on purpose")

    @broken.get("/half")
    async def half_route() -> StreamingResponse:
        def chunks() -> Iterator[bytes]:
            yield b"half"
            raise ZeroDivisionError("too late")

        return StreamingResponse(chunks())

    app.include_router(broken)
    return app


def test_an_access_line_says_who_and_what(lines: Any, app: FastAPI) -> None:
    with offline(app) as client:
        answer = client.get("/v1/me", headers=KEY)
        client.get("/v1/topics/%2Fsecret", headers={"X-API-Key": "guess"})
    first, second = [line for line in lines() if line["event"] == "request"]
    assert first["request_id"] == answer.headers["x-request-id"]
    assert (first["method"], first["route"], first["status"], first["actor"]) == (
        "GET",
        "/v1/me",
        200,
        "admin",
    )
    assert first["level"] == "info"
    assert first["at"].endswith("Z")
    assert 0 < first["milliseconds"] < 60_000
    assert (second["route"], second["status"], second["actor"]) == ("/v1/topics/{name}", 401, None)
    assert "guess" not in json.dumps(lines())


def test_health_is_not_worth_a_line(lines: Any, app: FastAPI) -> None:
    with offline(app) as client:
        for path in ("/healthz", "/readyz", "/metrics"):
            client.get(path)
    assert not [line for line in lines() if line["event"] == "request"]


@pytest.mark.parametrize("given", ["trace-1", "a/b:c=d+e@f.g", "x" * 128])
def test_a_sane_request_id_is_kept(app: FastAPI, given: str) -> None:
    with offline(app) as client:
        assert client.get("/healthz", headers={"X-Request-ID": given}).headers["x-request-id"] == given


@pytest.mark.parametrize("given", ["", "x" * 129, "two words", '"quoted"', "é", "{}", "<b>"])
def test_another_one_is_replaced(app: FastAPI, given: str) -> None:
    with offline(app) as client:
        made = client.get("/healthz", headers={b"X-Request-ID": given.encode()}).headers["x-request-id"]
        assert made != given
        assert len(made) == 16


def test_what_nobody_foresaw_is_answered_and_logged_under_one_id(lines: Any, app: FastAPI) -> None:
    with offline(app) as client:
        answer = client.get("/broken", headers={"X-Request-ID": "look-here"})
        assert client.get("/healthz").status_code == 200
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-request-id"] == "look-here"
    assert answer.json()["request_id"] == "look-here"
    assert "on purpose" not in answer.text
    ours = [line for line in lines() if line.get("request_id") == "look-here"]
    assert [line["event"] for line in ours] == ["about to fail", "an error nobody foresaw", "request"]
    assert "ZeroDivisionError: on purpose" in ours[1]["exception"]
    assert ours[2]["status"] == 500


def test_an_answer_that_fails_half_way_is_broken_off(lines: Any, app: FastAPI) -> None:
    with offline(app) as client, pytest.raises(ZeroDivisionError):
        client.get("/half")
    assert "an error nobody foresaw" in [line["event"] for line in lines()]


def test_a_problem_before_the_routes_has_its_id_too(lines: Any, app: FastAPI) -> None:
    with offline(app) as client:
        for path, status in (("/v1/topics/%ff", 422), ("/nothing", 404)):
            answer = client.get(path, headers=KEY)
            assert answer.status_code == status
            assert answer.headers["x-request-id"]
    assert [line["status"] for line in lines() if line["event"] == "request"] == [422, 404]


@pytest.mark.parametrize(
    ("log_format", "terminal", "is_json"),
    [
        ("auto", True, False),
        ("auto", False, True),
        ("json", True, True),
        ("text", False, False),
    ],
)
def test_people_get_text_and_machines_get_json(
    restored: None, log_format: str, terminal: bool, is_json: bool
) -> None:
    stream = Terminal() if terminal else io.StringIO()
    configure_logs(log_format, stream=stream)
    logging.getLogger("backend").info("a line with ü")
    line = stream.getvalue().strip()
    assert "a line with ü" in line
    assert line.startswith("{") == is_json


def test_the_level_holds(restored: None) -> None:
    stream = io.StringIO()
    configure_logs(level="error", stream=stream)
    logging.getLogger("backend").warning("quiet")
    logging.getLogger("backend").error("loud")
    assert [json.loads(line)["event"] for line in stream.getvalue().splitlines()] == ["loud"]
