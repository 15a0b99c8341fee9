"""Commits: the net effect of a group of changes, and their records, in one transaction or not at all.

The first statement locks the Overlay node, so commits of all processes come one after the other, and what is planned
while the lock is held is planned on the newest version.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.errors import NotReady
from backend.record import ChangeRecord, Pair
from backend.store.database import Database, Transaction
from backend.store.overlay import BrokerFacts

Statement = tuple[str, dict[str, Any]]
"""The name of a statement and its parameters."""


@dataclass(frozen=True)
class Commit:
    """A group of changes, one version each, and what else belongs into their transaction."""

    records: Sequence[ChangeRecord]
    newcomers: Mapping[str, BrokerFacts]
    also: Sequence[Statement] = ()


async def lock_overlay(transaction: Transaction, group: str) -> int:
    """Keep everybody else from committing until the transaction ends; the version they left."""
    found = await transaction.run("change/lock_overlay", group=group)
    if not found or found[0]["state"] != "live":
        raise NotReady("an import is under way; nothing was changed")
    return int(found[0]["version"])


async def write_commit(transaction: Transaction, commit: Commit) -> None:
    """Write a commit; it is durable when the transaction has ended well."""
    for name, parameters in (*_statements(commit), *commit.also):
        await transaction.run(name, **parameters)


async def commit_at(
    database: Database, version: int, group: str, keys: list[str], commit: Commit, seconds: float
) -> bool:
    """Lock, write and commit in one go what was planned for a version; False where that was not to be, as somebody
    else committed meanwhile, or answered one of these Idempotency-Keys."""
    return await database.commit_at(version, group, keys, [*_statements(commit), *commit.also], seconds)


async def was_committed(database: Database, group: str) -> bool:
    """Whether a commit whose outcome is unknown happened; waits for one that is still under way."""
    found = await database.write("change/find_group", group=group)
    return bool(found and found[0]["changes"])


async def read_changes(database: Database | Transaction, after: int, limit: int) -> list[ChangeRecord]:
    """The records that follow a version, oldest first."""
    read = database.run if isinstance(database, Transaction) else database.read
    found = await read("change/read_changes", after=after, limit=limit)
    return [ChangeRecord.from_node(row["change"]) for row in found]


def _statements(commit: Commit) -> Iterable[Statement]:
    """The net effect: what one change of the group adds and a later one removes is never written."""
    net = _Net()
    for record in commit.records:
        net.add(record)
    stay = set(net.left)
    if net.closed:
        yield "change/remove_links", {"rows": [{"a": a, "b": b} for a, b in sorted(net.closed)]}
    unsubscribed = _by_broker(pair for pair in net.unsubscribed if pair[0] not in stay)
    if unsubscribed:
        yield "change/remove_subscriptions", {"rows": unsubscribed}
    if net.left:
        yield "change/remove_brokers", {"ids": sorted(net.left)}
    if net.joined:
        topics = {row["broker"]: row["topics"] for row in _by_broker(net.subscribed)}
        yield (
            "change/add_brokers",
            {
                "rows": [
                    _broker_row(name, topics.get(name, []), commit.newcomers) for name in sorted(net.joined)
                ]
            },
        )
    subscribed = _by_broker(pair for pair in net.subscribed if pair[0] not in net.joined)
    if subscribed:
        yield "change/add_subscriptions", {"rows": subscribed}
    if net.opened:
        rows = [
            {"a": a, "b": b, "since": since, "reason": reason}
            for (a, b), (since, reason) in sorted(net.opened.items())
        ]
        yield "change/add_links", {"rows": rows}
    ended = sorted({topic for _, topic in net.unsubscribed})
    if ended:
        yield "change/remove_topics", {"names": ended}
    if commit.records:
        rows = [record.properties() for record in commit.records]
        yield "change/add_changes", {"rows": rows, "version": commit.records[-1].version}


class _Net:
    """What a sequence of changes comes to."""

    def __init__(self) -> None:
        self.joined: set[str] = set()
        self.left: set[str] = set()
        self.opened: dict[Pair, tuple[int, str]] = {}
        self.closed: set[Pair] = set()
        self.subscribed: set[Pair] = set()
        self.unsubscribed: set[Pair] = set()

    def add(self, record: ChangeRecord) -> None:
        """The next change. Links and subscriptions of one who leaves and comes back are written anew."""
        for pair in record.unsubscribed:
            if pair in self.subscribed:
                self.subscribed.remove(pair)
            else:
                self.unsubscribed.add(pair)
        for link in record.closed:
            if self.opened.pop(link, None) is None:
                self.closed.add(link)
        for name in record.left:
            if name in self.joined:
                self.joined.remove(name)
            else:
                self.left.add(name)
        self.joined.update(record.joined)
        self.subscribed.update(record.subscribed)
        for link, reason in zip(record.opened, record.opened_reasons, strict=True):
            self.opened[link] = (record.version, reason)


def _by_broker(pairs: Iterable[Pair]) -> list[dict[str, Any]]:
    topics: dict[str, list[str]] = defaultdict(list)
    for broker, topic in pairs:
        topics[broker].append(topic)
    return [{"broker": broker, "topics": sorted(topics[broker])} for broker in sorted(topics)]


def _broker_row(name: str, topics: list[str], newcomers: Mapping[str, BrokerFacts]) -> dict[str, Any]:
    facts = newcomers.get(name, BrokerFacts())
    return {
        "id": name,
        "topics": topics,
        "attributes": json.dumps(facts.attributes, sort_keys=True) if facts.attributes else None,
        "lease_seconds": facts.lease.seconds if facts.lease else None,
        "lease_until": facts.lease.until if facts.lease else None,
    }
