"""Net differences: what lies between two versions, in either direction, and what it makes of an overlay.

A version is rebuilt from a nearby one by the net difference between them; so the way there is as long as the number of
changes between, and the overlay itself is touched once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from algorithms import Interests, Overlay
from algorithms.interests import Ints, Longs
from backend.errors import Conflict
from backend.record import ChangeRecord, Pair

_Thing = TypeVar("_Thing", str, Pair)


@dataclass
class Difference:
    """What came and what went. A thing that came and went again, or the other way round, is in neither."""

    joined: set[str] = field(default_factory=set)
    left: set[str] = field(default_factory=set)
    opened: set[Pair] = field(default_factory=set)
    closed: set[Pair] = field(default_factory=set)
    subscribed: set[Pair] = field(default_factory=set)
    unsubscribed: set[Pair] = field(default_factory=set)

    def add(self, record: ChangeRecord) -> None:
        """Go one version further."""
        _move(self.joined, self.left, record.joined, record.left)
        _move(self.opened, self.closed, record.opened, record.closed)
        _move(self.subscribed, self.unsubscribed, record.subscribed, record.unsubscribed)

    def reversed(self) -> Difference:
        """The way back."""
        return Difference(
            self.left, self.joined, self.closed, self.opened, self.unsubscribed, self.subscribed
        )

    def as_json(self) -> dict[str, Any]:
        """The difference as the API tells it; every list ascends."""
        return {
            name: sorted(getattr(self, name))
            for name in ("opened", "closed", "joined", "left", "subscribed", "unsubscribed")
        }

    def applied_to(self, overlay: Overlay) -> Overlay:
        """The overlay on the other side of the difference.

        Conflict where it does not fit: somebody changed brokers or links in the database behind the API's back.
        """
        try:
            return self._applied_to(overlay)
        except KeyError as error:
            raise Conflict(
                f"version: the history does not lead there, it knows {error.args[0]!r} otherwise than the overlay does",
                field="version",
            ) from None

    def _applied_to(self, overlay: Overlay) -> Overlay:
        old = overlay.interests
        brokers = sorted((set(old.brokers) - self.left) | self.joined)
        topics = sorted({*old.topics, *(topic for _, topic in self.subscribed)})
        broker_rank = {name: rank for rank, name in enumerate(brokers)}
        topic_rank = {name: rank for rank, name in enumerate(topics)}
        new_broker = _ranks(old.brokers, broker_rank)
        new_topic = _ranks(old.topics, topic_rank)
        old_broker = {name: rank for rank, name in enumerate(old.brokers)}
        old_topic = {name: rank for rank, name in enumerate(old.topics)}

        owners = np.repeat(np.arange(len(old.brokers), dtype=np.int32), old.broker_sizes())
        rows = _without(
            np.stack((owners, old.broker_topics), axis=1),
            [(old_broker[b], old_topic[t]) for b, t in self.unsubscribed],
        )
        added = _pairs((broker_rank[b], topic_rank[t]) for b, t in self.subscribed)
        owner = np.concatenate((new_broker[rows[:, 0]], added[:, 0]))
        topic = np.concatenate((new_topic[rows[:, 1]], added[:, 1]))
        ends = _without(overlay.links, [(old_broker[a], old_broker[b]) for a, b in self.closed])
        opened = _pairs((broker_rank[a], broker_rank[b]) for a, b in self.opened)
        links = np.concatenate((new_broker[ends], opened))
        for kept in (owner, links):
            if kept.min(initial=0) < 0:
                raise KeyError(next(iter(self.left)))
        interests = Interests.from_dense(*_with_subscribers(brokers, topics, owner, topic))
        return Overlay.from_links(interests, links)


def _move(gained: set[_Thing], lost: set[_Thing], came: Iterable[_Thing], went: Iterable[_Thing]) -> None:
    for thing in went:
        if thing in gained:
            gained.remove(thing)
        else:
            lost.add(thing)
    for thing in came:
        if thing in lost:
            lost.remove(thing)
        else:
            gained.add(thing)


def _ranks(names: Iterable[str], rank: dict[str, int]) -> Ints:
    return np.array([rank.get(name, -1) for name in names], np.int32)


def _pairs(pairs: Iterable[tuple[int, int]]) -> Ints:
    return np.array(list(pairs), np.int32).reshape(-1, 2)


def _without(rows: Ints, gone: list[tuple[int, int]]) -> Ints:
    """The pairs without those that went; every one of those must be there."""
    if not gone:
        return rows
    keys = _keys(rows)
    away = np.isin(keys, _keys(_pairs(gone)))
    if np.count_nonzero(away) != len(gone):
        raise KeyError(f"{len(gone) - np.count_nonzero(away)} subscriptions or links")
    return rows[~away]


def _keys(rows: Ints) -> Longs:
    return rows[:, 0].astype(np.int64) << 32 | rows[:, 1]


def _with_subscribers(
    brokers: list[str], topics: list[str], owner: Ints, topic: Ints
) -> tuple[list[str], list[str], Ints, Ints]:
    """The same without topics that nobody subscribes to: they are no topics of that version."""
    used = np.flatnonzero(np.bincount(topic, minlength=len(topics)))
    if len(used) == len(topics):
        return brokers, topics, owner, topic
    rank = np.full(len(topics), -1, np.int32)
    rank[used] = np.arange(len(used), dtype=np.int32)
    return brokers, [topics[t] for t in used], owner, rank[topic]
