"""How much one request may ask for. Each limit is a setting, is enforced here, and stands in the OpenAPI document.

A field or parameter says which limit is its own with ``json_schema_extra=limited_by("max_page_size")``; the document
then shows the number in force as ``maximum``, ``maxItems`` or ``maxLength``, and the setting's name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from typing import Annotated, Any, Self

from fastapi import Depends, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from algorithms.errors import shown
from algorithms.ids import check_ids
from algorithms.live import LiveOverlay, Plan
from backend.api.problems import problem_response
from backend.errors import BadValue, TooLarge
from backend.settings import Settings

UPLOADS = frozenset({"/v1/imports", "/v1/merges", "/v1/restores"})
"""Where files are sent: streamed to disk, so they may be larger than what is parsed in memory."""

LIMITED_BY = "x-limited-by"


@dataclass(frozen=True)
class Limits:
    """The limits in force; the names are those of the settings."""

    max_body_bytes: int
    max_upload_bytes: int
    max_id_length: int
    max_page_size: int
    max_batch_size: int
    max_broker_topics: int
    max_batch_subscriptions: int

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The limits that the settings name."""
        return cls(**{field.name: getattr(settings, field.name) for field in fields(cls)})

    def check_ids(self, values: Iterable[object], field: str) -> None:
        """Refuse the first value that cannot be an id here."""
        values = list(values)
        check_ids(values, field)
        for value in values:
            if len(str(value)) > self.max_id_length:
                raise BadValue(
                    f"{field}: an id has at most {self.max_id_length} characters here "
                    f"({variable('max_id_length')}; got {shown(value)})",
                    field=field,
                )

    def check_topics(self, topics: Collection[object], field: str = "topics") -> None:
        """Refuse more topics than one broker may have, or a name that cannot be one."""
        self._check_count(len(topics), "max_broker_topics", field, "topics a broker")
        self.check_ids(topics, field)

    def check_plan(self, live: LiveOverlay, plan: Plan) -> None:
        """Refuse a change after which a broker would have more topics than one may have."""
        more = Counter(broker for broker, _ in plan.subscribed)
        less = Counter(broker for broker, _ in plan.unsubscribed)
        joined = set(plan.joined)
        for broker, count in more.items():
            had = 0 if broker in joined else len(live.topics_of(broker))
            self._check_count(
                had + count - less[broker], "max_broker_topics", "topics", f"topics of {broker!r}"
            )

    def check_batch(self, changes: Collection[object], field: str = "changes") -> None:
        """Refuse more changes than one batch may have."""
        self._check_count(len(changes), "max_batch_size", field, "changes in a batch")

    def check_subscriptions(self, count: int, field: str = "changes") -> None:
        """Refuse more topics, of all its changes together, than one transaction should write."""
        self._check_count(count, "max_batch_subscriptions", field, "topics in a batch")

    def check_page(self, limit: int, field: str = "limit") -> None:
        """Refuse a page of more rows than are sent at once."""
        self._check_count(limit, "max_page_size", field, "rows a page")

    def check_search(self, text: str, field: str = "q") -> None:
        """Refuse to look for more than an id can hold."""
        self._check_count(len(text), "max_id_length", field, "characters")

    def _check_count(self, count: int, name: str, field: str, what: str) -> None:
        most = getattr(self, name)
        if count > most:
            raise BadValue(f"{field}: at most {most} {what} ({variable(name)}; got {count})", field=field)


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return f"TOPICWEAVE_{name.upper()}"


def limited_by(name: str) -> dict[str, Any]:
    """For ``json_schema_extra``: the field's upper bound is this limit."""
    assert name in {field.name for field in fields(Limits)}, name
    return {LIMITED_BY: variable(name)}


async def _limits(request: Request) -> Limits:
    limits: Limits = request.app.state.limits
    return limits


RequestLimits = Annotated[Limits, Depends(_limits)]
"""The limits in force, for a route that checks what it was sent."""


async def check_path_ids(request: Request, limits: RequestLimits) -> None:
    """Refuse an id in the path that no broker, topic or record can have."""
    for name, value in request.path_params.items():
        if isinstance(value, str):
            limits.check_ids([value], name)


class BodyLimit:
    """Middleware: a body that is too long is answered with 413, whether its length was announced or only shows."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, counting what it sends."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        name = "max_upload_bytes" if scope["path"] in UPLOADS else "max_body_bytes"
        most: int = getattr(self._limits, name)
        problem = TooLarge(f"body: at most {most} bytes ({variable(name)})", field="body")
        if _announced(scope) > most:
            await problem_response(problem)(scope, receive, send)
            return
        seen = 0
        refused = begun = False

        async def counted() -> Message:
            nonlocal seen, refused
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > most:
                refused = True
                raise problem
            return message

        async def answered(message: Message) -> None:
            nonlocal begun
            # Whoever reads the body may turn our problem into one of its own: what it answers then is not sent.
            if refused and not begun:
                return
            begun = True
            await send(message)

        try:
            await self._app(scope, counted, answered)
        except TooLarge:
            if not refused or begun:
                raise
        if refused and not begun:
            await problem_response(problem)(scope, receive, send)


def _announced(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0
