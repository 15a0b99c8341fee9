"""The whole overlay into memory, while others go on changing it.

It takes several transactions, so what is read is a mixture of versions. The Change records from the first version to the
last say what moved meanwhile. Done once more on the mixture, each as "is there" or "is not there" whatever was read, they
give exactly the last version: whom no record names was the same all the time. So a process can start beside another one
that never rests.
"""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from algorithms import BadInput, Interests, Overlay
from algorithms.interests import Ints, Longs
from backend.policy import Policy
from backend.record import ChangeRecord, Pair
from backend.store.commit import read_changes
from backend.store.database import Database
from backend.store.importing import wipe_import
from backend.store.overlay import BrokerFacts, StoredOverlay, facts_of, read_facts

SECONDS_BETWEEN_LOOKS = 0.5
"""At an import of another process."""
RECORDS_AT_ONCE = 500


async def read_overlay(database: Database) -> StoredOverlay | None:
    """The live overlay, or None where there is none yet; waits for an import that is under way."""
    while True:
        before = await _state(database)
        if before is None:
            return None
        if before["state"] == "importing":
            if not await wipe_import(database):
                await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            continue
        mixture = await asyncio.to_thread(_Mixture, database)
        after = await _state(database)
        if after is None or after["state"] == "importing":
            continue
        records = await read_records(database, before["version"], after["version"])
        if records is None:  # an import or a restore came between, or what happened then is kept no more
            continue
        mixture.redo(records)
        joined = sorted({broker for record in records for broker in record.joined})
        facts = await read_facts(database, joined) if joined else {}
        mixture.facts |= {
            broker: known for broker, known in facts.items() if mixture.topics_of(broker) is not None
        }
        policy = Policy.from_properties(after["properties"])
        return await asyncio.to_thread(mixture.overlay, after["version"], policy)


async def _state(database: Database) -> dict[str, Any] | None:
    found = await database.read("overlay/read_overlay")
    return dict(found[0]) if found else None


async def read_records(database: Database, after: int, last: int) -> list[ChangeRecord] | None:
    """The records of these versions; None where they do not tell everything that happened."""
    records: list[ChangeRecord] = []
    while after + len(records) < last:
        some = await read_changes(database, after + len(records), RECORDS_AT_ONCE)
        records += [record for record in some if record.version <= last]
        if not some:
            return None
    versions = [record.version for record in records]
    whole = versions == list(range(after + 1, last + 1)) and all(
        record.kind != "import" for record in records
    )
    return records if whole else None


