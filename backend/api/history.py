"""The history: changes, the difference of two versions, and figures along all of them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from backend.api.dependencies import LiveHistory, TheHeavyWork
from backend.api.limits import RequestLimits, limited_by
from backend.api.problems import problems
from backend.history.trend import point_as_json
from backend.record import Kind, Pair
from backend.store.history import NEWEST, Selection

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


class RecordedChange(BaseModel):
    """One version: who changed what, and the exact difference."""

    version: int
    group: str = Field(description="changes of one group were committed together")
    at: str = Field(json_schema_extra={"format": "date-time"})
    actor: str = Field(description="the name of the key that was used")
    kind: str
    broker: str | None = Field(description="whom the change is about, where that is one broker")
    joined: list[str]
    left: list[str]
    opened: list[Pair] = Field(description="links, the smaller id first")
    opened_reasons: list[str]
    closed: list[Pair]
    closed_reasons: list[str]
    subscribed: list[Pair] = Field(description="broker and topic; those of newcomers too")
    unsubscribed: list[Pair] = Field(description="broker and topic; those of leavers too")
    policy_before: dict[str, Any] | None = Field(
        None, description="of a change of the policy: the values that it changed"
    )
    policy_after: dict[str, Any] | None = Field(None, description="the same values afterwards")


class ChangePage(BaseModel):
    """Some changes in the order of their versions."""

    items: list[RecordedChange]
    next: int | None = Field(
        description="the `after` of the next page (`before`, in descending order); null on the last one"
    )


class NetDifference(BaseModel):
    """What lies between two versions; what came and went again in between is not part of it."""

    from_: int = Field(alias="from")
    to: int
    opened: list[Pair]
    closed: list[Pair]
    joined: list[str]
    left: list[str]
    subscribed: list[Pair]
    unsubscribed: list[Pair]


class TrendPointAnswer(BaseModel):
    """The overlay's figures at a version; links opened and closed since the point before."""

    version: int
    at: str = Field(json_schema_extra={"format": "date-time"})
    brokers: int | None
    links: int | None
    average_degree: float | None
    max_degree: int | None
    opened: int
    closed: int


class TrendAnswer(BaseModel):
    """Figures along the versions, oldest first; the last point is the present."""

    points: list[TrendPointAnswer]


@router.get("/changes", response_model=ChangePage, responses=problems(410))
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
        after, before, kind, actor, broker, _utc(since), _utc(until), descending=order == "desc"
    )
    found = await history.select(wanted, rows + 1)
    return {
        "items": [record.as_json() for record in found[:rows]],
        "next": found[rows - 1].version if len(found) > rows else None,
    }


@router.get("/diff", response_model=NetDifference, responses=problems(404, 410))
async def diff_versions(
    history: LiveHistory,
    heavy: TheHeavyWork,
    from_: Annotated[Version, Query(alias="from")],
    to: Version,
) -> dict[str, Any]:
    """The net difference between two versions, forwards or backwards; 410 when one is older than what is kept."""
    async with heavy.past.one():
        difference = await history.difference(from_, to)
    return {"from": from_, "to": to, **difference.as_json()}


@router.get("/trend")
async def read_trend(
    history: LiveHistory,
    points: Annotated[int, Query(ge=1, le=MOST_POINTS, description="at most so many points")] = 200,
) -> TrendAnswer:
    """Figures along all versions that are kept."""
    return TrendAnswer(
        points=[TrendPointAnswer(**point_as_json(point)) for point in await history.trend(points)]
    )


def _utc(moment: datetime | None) -> datetime | None:
    """A moment without a zone is taken as UTC, the zone that all answers are in."""
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment
