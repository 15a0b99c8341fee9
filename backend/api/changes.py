"""Changes: brokers join, leave and subscribe; each call answers with its version and the links opened and closed.

Every one of these takes ``?dry_run=true`` (the plan, and nothing changes), ``If-Match`` (only at that version) and
``Idempotency-Key`` (a repeated request gets the first answer, for a day).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from algorithms.errors import shown
from algorithms.live import Change, LiveOverlay, Plan, join, leave, set_topics, subscribe, unsubscribe
from backend.api.access import Operator
from backend.api.answers.shape import Shape, example
from backend.api.dependencies import LiveWriter
from backend.api.limits import Limits, RequestLimits, limited_by
from backend.api.paths import BrokerId, TopicName
from backend.errors import BadValue
from backend.live import Answer, Proposal, Writer
from backend.live.proposal import Repeatable, planner, takes_long
from backend.record import Kind, Pair
from backend.store import BrokerFacts, Lease

router = APIRouter(tags=["changes"])

LONGEST_LEASE = 86_400
LONGEST_KEY = 200
DEEPEST = 20
"""Attributes within attributes: every reader can take so many, and nobody needs more."""


def _not_too_deep(attributes: dict[str, Any]) -> dict[str, Any]:
    level: list[Any] = [attributes]
    for _ in range(DEEPEST):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
    if level:
        raise ValueError(f"at most {DEEPEST} levels deep")
    return attributes


Attributes = Annotated[dict[str, Any], AfterValidator(_not_too_deep)]
Topics = Annotated[list[str], Field(json_schema_extra=limited_by("max_broker_topics"))]


class ChangeAnswer(Shape):
    """What a change came to."""

    model_config = example(
        version=4711,
        opened=[["broker-7", "broker-9"]],
        closed=[],
        opened_reasons=["connects /sensing/lidar, /tf"],
        closed_reasons=[],
        dry_run=False,
    )
    version: int = Field(
        description="the overlay's version with this change; the one before it where nothing changed"
    )
    opened: list[Pair] = Field(description="links to open, the smaller id first")
    closed: list[Pair] = Field(description="links to close")
    opened_reasons: list[str] = Field(description="why, link by link")
    closed_reasons: list[str] = Field(description="why, link by link")
    dry_run: bool = Field(False, description="whether this is only the plan: nothing was changed")

    @classmethod
    def of(cls, answer: Answer, *, dry_run: bool = False) -> ChangeAnswer:
        """The answer in the words of the API."""
        return cls(**answer.as_json(), dry_run=dry_run)


class NewBroker(BaseModel):
    """A broker that joins."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"id": "broker-7", "topics": ["/sensing/lidar", "/tf"], "ttl_seconds": 60}]
        },
    )
    id: str = Field(json_schema_extra=limited_by("max_id_length"))
    topics: Topics
    attributes: Attributes = Field(
        default_factory=dict, description="whatever operators want to know about it"
    )
    ttl_seconds: int | None = Field(
        None,
        ge=1,
        le=LONGEST_LEASE,
        description="it must be heard of this often, or it is taken to have left",
    )


class TopicSet(BaseModel):
    """All topics of a broker."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"topics": ["/tf"]}]})
    topics: Topics


class Step(BaseModel):
    """One change of a batch."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"op": "subscribe", "broker": "broker-7", "topics": ["/tf"]}]},
    )
    op: Literal["join", "leave", "subscribe", "unsubscribe", "set-topics"]
    broker: str = Field(json_schema_extra=limited_by("max_id_length"))
    topics: Topics | None = None
    attributes: Attributes = Field(default_factory=dict)
    ttl_seconds: int | None = Field(None, ge=1, le=LONGEST_LEASE)

    def change(self, where: str) -> Change:
        """The change it stands for."""
        if (self.topics is None) != (self.op == "leave"):
            wanted = "takes no topics" if self.op == "leave" else "needs topics"
            raise BadValue(
                f"{where}.topics: {self.op} {wanted} (got {self.topics!r})", field=f"{where}.topics"
            )
        if self.op != "join" and (self.attributes or self.ttl_seconds):
            raise BadValue(
                f"{where}: only a join has attributes and ttl_seconds (got {self.op!r})", field=where
            )
        topics = self.topics or []
        return {
            "join": lambda: join(self.broker, topics),
            "leave": lambda: leave(self.broker),
            "subscribe": lambda: subscribe(self.broker, topics),
            "unsubscribe": lambda: unsubscribe(self.broker, topics),
            "set-topics": lambda: set_topics(self.broker, topics),
        }[self.op]()


