"""Ids in paths: one percent-encoded segment each, slashes and all.

The server decodes ``%2F`` before it routes, so a topic ``/diagnostics`` would fall apart into segments. Here routes
are matched against the raw path, and the convertor ``id`` decodes each segment by itself:
``/topics/{name:id}``.
"""

from __future__ import annotations

from typing import Annotated, ClassVar
from urllib.parse import quote, unquote, unquote_to_bytes

from fastapi import Path
from starlette.convertors import Convertor, register_url_convertor
from starlette.types import ASGIApp, Receive, Scope, Send

from backend.api.limits import limited_by
from backend.api.problems import problem_response
from backend.errors import BadValue


class IdConvertor(Convertor[str]):
    """One segment of the raw path, decoded."""

    regex: ClassVar[str] = "[^/]+"

    def convert(self, value: str) -> str:
        """The id that the segment stands for."""
        return unquote(value, errors="strict")

    def to_string(self, value: str) -> str:
        """The segment that stands for an id."""
        return quote(value, safe="")


register_url_convertor("id", IdConvertor())

TopicName = Annotated[
    str,
    Path(
        description="the topic's name, as one percent-encoded segment",
        examples=["/sensing/lidar"],
        json_schema_extra=limited_by("max_id_length"),
    ),
]
"""The parameter of a route with ``{name:id}``; importing it also makes the convertor known before the route is."""
BrokerId = Annotated[
    str,
    Path(
        description="the broker's id, as one percent-encoded segment",
        examples=["broker-7"],
        json_schema_extra=limited_by("max_id_length"),
    ),
]
ImportId = Annotated[
    str,
    Path(
        description="the id of an import, a merge or a restore, as its start was answered",
        json_schema_extra=limited_by("max_id_length"),
    ),
]
KeyId = Annotated[
    str,
    Path(
        description="the key's id, as `GET /v1/keys` lists it",
        examples=["3f9c2a71d0b4"],
        json_schema_extra=limited_by("max_id_length"),
    ),
]

RebuildId = Annotated[
    str,
    Path(
        description="the rebuild's id, as its request answered it",
        examples=["5f0c3a52-6f2e-4b5e-9a53-0c2f3f9f7f1d"],
        json_schema_extra=limited_by("max_id_length"),
    ),
]
SimulationId = Annotated[
    str,
    Path(
        description="the simulation's id, as its request answered it",
        examples=["5f0c3a52-6f2e-4b5e-9a53-0c2f3f9f7f1d"],
        json_schema_extra=limited_by("max_id_length"),
    ),
]


class RawPaths:
    """Middleware: routes see the path as it was sent; one that is not UTF-8 is refused here."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its raw path."""
        if scope["type"] == "http":
            raw: bytes = scope["raw_path"]
            try:
                unquote_to_bytes(raw).decode()
            except UnicodeDecodeError:
                problem = BadValue(
                    f"path: not UTF-8 when decoded (got {raw.decode('latin-1')!r})", field="path"
                )
                await problem_response(problem)(scope, receive, send)
                return
            scope["path"] = raw.decode(
                "latin-1"
            )  # in place: what is around this must see the route that is found
        await self._app(scope, receive, send)
