"""What-if: any set of leaves, joins and subscriptions, tried on a copy; nothing changes."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from algorithms.live import join, leave, subscribe, unsubscribe
from backend.api.answers.shape import Shape, example
from backend.api.changes import Topics
from backend.api.dependencies import LiveMirror, TheHeavyWork
from backend.api.limits import RequestLimits, limited_by
from backend.api.problems import problems
from backend.errors import BadValue
from backend.record import Pair
from backend.what_if import what_if

router = APIRouter(tags=["what-if"])


class Joining(BaseModel):
    """A broker that might join."""

    model_config = ConfigDict(extra="forbid")
    id: str
    topics: Topics


class Subscribing(BaseModel):
    """Topics that a broker might take up or give up."""

    model_config = ConfigDict(extra="forbid")
    broker: str
    topics: Topics


class Supposition(BaseModel):
    """What might happen, all at once."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"leave": ["/control/operation_mode_transition_manager"]}]},
    )
    leave: list[str] = Field(default_factory=list, json_schema_extra=limited_by("max_batch_size"))
    join: list[Joining] = Field(default_factory=list, json_schema_extra=limited_by("max_batch_size"))
    subscribe: list[Subscribing] = Field(default_factory=list, json_schema_extra=limited_by("max_batch_size"))
    unsubscribe: list[Subscribing] = Field(
        default_factory=list, json_schema_extra=limited_by("max_batch_size")
    )


class TopicApart(Shape):
    """A topic in pieces, before the repair."""

    topic: str = Field(description="the topic's name")
    subscribers: int = Field(description="how many brokers would still subscribe to it")
    components: list[list[str]] = Field(description="its pieces, the largest first")


class Size(Shape):
    """The overlay in four numbers."""

    brokers: int = Field(description="how many brokers there are")
    links: int = Field(description="how many links are open")
    average_degree: float = Field(description="links a broker")
    max_degree: int = Field(description="the most links that one broker has")


class Consequence(Shape):
    """What would come of it."""

    model_config = example(
        version=4711,
        topics_apart=[
            {"topic": "/tf", "subscribers": 2, "components": [["broker-12"], ["broker-7"]]},
        ],
        topics_below_k=1,
        opened=[["broker-12", "broker-7"]],
        closed=[["broker-12", "broker-9"], ["broker-7", "broker-9"]],
        opened_reasons=["connects /tf"],
        closed_reasons=["an end has left", "an end has left"],
        before={"brokers": 52, "links": 218, "average_degree": 8.384615384615385, "max_degree": 27},
        after={"brokers": 51, "links": 217, "average_degree": 8.509803921568627, "max_degree": 27},
        seconds=0.006,
    )
    version: int = Field(description="the version it was tried on")
    topics_apart: list[TopicApart] = Field(description="topics that would come apart, before the repair")
    topics_below_k: int = Field(description="topics that would not be k-connected before the repair")
    opened: list[Pair] = Field(description="links that the repair would open, the smaller id first")
    closed: list[Pair] = Field(description="links that would be closed")
    opened_reasons: list[str] = Field(description="why, link by link")
    closed_reasons: list[str] = Field(description="why, link by link")
    before: Size = Field(description="the overlay as it is")
    after: Size = Field(description="the overlay as it would be")
    seconds: float = Field(description="how long this took to find out")


@router.post("/what-if", responses=problems(404, 409))
async def suppose(
    mirror: LiveMirror, supposed: Supposition, limits: RequestLimits, heavy: TheHeavyWork
) -> Consequence:
    """Which topics would come apart, which links the repair would open, degrees before and after."""
    for field in ("leave", "join", "subscribe", "unsubscribe"):
        limits.check_batch(getattr(supposed, field), field)
    limits.check_ids([*supposed.leave, *(broker.id for broker in supposed.join)], "broker")
    for broker in supposed.join:
        limits.check_topics(broker.topics)
    for step in (*supposed.subscribe, *supposed.unsubscribe):
        limits.check_topics(step.topics)
    named = [step.topics for step in (*supposed.subscribe, *supposed.unsubscribe)]
    named += [broker.topics for broker in supposed.join]
    limits.check_subscriptions(sum(map(len, named)), "topics")
    changes = [
        *(leave(broker) for broker in dict.fromkeys(supposed.leave)),
        *(join(broker.id, broker.topics) for broker in supposed.join),
        *(subscribe(step.broker, step.topics) for step in supposed.subscribe),
        *(unsubscribe(step.broker, step.topics) for step in supposed.unsubscribe),
    ]
    if not changes:
        raise BadValue("leave: nothing is supposed; name brokers to leave, join or subscribe", field="leave")
    async with heavy.what_ifs.one():
        version = mirror.version
        found = await asyncio.to_thread(what_if, mirror.live.copy(), changes)
    return Consequence(version=version, **found)
