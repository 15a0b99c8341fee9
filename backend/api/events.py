"""The live feed: changes as server-sent events, from any version that is kept, all of them or one broker's.

The id of an event is its version, so a client that lost the connection goes on with ``Last-Event-ID`` where it was.
A ping carries an id too: a client that follows one quiet broker need not go back to the last event it was sent.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable
from functools import lru_cache
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.sse import format_sse_event
from starlette.responses import StreamingResponse

from backend.api.access import key_works
from backend.api.answers.shape import shown
from backend.api.dependencies import LiveHistory, TheManager
from backend.api.history import RecordedChange, TouchedBroker
from backend.api.limits import RequestLimits
from backend.api.problems import problems
from backend.errors import BadValue, NotFound
from backend.history import History
from backend.metrics import Metrics
from backend.record import ChangeRecord
from backend.store.history import NEWEST

router = APIRouter(tags=["changes"])

SECONDS_BETWEEN_PINGS = 15.0
ENTRIES_KEPT = 1000
"""Of a record whose event is kept for all who follow: links and subscriptions."""
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""Proxies neither keep the stream nor wait for more of it before they pass it on."""

_DESCRIPTION = "`id`: the version; `event`: change; `data`: the change as in `GET /v1/changes`"
_EXAMPLE = f": ping\nid: 4710\n\nid: 4711\nevent: change\ndata: {json.dumps(shown(RecordedChange))}\n\n"
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": _DESCRIPTION,
        "content": {"text/event-stream": {"schema": {"type": "string"}, "example": _EXAMPLE}},
    },
    **problems(404, 410),
}


class EventStream(StreamingResponse):
    """Server-sent events, made here and not by the framework: its pings carry no id and come from a task of their own."""

    media_type = "text/event-stream"


async def _start(
    history: LiveHistory,
    after: Annotated[
        int | None,
        Query(ge=0, le=NEWEST, description="begin after this version; without it, with what comes"),
    ] = None,
    last_event_id: Annotated[
        str | None, Header(description="the id of the last event that was seen; comes before `after`")
    ] = None,
) -> int:
    """The version to go on after. A client that has seen more than there is followed another overlay."""
    field = "after"
    if last_event_id:
        field = "Last-Event-ID"
        if not (last_event_id.isascii() and last_event_id.isdigit() and len(last_event_id) < 19):
            raise BadValue(f"{field}: must be a version (got {last_event_id!r})", field=field)
        after = int(last_event_id)
    if after is None:
        return (await history.bounds()).version
    newest = await history.newest(after)
    if after > newest:
        raise NotFound(f"{field}: the overlay is at version {newest} (got {after})", field=field)
    await history.check_after(after, field)
    return after


@router.get("/events", response_class=EventStream, responses=_RESPONSES)
async def follow_changes(
    request: Request,
    history: LiveHistory,
    manager: TheManager,
    limits: RequestLimits,
    start: Annotated[int, Depends(_start)],
    broker: TouchedBroker = None,
) -> EventStream:
    """Changes as they are committed (server-sent events), with a comment `: ping` every 15 seconds.

    The stream ends where its key is revoked. 410 when changes that follow the given version are kept no more: read `GET /v1/overlay` and begin anew.
    """
    if broker is not None:
        limits.check_ids([broker], "broker")
    events = _events(history, start, broker, manager.metrics, lambda: key_works(request))
    return EventStream(events, headers=_HEADERS)


async def _events(
    history: History, after: int, broker: str | None, metrics: Metrics, allowed: Callable[[], bool]
) -> AsyncIterator[bytes]:
    cursor, sent = after, time.monotonic()
    checked = sent
    with metrics.event_clients.track_inprogress():
        yield _ping(cursor)
        async for record in history.follow(after):
            if time.monotonic() >= checked + SECONDS_BETWEEN_PINGS:
                if not allowed():
                    return
                checked = time.monotonic()
            if record is None:
                await history.feed.wait(max(0.0, sent + SECONDS_BETWEEN_PINGS - time.monotonic()))
            else:
                cursor = record.version
                if broker is None or record.touches(broker):
                    yield _event(record)
                    sent = time.monotonic()
            if time.monotonic() >= sent + SECONDS_BETWEEN_PINGS:
                yield _ping(cursor)
                sent = time.monotonic()


def _ping(version: int) -> bytes:
    return format_sse_event(comment="ping", id=str(version))


def _event(record: ChangeRecord) -> bytes:
    """The event of a record, which all who follow are sent: kept for them, where many of its size have room."""
    return _kept_event(record) if record.entries <= ENTRIES_KEPT else _made_event(record)


def _made_event(record: ChangeRecord) -> bytes:
    return format_sse_event(
        data_str=json.dumps(record.as_json(), ensure_ascii=False, separators=(",", ":")),
        event="change",
        id=str(record.version),
    )


_kept_event = lru_cache(maxsize=128)(_made_event)