@dataclass
class Call:
    """One call that changes the overlay: who, under which conditions, and whether for real."""

    request: Request
    actor: str
    writer: Writer
    limits: Limits
    if_match: int | None
    key: str | None
    dry_run: bool

    async def make(
        self,
        kind: Kind,
        changes: Change | list[Change],
        broker: str | None,
        body: object = None,
        newcomers: Mapping[str, BrokerFacts] | None = None,
    ) -> ChangeAnswer:
        """Have a change planned and committed; or only planned."""

        def plan(live: LiveOverlay) -> Plan:
            found = live.plan(changes)
            self.limits.check_plan(live, found)
            return found

        steps = changes if isinstance(changes, list) else [changes]
        return await self.propose(
            Proposal(
                kind,
                self.actor,
                planner(plan),
                broker=broker,
                newcomers=newcomers or {},
                ahead=True,
                slow=takes_long(self.writer.mirror.live, steps),
            ),
            body,
        )

    async def propose(self, proposal: Proposal, body: object = None, *, holds: bool = False) -> ChangeAnswer:
        """The same for a proposal made elsewhere, by one who holds the writer or not."""
        proposal.if_match = self.if_match
        if self.dry_run:
            return ChangeAnswer.of(await self.writer.preview(proposal), dry_run=True)
        if self.key is not None:
            path = self.request.scope["path"]
            proposal.repeatable = Repeatable.of_request(self.actor, self.key, self.request.method, path, body)
        write = self.writer.write_now if holds else self.writer.submit
        return ChangeAnswer.of(await write(proposal))


async def _call(
    request: Request,
    caller: Operator,
    writer: LiveWriter,
    limits: RequestLimits,
    if_match: Annotated[
        str | None,
        Header(description='only if the overlay is at this version: "4711"', examples=['"4711"']),
    ] = None,
    idempotency_key: Annotated[
        Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_KEY)] | None,
        Header(
            alias="Idempotency-Key",
            description="a repeated request gets the first answer, for a day",
            examples=["join-broker-7-1"],
        ),
    ] = None,
    dry_run: Annotated[bool, Query(description="answer with the plan, and change nothing")] = False,
) -> Call:
    return Call(request, caller.name, writer, limits, _version(if_match), idempotency_key, dry_run)


ChangeCall = Annotated[Call, Depends(_call)]


def _version(if_match: str | None) -> int | None:
    if if_match is None or if_match.strip() == "*":
        return None
    text = if_match.strip().removeprefix("W/").strip('"')
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise BadValue(
            f'If-Match: must be a version of the overlay, like "4711" (got {if_match!r})', field="If-Match"
        )
    return int(text)


def facts_of(attributes: dict[str, Any], ttl_seconds: int | None) -> BrokerFacts:
    """What a newcomer brings beside its topics; a lease runs from now."""
    try:
        json.dumps(attributes, allow_nan=False, ensure_ascii=False).encode()
    except ValueError as error:
        raise BadValue(
            f"attributes: no JSON that every reader can take: {error} (got {shown(attributes)})",
            field="attributes",
        ) from None
    lease = Lease(ttl_seconds, datetime.now(UTC) + timedelta(seconds=ttl_seconds)) if ttl_seconds else None
    return BrokerFacts(attributes, lease)


@router.post("/brokers", status_code=201)
async def join_broker(
    call: ChangeCall, broker: NewBroker, limits: RequestLimits, response: Response
) -> ChangeAnswer:
    """A broker joins with its topics; 409 if it exists."""
    limits.check_ids([broker.id], "id")
    limits.check_topics(broker.topics)
    if call.dry_run:
        response.status_code = 200
    return await call.make(
        "join",
        join(broker.id, broker.topics),
        broker.id,
        broker.model_dump(),
        {broker.id: facts_of(broker.attributes, broker.ttl_seconds)},
    )


@router.delete("/brokers/{id:id}")
async def leave_broker(call: ChangeCall, id: BrokerId) -> ChangeAnswer:  # noqa: A002 (the word of the API)
    """A broker leaves, with its subscriptions and links."""
    return await call.make("leave", leave(id), id)


@router.put("/brokers/{id:id}/topics")
async def set_broker_topics(
    call: ChangeCall,
    id: BrokerId,  # noqa: A002
    wanted: TopicSet,
    limits: RequestLimits,
) -> ChangeAnswer:
    """A broker has exactly these topics from now on."""
    limits.check_topics(wanted.topics)
    return await call.make("set-topics", set_topics(id, wanted.topics), id, wanted.topics)


@router.post("/brokers/{id:id}/topics/{name:id}")
async def subscribe_broker(call: ChangeCall, id: BrokerId, name: TopicName) -> ChangeAnswer:  # noqa: A002
    """A broker subscribes to one more topic."""
    return await call.make("subscribe", subscribe(id, [name]), id)


@router.delete("/brokers/{id:id}/topics/{name:id}")
async def unsubscribe_broker(call: ChangeCall, id: BrokerId, name: TopicName) -> ChangeAnswer:  # noqa: A002
    """A broker gives a topic up."""
    return await call.make("unsubscribe", unsubscribe(id, [name]), id)


@router.post("/changes")
async def change_batch(call: ChangeCall, steps: list[Step], limits: RequestLimits) -> ChangeAnswer:
    """Several changes as one, all or none. A batch is a set: what it says must not depend on an order."""
    limits.check_batch(steps)
    limits.check_subscriptions(sum(len(step.topics or []) for step in steps))
    for i, step in enumerate(steps):
        limits.check_ids([step.broker], f"{i}.broker")
        limits.check_topics(step.topics or [], f"{i}.topics")
    changes = [step.change(str(i)) for i, step in enumerate(steps)]
    newcomers = {s.broker: facts_of(s.attributes, s.ttl_seconds) for s in steps if s.op == "join"}
    return await call.make("batch", changes, None, [step.model_dump() for step in steps], newcomers)
