"""The history: changes, the difference of two versions, and figures along all of them."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse
from pydantic import Field

from backend.api.answers.shape import Shape, answered, example, shown
from backend.api.dependencies import LiveHistory, TheHeavyWork
from backend.api.limits import RequestLimits, limited_by
from backend.api.problems import problems
from backend.errors import BadValue
from backend.history.trend import point_as_json
from backend.record import Kind, Pair
from backend.store.history import NEWEST, Selection
from backend.times import Moment

router = APIRouter(tags=["changes"])

DEFAULT_PAGE_SIZE = 50
LONGEST_ACTOR = 256
MOST_POINTS = 2000

Version = Annotated[int, Query(ge=0, le=NEWEST, description="a version of the overlay")]
OldVersion = Annotated[
    int | None,
    Query(ge=0, le=NEWEST, description="as it was at this version; 410 when that is older than what is kept"),
]


PageSize = Annotated[int, Field(ge=1, json_schema_extra=limited_by("max_page_size"))]
TouchedBroker = Annotated[
    Annotated[str, Field(json_schema_extra=limited_by("max_id_length"))] | None,
    Query(description="only changes that touch this broker, its links or its subscriptions"),
]


class RecordedChange(Shape):
    """One version: who changed what, and the exact difference."""

    model_config = example(
        version=4711,
        group="3f1b7c52-1f0e-4a83-8f0a-2f0f6f1c9d11",
        at="2026-11-16T19:20:01.123Z",
        actor="agent-7",
        kind="join",
        broker="broker-7",
        joined=["broker-7"],
        left=[],
        opened=[["broker-7", "broker-9"]],
        opened_reasons=["connects /sensing/lidar, /tf"],
        closed=[],
        closed_reasons=[],
        subscribed=[["broker-7", "/sensing/lidar"], ["broker-7", "/tf"]],
        unsubscribed=[],
        policy_before=None,
        policy_after=None,
    )
    version: int = Field(description="the version that the change made")
    group: str = Field(description="changes of one group were committed together")
    at: Moment = Field(description="when it was committed")
    actor: str = Field(description="the name of the key that was used")
    kind: Kind = Field(description="what was asked for; a batch may be several of them")
    broker: str | None = Field(description="whom the change is about, where that is one broker")
    joined: list[str] = Field(description="brokers that were not there before")
    left: list[str] = Field(description="brokers that are there no more")
    opened: list[Pair] = Field(description="links, the smaller id first")
    opened_reasons: list[str] = Field(description="why, link by link")
    closed: list[Pair] = Field(description="links, the smaller id first")
    closed_reasons: list[str] = Field(description="why, link by link")
    subscribed: list[Pair] = Field(description="broker and topic; those of newcomers too")
    unsubscribed: list[Pair] = Field(description="broker and topic; those of leavers too")
    policy_before: dict[str, Any] | None = Field(
        description="of a change of the policy: the values that it changed"
    )
    policy_after: dict[str, Any] | None = Field(description="the same values afterwards")


class ChangePage(Shape):
    """Some changes in the order of their versions."""

    model_config = example(items=[shown(RecordedChange)], next=4711)
    items: list[RecordedChange] = Field(description="the changes")
    next: int | None = Field(
        description="the `after` of the next page (`before`, in descending order); null on the last one"
    )


class NetDifference(Shape):
    """What lies between two versions; what came and went again in between is not part of it."""

    model_config = example(
        **{
            "from": 4630,
            "to": 4711,
            "opened": [["broker-7", "broker-9"]],
            "closed": [["broker-3", "broker-9"]],
            "joined": ["broker-7"],
            "left": ["broker-3"],
            "subscribed": [["broker-7", "/tf"]],
            "unsubscribed": [["broker-3", "/tf"]],
        }
    )
    from_: int = Field(alias="from", description="the version that it leads from")
    to: int = Field(description="the version that it leads to")
    opened: list[Pair] = Field(description="links, the smaller id first")
    closed: list[Pair] = Field(description="links, the smaller id first")
    joined: list[str] = Field(description="brokers that are there only at `to`")
    left: list[str] = Field(description="brokers that are there only at `from`")
    subscribed: list[Pair] = Field(description="broker and topic; those of newcomers too")
    unsubscribed: list[Pair] = Field(description="broker and topic; those of leavers too")


class TrendPointAnswer(Shape):
    """The overlay's figures at a version; links opened and closed since the point before."""

    model_config = example(
        version=4711,
        at="2026-11-16T19:20:01.123Z",
        brokers=52,
        links=218,
        average_degree=8.384615384615385,
        max_degree=27,
        opened=1,
        closed=0,
    )
    version: int = Field(description="the last version that the point stands for")
    at: str = Field(json_schema_extra={"format": "date-time"}, description="when that was committed")
    brokers: int | None = Field(description="how many brokers there were; null where that was not recorded")
    links: int | None = Field(description="how many links were open; null where that was not recorded")
    average_degree: float | None = Field(description="links a broker; null where that was not recorded")
    max_degree: int | None = Field(
        description="the most links that one broker had; null where that was not recorded"
    )
    opened: int = Field(description="links opened since the point before")
    closed: int = Field(description="links closed since the point before")


