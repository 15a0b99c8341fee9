"""Errors as RFC 9457 problem+json: type, title, status, detail, and the field at fault where there is one."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from neo4j.exceptions import DriverError, Neo4jError
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from algorithms.errors import BadInput, shown
from backend import errors
from backend.errors import BadValue, NotReady, Problem, first_line
from backend.queries import is_refused

MEDIA_TYPE = "application/problem+json"


class ProblemBody(BaseModel):
    """What every error is answered with (RFC 9457)."""

    model_config = ConfigDict(
        title="Problem",
        json_schema_extra={
            "examples": [
                {
                    "type": "urn:topicweave:problem:not-found",
                    "title": "There is no such thing",
                    "status": 404,
                    "detail": "topic: no such topic (got '/lidar')",
                    "field": "topic",
                }
            ]
        },
    )
    type: str = Field(description="`urn:topicweave:problem:` and a slug that stays; decide by this")
    title: str = Field(description="what kind of problem it is, for people")
    status: int
    detail: str = Field(description="one line about this very request")
    field: str = Field(default="", description="the header, parameter or member at fault, where there is one")
    request_id: str = Field(default="", description="with 500: where to look in the API's log")


def problem_classes() -> dict[int, type[Problem]]:
    """The problem that stands for each status."""
    classes = [value for value in vars(errors).values() if isinstance(value, type)]
    return {kind.status: kind for kind in reversed(classes) if issubclass(kind, Problem)}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For ``responses=`` of a route: the problems it knows beside those that all routes share.

    What follows from a route's shape is documented without this: 401, 403, 404 for an id in the path, 409 for what
    changes something, 412 with If-Match, 413, 422, 500, 503.
    """
    titles = {status: kind.title for status, kind in problem_classes().items()}
    return {status: {"description": titles[status]} for status in statuses}


def problem_response(problem: Problem, request_id: str | None = None) -> JSONResponse:
    """The answer to a request that met a problem."""
    return _response(
        problem.status,
        problem.slug,
        problem.title,
        problem.detail,
        problem.field,
        problem.headers,
        request_id,
    )


def answer_problems(app: FastAPI) -> None:
    """Make every error of the app leave as problem+json; what nobody foresaw is answered in ``requests``."""

    @app.exception_handler(Problem)
    async def ours(_: Request, problem: Problem) -> JSONResponse:
        return problem_response(problem)

    @app.exception_handler(BadInput)
    async def bad_input(_: Request, error: BadInput) -> JSONResponse:
        return problem_response(BadValue(str(error), field=error.field))

    @app.exception_handler(RequestValidationError)
    async def bad_request(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        field = _field(first["loc"], first["type"])
        return problem_response(
            BadValue(f"{field}: {first['msg']} (got {_shown(first.get('input'))})", field=field)
        )

    @app.exception_handler(Neo4jError)
    @app.exception_handler(DriverError)
    async def database_away(_: Request, error: Exception) -> JSONResponse:
        if isinstance(error, Neo4jError) and is_refused(error):
            raise error  # it answers, and a statement of ours is at fault: what nobody foresaw
        return problem_response(NotReady(f"Neo4j does not answer: {first_line(error)}"))

    @app.exception_handler(HTTPException)
    async def framework(_: Request, error: HTTPException) -> JSONResponse:
        status = HTTPStatus(error.status_code)
        if status is HTTPStatus.BAD_REQUEST:  # how the framework calls a body it cannot read
            return problem_response(BadValue(f"body: {error.detail}", field="body"))
        slug = status.phrase.lower().replace(" ", "-")
        return _response(
            status, slug, status.phrase, status.description or status.phrase, None, error.headers or {}
        )


def _field(place: tuple[int | str, ...], kind: str) -> str:
    """Where a wrong value stood, as a path within the body (``topics.3``) or the parameter's name."""
    if kind == "json_invalid":
        return "body"
    return ".".join(map(str, place[1:])) or str(place[0])


def _response(
    status: int,
    slug: str,
    title: str,
    detail: str,
    field: str | None,
    headers: Mapping[str, str],
    request_id: str | None = None,
) -> JSONResponse:
    body = {"type": f"urn:topicweave:problem:{slug}", "title": title, "status": int(status)}
    # A field may be named after what was sent, and that may be text no encoding can carry.
    body["detail"] = _encodable(detail)
    if field is not None:
        body["field"] = _encodable(field)
    if request_id is not None:
        body["request_id"] = request_id
    return JSONResponse(body, status, dict(headers), MEDIA_TYPE)


def _shown(value: object) -> str:
    try:
        return shown(value)
    except RecursionError:
        return "something nested too deep to be shown"


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