class _Mixture:
    """All brokers, then all links, as they were read; names become numbers as they arrive, so that no row keeps a copy."""

    def __init__(self, database: Database) -> None:
        self.facts: dict[str, BrokerFacts] = {}
        self._brokers: list[str] = []
        self._counts = array("i")
        self._topics = array("i")
        self._number: dict[str, int] = {}
        self._moved: dict[str, set[str] | None] = {}
        """The topics of brokers that a record names; None: it has left."""
        self._links: dict[Pair, tuple[int, str]] = {}
        self._read_brokers(database)
        self._names = list(self._number)
        self._row = {broker: row for row, broker in enumerate(self._brokers)}
        self._ends = np.cumsum(np.array(self._counts, np.int64))
        self._read_links(database)

    def _read_brokers(self, database: Database) -> None:
        number = self._number
        for broker, attributes, seconds, until, acked, failures, topics in database.rows(
            "overlay/read_brokers"
        ):
            self._brokers.append(broker)
            self._counts.append(len(topics))
            self._topics.extend([number.setdefault(topic, len(number)) for topic in topics])
            if attributes or seconds or acked is not None or failures:
                self.facts[broker] = facts_of(attributes, seconds, until, acked, failures)

    def _read_links(self, database: Database) -> None:
        name = {broker: broker for broker in self._brokers}
        known: dict[tuple[int, str], tuple[int, str]] = {}
        for a, others, since, reasons in database.rows("overlay/read_links"):
            a = name.get(a, a)
            for other, fact in zip(others, zip(since, reasons, strict=True), strict=True):
                # The ids and facts that are kept already, not the copies that came with this row.
                self._links[a, name.get(other, other)] = known.setdefault(fact, fact)

    def topics_of(self, broker: str) -> set[str] | None:
        """The topics of a broker, as far as was done again; None for one that is not there."""
        if broker in self._moved:
            return self._moved[broker]
        row = self._row.get(broker)
        if row is None:
            return None
        first = int(self._ends[row]) - self._counts[row]
        return {self._names[topic] for topic in self._topics[first : int(self._ends[row])]}

    def redo(self, records: Sequence[ChangeRecord]) -> None:
        """Do what the records say, in their order."""
        touched = {broker for record in records for broker, _ in (*record.subscribed, *record.unsubscribed)}
        self._moved |= {broker: self.topics_of(broker) or set() for broker in touched}
        for record in records:
            for broker, topic in record.unsubscribed:
                (self._moved[broker] or set()).discard(topic)
            for link in record.closed:
                self._links.pop(link, None)
            for broker in record.left:
                self._moved[broker] = None
                self.facts.pop(broker, None)
            for broker in record.joined:
                self._moved[broker] = set()
            for broker, topic in record.subscribed:
                topics = self._moved[broker]
                assert topics is not None, "a broker that has left does not subscribe"
                topics.add(topic)
            for link, reason in zip(record.opened, record.opened_reasons, strict=True):
                self._links[link] = (record.version, reason)

    def overlay(self, version: int, policy: Policy) -> StoredOverlay:
        """The overlay at the version of the last record."""
        interests = self._interests()
        rank = {broker: v for v, broker in enumerate(interests.brokers)}
        for a, b in self._links:
            if a not in rank or b not in rank:
                raise BadInput("link", [a, b], "an end is no broker")
        ends = np.fromiter(
            (rank[end] for link in self._links for end in link), np.int32, 2 * len(self._links)
        )
        overlay = Overlay.from_links(interests, ends.reshape(-1, 2))
        return StoredOverlay(version, policy, overlay, self._links, self.facts)

    def _interests(self) -> Interests:
        rows = np.repeat(np.arange(len(self._brokers)), np.array(self._counts, np.int32))
        topics = np.array(self._topics, np.int32)
        brokers = self._brokers
        if self._moved:
            stays = np.array([broker not in self._moved for broker in brokers], bool)
            place = np.cumsum(stays) - 1
            kept = stays[rows] if len(rows) else np.zeros(0, bool)
            rows, topics = place[rows[kept]], topics[kept]
            brokers = [broker for broker in brokers if broker not in self._moved]
            more_rows, more_topics = array("q"), array("i")
            for broker, its in self._moved.items():
                if its is not None:
                    more_rows.extend([len(brokers)] * len(its))
                    brokers.append(broker)
                    more_topics.extend([self._number.setdefault(topic, len(self._number)) for topic in its])
            rows = np.concatenate([rows, np.array(more_rows, np.int64)])
            topics = np.concatenate([topics, np.array(more_topics, np.int32)])
        return _interests(brokers, list(self._number), rows, topics)


def _interests(brokers: list[str], topics: list[str], broker_of_row: Longs, topic_of_row: Ints) -> Interests:
    """Interests from names in the order they came; a topic that nobody has any more is left out."""
    used = np.unique(topic_of_row)
    place = np.zeros(len(topics), np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    topics = [topics[topic] for topic in used.tolist()]
    broker_rank, topic_rank = _ranks(brokers), _ranks(topics)
    return Interests.from_dense(
        sorted(brokers), sorted(topics), broker_rank[broker_of_row], topic_rank[place[topic_of_row]]
    )


def _ranks(names: list[str]) -> Ints:
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    return rank