class TrendAnswer(Shape):
    """Figures along the versions, oldest first; the last point is the present."""

    model_config = example(points=[shown(TrendPointAnswer)])
    points: list[TrendPointAnswer] = Field(description="the points")


@router.get("/changes", responses=answered(ChangePage) | problems(410))
async def list_changes(
    history: LiveHistory,
    limits: RequestLimits,
    after: Annotated[int | None, Query(ge=0, le=NEWEST, description="only later versions")] = None,
    before: Annotated[int | None, Query(ge=0, le=NEWEST, description="only earlier versions")] = None,
    limit: Annotated[PageSize | None, Query(description="changes a page")] = None,
    kind: Annotated[Kind | None, Query(description="only changes of this kind")] = None,
    actor: Annotated[str | None, Query(max_length=LONGEST_ACTOR, description="only this key's")] = None,
    broker: TouchedBroker = None,
    since: Annotated[datetime | None, Query(description="only from this moment on")] = None,
    until: Annotated[datetime | None, Query(description="only before this moment")] = None,
    order: Annotated[Literal["asc", "desc"], Query(description="oldest or newest first")] = "asc",
) -> dict[str, Any]:
    """The history of the overlay, one change a version; 410 when `after` is older than what is kept."""
    rows = min(DEFAULT_PAGE_SIZE, limits.max_page_size) if limit is None else limit
    limits.check_page(rows)
    if broker is not None:
        limits.check_ids([broker], "broker")
    wanted = Selection(
        after,
        before,
        kind,
        actor,
        broker,
        _utc(since, "since"),
        _utc(until, "until"),
        descending=order == "desc",
    )
    found = await history.select(wanted, rows + 1)
    return {
        "items": [record.as_json() for record in found[:rows]],
        "next": found[rows - 1].version if len(found) > rows else None,
    }


@router.get("/diff", responses=answered(NetDifference) | problems(404, 410))
async def diff_versions(
    history: LiveHistory,
    heavy: TheHeavyWork,
    from_: Annotated[Version, Query(alias="from")],
    to: Version,
) -> Response:
    """The net difference between two versions, forwards or backwards; 410 when one is older than what is kept."""
    async with heavy.past.one():
        difference = await history.difference(from_, to)
        # Across an import or an activation it is as long as the overlay has links.
        return await asyncio.to_thread(
            lambda: JSONResponse({"from": from_, "to": to, **difference.as_json()})
        )


@router.get("/trend")
async def read_trend(
    history: LiveHistory,
    points: Annotated[int, Query(ge=1, le=MOST_POINTS, description="at most so many points")] = 200,
) -> TrendAnswer:
    """Figures along all versions that are kept."""
    return TrendAnswer(
        points=[TrendPointAnswer(**point_as_json(point)) for point in await history.trend(points)]
    )


def _utc(moment: datetime | None, field: str) -> datetime | None:
    """A moment in UTC, the zone that all answers are in; one without a zone is taken as such."""
    if moment is None:
        return None
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise BadValue(
            f"{field}: no moment of the years 1 to 9999 in UTC (got {moment.isoformat()!r})", field=field
        ) from None
