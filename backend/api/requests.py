"""Around every request: an id that its caller, its log lines and its answer share, and its place in the figures.

Outermost of the app, so that whatever happens inside is counted, logged with who asked for it, and answered.
"""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.api.openapi import route_templates
from backend.api.problems import problem_response
from backend.errors import Problem
from backend.metrics import Metrics

log = logging.getLogger(__name__)

HEADER = "X-Request-ID"
NO_ROUTE = "(none)"
_SANE = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_QUIET = frozenset({"/healthz", "/readyz", "/metrics"})
_CLIENT_LEFT = 499
"""Not a status anyone receives: the caller hung up before there was an answer."""


class Requests:
    """Middleware: the request's id, its access line, its figures, and an answer to what nobody foresaw."""

    def __init__(self, app: ASGIApp, metrics: Metrics, document: Callable[[], dict[str, Any]]) -> None:
        self._app = app
        self._metrics = metrics
        self._document = document

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        request_id = state["request_id"] = _request_id(scope)
        began = time.perf_counter()
        status: int | None = None
        seconds: float | None = None

        async def identified(message: Message) -> None:
            nonlocal status, seconds
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers[HEADER] = request_id
                if headers.get("content-type", "").startswith("text/event-stream"):
                    seconds = time.perf_counter() - began
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self._app(scope, receive, identified)
            except ClientDisconnect:
                status = status or _CLIENT_LEFT
            except Exception:
                log.exception(
                    "an error nobody foresaw", extra={"method": scope["method"], "path": scope["path"]}
                )
                if status is not None:
                    raise  # half an answer is out: the connection must break, or it would look whole
                problem = Problem(f"an error nobody foresaw; the API's log has its trace under {request_id}")
                await problem_response(problem, request_id=request_id)(scope, receive, identified)
            finally:
                ended = time.perf_counter() - began
                method = scope["method"] if scope["method"] in _METHODS else "(other)"
                route = self._template(scope)
                answered = status or _CLIENT_LEFT
                self._metrics.request(method, route, answered, ended if seconds is None else seconds)
                log.log(
                    logging.DEBUG if route in _QUIET else logging.INFO,
                    "request",
                    extra={
                        "method": method,
                        "route": route,
                        "status": answered,
                        "milliseconds": round(ended * 1000, 2),
                        "actor": state.get("actor"),
                    },
                )

    def _template(self, scope: Scope) -> str:
        """The path of the route that served, with names for ids; a route of a router does not know its prefix."""
        route = scope.get("route")
        return self._templates.get(getattr(route, "name", ""), NO_ROUTE)

    @cached_property
    def _templates(self) -> dict[str, str]:
        return route_templates(self._document())


def _request_id(scope: Scope) -> str:
    """The caller's own id if it can stand in a log and a header as it is, else a new one."""
    given = Headers(scope=scope).get(HEADER, "")
    return given if _SANE.fullmatch(given) else secrets.token_hex(8)
