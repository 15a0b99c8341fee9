"""An overlay with a past: real plans of a live overlay, one after the other, remembered in Python and stored in Neo4j.

The analysts' queries are asked of the stored one, and the answers expected are computed from the remembered one.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

import neo4j

from algorithms import Interests, LiveOverlay, Overlay, Plan, build
from algorithms.live.changes import Change, join, leave, subscribe, unsubscribe
from backend.policy import Policy
from backend.store import Database
from backend.store.bulk import import_overlay

Link = tuple[str, str]
START = datetime(2026, 3, 1, 22, 30, tzinfo=UTC)
ACTORS = ("agent", "ops", "console")
REBUILD = "r1"


@dataclass
class State:
    """The overlay at one version."""

    topics: dict[str, set[str]]
    links: dict[Link, tuple[int, str]]
    """(since, reason) by link."""

    def degrees(self) -> dict[str, int]:
        degree = dict.fromkeys(self.topics, 0)
        for link in self.links:
            for end in link:
                degree[end] += 1
        return degree

    def common(self, link: Link) -> set[str]:
        return self.topics[link[0]] & self.topics[link[1]]

    def subscribers(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for broker, topics in self.topics.items():
            for topic in topics:
                found.setdefault(topic, set()).add(broker)
        return found

    def neighbours(self, topic: str) -> dict[str, set[str]]:
        """The topic's graph: its subscribers, each with those it is linked to."""
        inside = self.subscribers().get(topic, set())
        found: dict[str, set[str]] = {broker: set() for broker in inside}
        for a, b in self.links:
            if a in inside and b in inside:
                found[a].add(b)
                found[b].add(a)
        return found


@dataclass
class Lived:
    """The live state, every change that led to it, and (if asked for) the state after each of them."""

    now: State
    changes: list[dict[str, Any]]
    overlay: Overlay
    backups: dict[str, list[str]]
    candidates: list[Link] = field(default_factory=list)
    """Of a rebuild with GM, by the interests of now."""
    states: dict[int, State] = field(default_factory=dict)

    @property
    def version(self) -> int:
        return 1 + len(self.changes)


def live(
    interests: Interests, changes: int, *, seed: int = 0, hours: float = 5.0, keep: bool = True
) -> Lived:
    """Build an overlay, then let brokers come, go, subscribe and unsubscribe ``changes`` times, ``hours`` apart.

    Brokers and topics whose names begin with "still-" are left alone.
    """
    first = build("gm", interests)
    overlay = LiveOverlay(first, seed=seed, version=1)
    state = State(
        {broker: set(interests.topics_of(broker)) for broker in interests.brokers},
        dict.fromkeys(first.link_names(), (1, "import")),
    )
    found = Lived(state, [], first, {})
    if keep:
        found.states[1] = deepcopy(state)
    for change in _changes(overlay, interests, changes, random.Random(seed)):
        plan = overlay.change(change)
        if plan.is_empty:
            continue
        version = found.version + 1
        found.changes.append(_record(version, change, plan, hours))
        _follow(state, plan, version)
        if keep:
            found.states[version] = deepcopy(state)
    overlay.refresh_backups(None if keep else 2000)
    found.backups = {broker: overlay.backups_of(broker) for broker in state.topics}
    found.overlay = overlay.snapshot()
    found.candidates = build("gm", found.overlay.interests).link_names()
    return found


def _changes(
    overlay: LiveOverlay, interests: Interests, count: int, chance: random.Random
) -> Iterator[Change]:
    gone: list[str] = []
    names = [name for name in interests.brokers if not name.startswith("still-")]
    models, topics = tuple(names), [name for name in interests.topics if not name.startswith("still-")]
    for number in range(count):
        op = chance.choice(["join", "leave", "subscribe", "unsubscribe"])
        if op == "join":
            again = bool(gone) and chance.random() < 0.5
            broker = gone.pop(chance.randrange(len(gone))) if again else f"new-{number}"
            names.append(broker)
            model = interests.topics_of(chance.choice(models))
            yield join(broker, model)
            continue
        place = chance.randrange(len(names))
        broker = names[place]
        if op == "leave" and len(names) > 3:
            names[place] = names[-1]
            names.pop()
            gone.append(broker)
            yield leave(broker)
        elif op == "unsubscribe" and (held := overlay.topics_of(broker)):
            yield unsubscribe(broker, [chance.choice(held)])
        else:
            yield subscribe(broker, [chance.choice(topics)])


