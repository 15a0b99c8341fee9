"""Errors as RFC 9457 problem+json: type, title, status, detail, and the field at fault where there is one."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from neo4j.exceptions import DriverError, Neo4jError
from starlette.exceptions import HTTPException

from algorithms.errors import BadInput
from backend.errors import BadValue, NotReady, Problem

MEDIA_TYPE = "application/problem+json"


def problem_response(problem: Problem) -> JSONResponse:
    """The answer to a request that met a problem."""
    return _response(problem.status, problem.slug, problem.title, problem.detail, problem.field)


def answer_problems(app: FastAPI) -> None:
    """Make every error of the app leave as problem+json."""

    @app.exception_handler(Problem)
    async def ours(_: Request, problem: Problem) -> JSONResponse:
        return problem_response(problem)

    @app.exception_handler(BadInput)
    async def bad_input(_: Request, error: BadInput) -> JSONResponse:
        return problem_response(BadValue(str(error), field=error.field))

    @app.exception_handler(RequestValidationError)
    async def bad_request(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        field = str(first["loc"][-1])
        return problem_response(
            BadValue(f"{field}: {first['msg']} (got {first.get('input')!r})", field=field)
        )

    @app.exception_handler(Neo4jError)
    @app.exception_handler(DriverError)
    async def database_away(_: Request, error: Exception) -> JSONResponse:
        return problem_response(NotReady(f"Neo4j does not answer: {str(error).splitlines()[0]}"))

    @app.exception_handler(HTTPException)
    async def framework(_: Request, error: HTTPException) -> JSONResponse:
        status = HTTPStatus(error.status_code)
        slug = status.phrase.lower().replace(" ", "-")
        return _response(
            status, slug, status.phrase, status.description or status.phrase, None, error.headers
        )

    @app.exception_handler(Exception)
    async def unforeseen(_: Request, __: Exception) -> JSONResponse:
        return problem_response(Problem("an error nobody foresaw; the API's log has its trace"))


def _response(
    status: int, slug: str, title: str, detail: str, field: str | None, headers: object = None
) -> JSONResponse:
    body = {"type": f"urn:topicweave:problem:{slug}", "title": title, "status": int(status), "detail": detail}
    if field is not None:
        body["field"] = field
    return JSONResponse(body, status, headers if isinstance(headers, dict) else None, MEDIA_TYPE)
