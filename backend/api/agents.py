"""Agents: heartbeats of leases, acknowledged versions, links that cannot be opened."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from backend.agents import Agents
from backend.api.access import Operator
from backend.api.answers.shape import Shape, example
from backend.api.changes import LONGEST_LEASE, ChangeAnswer, ChangeCall
from backend.api.paths import BrokerId
from backend.failures import avoid_link, refuse_kept
from backend.record import Pair
from backend.times import Moment

router = APIRouter(tags=["agents"])


class Heartbeat(BaseModel):
    """A broker lives."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"ttl_seconds": 60}]})
    ttl_seconds: int | None = Field(None, ge=1, le=LONGEST_LEASE, description="another term than before")


class RenewedLease(Shape):
    """Until when a broker is taken to live."""

    model_config = example(ttl_seconds=60, until="2026-11-16T19:21:01.123Z")
    ttl_seconds: int
    """The lease's term, from this heartbeat on."""
    until: Moment
    """When it expires, unless there is another heartbeat."""


class Ack(BaseModel):
    """The links of a version are open."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"version": 4711}]})
    version: int = Field(ge=0)


class Acked(Shape):
    """What this broker has acknowledged."""

    model_config = example(acked=4711)
    acked: int
    """The newest version that it has acknowledged."""


class Failure(BaseModel):
    """A link that cannot be opened."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"link": ["broker-3", "broker-7"], "reason": "connection refused"}]},
    )
    link: Pair
    reason: str = Field(min_length=1, max_length=500)


async def _agents(request: Request) -> Agents:
    agents: Agents = request.app.state.agents
    return agents


AllAgents = Annotated[Agents, Depends(_agents)]


@router.post("/brokers/{id:id}/heartbeat")
async def renew_lease(
    _: Operator,
    agents: AllAgents,
    id: BrokerId,  # noqa: A002
    beat: Heartbeat | None = None,
) -> RenewedLease:
    """The broker lives: its lease runs anew."""
    lease = await agents.heartbeat(id, beat.ttl_seconds if beat else None)
    return RenewedLease(ttl_seconds=lease.seconds, until=lease.until)


@router.post("/brokers/{id:id}/acks")
async def acknowledge_version(_: Operator, agents: AllAgents, id: BrokerId, ack: Ack) -> Acked:  # noqa: A002
    """All links that the broker has at this version are open."""
    return Acked(acked=await agents.acknowledge(id, ack.version))


@router.post("/brokers/{id:id}/failures")
async def report_failure(call: ChangeCall, id: BrokerId, failure: Failure) -> ChangeAnswer:  # noqa: A002
    """A link of this broker cannot be opened: it is closed, and planned around; 409 where that cannot be done yet, which is
    noted all the same."""
    body: dict[str, Any] = failure.model_dump()
    answer = await call.propose(
        avoid_link(call.writer, id, failure.link, failure.reason, datetime.now(UTC), call.actor), body
    )
    refuse_kept(failure.link, answer.closed)
    return answer
