"""The shapes of brokers: the list, and one with its links and its blast radius."""

from __future__ import annotations

from typing import Any

from backend.api.answers.shape import Shape, example, shown
from backend.record import Pair
from backend.times import Moment


class BrokerRow(Shape):
    """One broker of the list."""

    model_config = example(id="broker-7", degree=3, topics=2, backups=2, primaries=1, blast_radius=1)
    id: str
    """The broker's id."""
    degree: int
    """How many links it keeps."""
    topics: int
    """How many topics it subscribes to."""
    backups: int
    """How many brokers back it up."""
    primaries: int
    """How many brokers it backs up."""
    blast_radius: int | None = None
    """How many topics come apart if it fails, before repair; only where the list is sorted by it."""


class BrokerPage(Shape):
    """Some brokers, and how many there are in all."""

    model_config = example(
        items=[shown(BrokerRow), {"id": "broker-9", "degree": 2, "topics": 1, "backups": 2, "primaries": 0}],
        total=52,
        next="WzMsICJicm9rZXItOSJd",
    )
    items: list[BrokerRow]
    """The rows, in the order that was asked for."""
    total: int
    """How many rows all pages have."""
    next: str | None
    """The `after` of the next page; null on the last one."""


class BrokerLink(Shape):
    """A link as one of its ends sees it."""

    model_config = example(
        broker="broker-9", since=4630, reason="connects /tf", topics_served=1, topics=["/tf"]
    )
    broker: str
    """The other end."""
    since: int
    """The version that opened it."""
    reason: str
    """Why it was opened."""
    topics_served: int
    """How many topics both ends subscribe to."""
    topics: list[str]
    """Those topics."""


class Lease(Shape):
    """How long a broker stays without a heartbeat."""

    model_config = example(ttl_seconds=60, until="2026-11-16T19:21:01.123Z")
    ttl_seconds: int
    """The lease's term, from each heartbeat on."""
    until: Moment
    """When it expires, which is a leave."""


class LinkFailure(Shape):
    """A link that an agent could not open."""

    model_config = example(
        link=["broker-3", "broker-7"], reason="connection refused", at="2026-11-16T18:02:44.871Z"
    )
    link: Pair
    """Its ends, the smaller id first."""
    reason: str
    """Why, in the agent's words."""
    at: Moment
    """When that was reported."""


class Broker(Shape):
    """One broker: what it subscribes to, the links it keeps, and what would come apart without it."""

    model_config = example(
        id="broker-7",
        version=4711,
        topics=["/sensing/lidar", "/tf"],
        links=[shown(BrokerLink)],
        degree=1,
        backups=["broker-12", "broker-9"],
        primaries=["broker-12"],
        blast_radius=["/sensing/lidar"],
        attributes={"site": "north", "rack": 4},
        lease=shown(Lease),
        acked=4711,
        failures=[shown(LinkFailure)],
    )
    id: str
    """The broker's id."""
    version: int
    """The version that all of this is of."""
    topics: list[str]
    """What it subscribes to."""
    links: list[BrokerLink]
    """The links it keeps."""
    degree: int
    """How many those are."""
    backups: list[str]
    """The brokers that back it up: repairs look among them first."""
    primaries: list[str]
    """The brokers that it backs up."""
    blast_radius: list[str]
    """The topics that come apart if it fails, before repair."""
    attributes: dict[str, Any]
    """What it joined with, whatever operators want to know about it."""
    lease: Lease | None
    """Its lease; null: it stays until it leaves."""
    acked: int | None
    """The newest version whose links its agent says are open; null: it has not said so of any."""
    failures: list[LinkFailure]
    """The last links that an agent could not open, oldest first."""