def _record(version: int, change: Change, plan: Plan, hours: float) -> dict[str, Any]:
    return {
        "version": version,
        "group": f"group-{version}",
        "at": START + timedelta(hours=hours * (version - 1)),
        "actor": ACTORS[version % len(ACTORS)],
        "kind": change.op,
        "broker": change.broker,
        "joined": list(plan.joined),
        "left": list(plan.left),
        "opened_a": [link.a for link in plan.opened],
        "opened_b": [link.b for link in plan.opened],
        "opened_reason": [link.reason for link in plan.opened],
        "closed_a": [link.a for link in plan.closed],
        "closed_b": [link.b for link in plan.closed],
        "closed_reason": [link.reason for link in plan.closed],
        "subscribed_broker": [broker for broker, _ in plan.subscribed],
        "subscribed_topic": [topic for _, topic in plan.subscribed],
        "unsubscribed_broker": [broker for broker, _ in plan.unsubscribed],
        "unsubscribed_topic": [topic for _, topic in plan.unsubscribed],
    }


def _follow(state: State, plan: Plan, version: int) -> None:
    for link in plan.closed:
        del state.links[link.ends]
    for broker, topic in plan.unsubscribed:
        state.topics[broker].remove(topic)
    for broker in plan.left:
        assert not state.topics.pop(broker)
    for broker in plan.joined:
        state.topics[broker] = set()
    for broker, topic in plan.subscribed:
        state.topics[broker].add(topic)
    for link in plan.opened:
        state.links[link.ends] = (version, link.reason)


def store(driver: neo4j.Driver, uri: str, user: str, password: str, lived: Lived) -> None:
    """Into an empty database: the live overlay by the product's import, its past by statements of our own."""

    async def bring_in() -> None:
        async with Database(uri, user, password) as database:
            await database.apply_schema()
            await import_overlay(database, lived.overlay, Policy(), actor="demo")

    asyncio.run(bring_in())
    driver.execute_query(
        "MATCH (o:Overlay) MATCH (c:Change {version: 1}) SET o.version = $version, c.at = $at",
        version=lived.version,
        at=START,
    )
    _each(driver, lived.changes, "CREATE (c:Change) SET c = row")
    _each(
        driver,
        ({"a": a, "b": b, "since": s, "reason": r} for (a, b), (s, r) in lived.now.links.items() if s > 1),
        "MATCH (:Broker {id: row.a})-[l:LINK]->(:Broker {id: row.b}) SET l.since = row.since, l.reason = row.reason",
    )
    _each(
        driver,
        ({"broker": broker, "backup": b} for broker, backups in lived.backups.items() for b in backups),
        "MATCH (b:Broker {id: row.broker}), (o:Broker {id: row.backup}) CREATE (b)-[:BACKED_UP_BY]->(o)",
    )
    _each(
        driver,
        ({"a": a, "b": b} for a, b in lived.candidates),
        f"MATCH (a:Broker {{id: row.a}}), (b:Broker {{id: row.b}}) CREATE (a)-[:CANDIDATE {{rebuild: '{REBUILD}'}}]->(b)",
    )
    driver.execute_query(
        "CREATE (r:Rebuild {id: $id, state: 'planned', engine: 'local', algorithm: 'gm', actor: 'ops',"
        " created_at: $at, base_version: $version})",
        id=REBUILD,
        at=lived.changes[-1]["at"],
        version=lived.version,
    )


def _each(driver: neo4j.Driver, rows: Iterable[dict[str, Any]], text: str) -> None:
    rest = iter(rows)
    while batch := list(islice(rest, 1000)):
        driver.execute_query(neo4j.Query(f"UNWIND $rows AS row {text}"), {"rows": batch})
