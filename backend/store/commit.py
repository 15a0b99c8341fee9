"""Commits: the net effect of a group of changes, and their records, in one transaction or not at all.

The first statement locks the Overlay node, so commits of all processes come one after the other, and what is planned
while the lock is held is planned on the newest version. All that a commit changes is one statement: each answer of the
server that has to be waited for costs a change as much as its planning.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import cypher
from backend.errors import NotReady
from backend.record import ChangeRecord, Pair
from backend.store.database import Database, Transaction
from backend.store.overlay import BrokerFacts

Statement = tuple[str, dict[str, Any]]
"""The name of a statement and its parameters."""


class RememberedAnswer(NamedTuple):
    """What a repetition of a request is to be answered."""

    key: str
    fingerprint: str
    """Of the request."""
    answer: str
    """As JSON."""


@dataclass(frozen=True)
class Commit:
    """A group of changes, one version each, and what else belongs into their transaction."""

    group: str
    base: int
    """The version it was planned on."""
    records: Sequence[ChangeRecord]
    newcomers: Mapping[str, BrokerFacts]
    answers: Sequence[RememberedAnswer] = ()
    also: Sequence[Statement] = ()

    def statements(self, keys: Sequence[str]) -> list[Statement]:
        """What is to be run; the first one returns nothing where the commit is not to be, as it was planned on another
        version, or one of these Idempotency-Keys was answered before."""
        commit = {
            "group": self.group,
            "base": self.base,
            "keys": list(keys),
            **_net_effect(self),
            "answers": [answer._asdict() for answer in self.answers],
            "records": [record.properties() for record in self.records],
            "version": self.records[-1].version if self.records else self.base,
        }
        return [("change/write_commit", {"commit": commit}), *self.also]


async def prepare_commits(database: Database) -> None:
    """Have Neo4j plan the statement of commits, or the first change would wait for it; a plan made without a parameter is
    not kept."""
    for name, parameters in Commit("", 0, (), {}).statements(()):
        await database.run(f"EXPLAIN {cypher.statement(name)}", **parameters)


async def lock_overlay(transaction: Transaction, group: str) -> int:
    """Keep everybody else from committing until the transaction ends; the version they left."""
    found = await transaction.run("change/lock_overlay", group=group)
    if not found or found[0]["state"] != "live":
        raise NotReady("an import is under way; nothing was changed")
    return int(found[0]["version"])


async def write_commit(transaction: Transaction, commit: Commit) -> None:
    """Write a commit under the lock; it is durable when the transaction has ended well."""
    (name, parameters), *also = commit.statements(())
    if not await transaction.run(name, **parameters):
        raise RuntimeError(f"the overlay left version {commit.base} under the lock")
    for name, parameters in also:
        await transaction.run(name, **parameters)


async def commit_at(database: Database, commit: Commit, keys: Sequence[str], seconds: float) -> bool:
    """Lock, write and commit in one go what was planned without the lock; False where that was not to be, as somebody
    else committed meanwhile, or answered one of these Idempotency-Keys."""
    return await database.commit_if(lambda: commit.statements(keys), seconds)


async def was_committed(database: Database, group: str) -> bool:
    """Whether a commit whose outcome is unknown happened; waits for one that is still under way."""
    found = await database.write("change/find_group", group=group)
    return bool(found and found[0]["changes"])


async def read_changes(database: Database | Transaction, after: int, limit: int) -> list[ChangeRecord]:
    """The records that follow a version, oldest first."""
    read = database.run if isinstance(database, Transaction) else database.read
    found = await read("change/read_changes", after=after, limit=limit)
    return [ChangeRecord.from_node(row["change"]) for row in found]


def _net_effect(commit: Commit) -> dict[str, Any]:
    """Parameters of the statement: what one change of the group adds and a later one removes is never written."""
    net = _Net()
    for record in commit.records:
        net.add(record)
    left = set(net.left)
    topics = {row["broker"]: row["topics"] for row in _by_broker(net.subscribed)}
    return {
        "closed": [{"a": a, "b": b} for a, b in sorted(net.closed)],
        "unsubscribed": _by_broker(pair for pair in net.unsubscribed if pair[0] not in left),
        "left": sorted(left),
        "joined": [_broker_row(name, topics.get(name, []), commit.newcomers) for name in sorted(net.joined)],
        "subscribed": [
            {"broker": broker, "topics": names}
            for broker, names in topics.items()
            if broker not in net.joined
        ],
        "opened": [
            {"a": a, "b": b, "since": since, "reason": reason}
            for (a, b), (since, reason) in sorted(net.opened.items())
        ],
        "ended": sorted({topic for _, topic in net.unsubscribed}),
    }


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
