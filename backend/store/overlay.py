"""The overlay as Neo4j holds it, read whole into memory; :mod:`backend.store.bulk` writes whole ones."""

from __future__ import annotations

import asyncio
import contextlib
import json
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from neo4j.exceptions import ConstraintError

from algorithms import Interests, Overlay
from algorithms.interests import Ints, Longs
from backend.policy import Policy
from backend.record import Pair
from backend.store.database import Database
from backend.store.importing import wipe_import

SECONDS_BETWEEN_LOOKS = 0.5
"""At an import of another process."""


@dataclass(frozen=True)
class Lease:
    """A broker that must be heard of."""

    seconds: int
    until: datetime


@dataclass
class BrokerFacts:
    """What is known of a broker beside its interests and links."""

    attributes: dict[str, Any] = field(default_factory=dict)
    lease: Lease | None = None
    acked: int | None = None
    """The newest version whose links its agent says are open."""
    failures: list[dict[str, Any]] = field(default_factory=list)
    """Links its agent could not open: [{link, reason, at}]."""

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing to remember."""
        return not self.attributes and self.lease is None and self.acked is None and not self.failures


@dataclass(frozen=True)
class StoredOverlay:
    """The live overlay at one version."""

    version: int
    policy: Policy
    overlay: Overlay
    links: dict[Pair, tuple[int, str]]
    """Since which version a link is open, and why."""
    facts: dict[str, BrokerFacts]
    """Only of brokers with something to tell."""


async def read_overlay(database: Database) -> StoredOverlay | None:
    """The live overlay, or None where there is none yet; waits for an import that is under way.

    It is read in several transactions, so it is read again when a commit came between.
    """
    while True:
        records = await database.read("overlay/read_overlay")
        if not records:
            return None
        if records[0]["state"] == "importing":
            if not await wipe_import(database):
                await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            continue
        try:
            found = await asyncio.to_thread(
                _read_at, database, records[0]["version"], records[0]["properties"]
            )
        except _Moved:
            continue
        now = await database.read("overlay/read_version")
        if now and now[0]["version"] == found.version and now[0]["state"] == "live":
            return found


class _Moved(Exception):
    """A link of a broker that joined after the brokers were read."""


def _read_at(database: Database, version: int, properties: dict[str, Any]) -> StoredOverlay:
    interests, facts = _read_interests(database)
    rank = {broker: v for v, broker in enumerate(interests.brokers)}
    names = interests.brokers
    ends = array("i")
    links: dict[Pair, tuple[int, str]] = {}
    known: dict[tuple[int, str], tuple[int, str]] = {}
    for a, others, since, reasons in database.rows("overlay/read_links"):
        v = rank.get(a)
        for other, fact in zip(others, zip(since, reasons, strict=True), strict=True):
            w = rank.get(other)
            if v is None or w is None:
                raise _Moved
            ends.append(v)
            ends.append(w)
            # The ids and facts that are kept already, not the copies that came with this row.
            links[names[v], names[w]] = known.setdefault(fact, fact)
    overlay = Overlay.from_links(interests, np.array(ends, np.int32).reshape(-1, 2))
    return StoredOverlay(version, Policy.from_properties(properties), overlay, links, facts)


def _read_interests(database: Database) -> tuple[Interests, dict[str, BrokerFacts]]:
    """Interests and facts; names become numbers as they arrive, so that no row keeps a copy of them."""
    brokers: list[str] = []
    counts = array("i")
    topic_of_row = array("i")
    number: dict[str, int] = {}
    facts: dict[str, BrokerFacts] = {}
    for broker, attributes, seconds, until, acked, failures, topics in database.rows("overlay/read_brokers"):
        brokers.append(broker)
        counts.append(len(topics))
        topic_of_row.extend([number.setdefault(topic, len(number)) for topic in topics])
        if attributes or seconds or acked is not None or failures:
            facts[broker] = _facts(attributes, seconds, until, acked, failures)
    broker_of_row = np.repeat(np.arange(len(brokers)), np.array(counts, np.int32))
    return _interests(brokers, list(number), broker_of_row, np.array(topic_of_row, np.int32)), facts


def _facts(
    attributes: str | None,
    seconds: int | None,
    until: Any,
    acked: int | None,
    failures: str | list[str] | None,
) -> BrokerFacts:
    return BrokerFacts(
        json.loads(attributes) if attributes else {},
        Lease(seconds, until.to_native()) if seconds and until else None,
        acked,
        failures_of(failures),
    )


def failures_of(stored: str | list[str] | None) -> list[dict[str, Any]]:
    """Failures as a broker's node holds them: a text each; one text for all of them is how they were kept first."""
    texts = [stored] if isinstance(stored, str) else stored or []
    told = [json.loads(text) for text in texts]
    return [failure for some in told for failure in (some if isinstance(some, list) else [some])]


async def read_facts(database: Database, brokers: Sequence[str]) -> dict[str, BrokerFacts]:
    """What is known of some brokers beside interests and links; only of those with something to tell."""
    found = await database.read("agent/read_facts", brokers=list(brokers))
    facts = {row["broker"]: _facts(*row.values()[1:]) for row in found}
    return {broker: known for broker, known in facts.items() if not known.is_plain}


def _interests(brokers: list[str], topics: list[str], broker_of_row: Longs, topic_of_row: Ints) -> Interests:
    """Interests from names in the order they came."""
    broker_rank, topic_rank = _ranks(brokers), _ranks(topics)
    return Interests.from_dense(
        sorted(brokers), sorted(topics), broker_rank[broker_of_row], topic_rank[topic_of_row]
    )


def _ranks(names: list[str]) -> Ints:
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    return rank


async def read_policy(database: Database) -> Policy:
    """The policy in force."""
    return Policy.from_properties((await database.read("overlay/read_overlay"))[0]["properties"])


async def create_overlay(database: Database, policy: Policy) -> None:
    """An empty overlay at version 0, where there is none yet."""
    # Another process that came up at the same time may be quicker: the constraint on the name refuses a second one.
    with contextlib.suppress(ConstraintError):
        await database.write("overlay/create_overlay", policy=policy.properties())
