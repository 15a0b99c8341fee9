"""Interests: which broker subscribes to which topic, in compressed rows both ways.

Ids are strings and stay apart from the dense ints that kernels use. A dense id is the rank of the string id in
code-point order, so the same interests have the same dense ids on every engine.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from algorithms.errors import BadInput
from algorithms.ids import check_ids

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
_Number = TypeVar("_Number", np.int32, np.int64)


@dataclass(frozen=True, eq=False)
class Interests:
    """The whole broker x topic relation.

    ``broker_topics[broker_start[v]:broker_start[v + 1]]`` are the topics of broker v, ascending;
    ``topic_brokers[topic_start[t]:topic_start[t + 1]]`` are the subscribers of topic t, ascending.
    All arrays are read-only: int64 offsets, int32 dense ids.

    >>> interests = Interests.from_mapping({"a": ["x", "y"], "b": ["y"]})
    >>> interests.topics_of("a"), interests.subscribers_of("y")
    (['x', 'y'], ['a', 'b'])
    >>> interests.subscriptions, interests.broker_sizes().tolist(), interests.topic_sizes().tolist()
    (3, [2, 1], [1, 2])
    >>> interests.broker_index("b"), interests.topic_index("y"), interests.subscriber_indices(1).tolist()
    (1, 1, [0, 1])
    """

    brokers: tuple[str, ...]
    topics: tuple[str, ...]
    broker_start: Longs
    broker_topics: Ints
    topic_start: Longs
    topic_brokers: Ints
    duplicates: int = 0
    """How many rows of the source repeated another row."""

    @classmethod
    def from_mapping(cls, topics_by_broker: Mapping[str, Iterable[str]]) -> Interests:
        """Interests from ``{broker: topics}``; a broker may have no topics.

        >>> Interests.from_mapping({"b": ["x"], "a": []}).brokers
        ('a', 'b')
        """
        rows = [(broker, topic) for broker, topics in topics_by_broker.items() for topic in topics]
        return cls.from_rows([b for b, _ in rows], [t for _, t in rows], brokers=topics_by_broker)

    @classmethod
    def from_rows(
        cls, broker_of_row: Sequence[str], topic_of_row: Sequence[str], *, brokers: Iterable[str] = ()
    ) -> Interests:
        """Interests from one string id a row; ``brokers`` adds brokers that may have no row at all.

        >>> Interests.from_rows(["a", "b", "b"], ["x", "x", "x"], brokers=["c"])
        <Interests: 3 brokers, 1 topics, 2 subscriptions>
        """
        broker_ids = sorted({*broker_of_row, *brokers})
        topic_ids = sorted(set(topic_of_row))
        broker_rank = {name: rank for rank, name in enumerate(broker_ids)}
        topic_rank = {name: rank for rank, name in enumerate(topic_ids)}
        return cls.from_dense(
            broker_ids,
            topic_ids,
            np.fromiter((broker_rank[b] for b in broker_of_row), np.int32, len(broker_of_row)),
            np.fromiter((topic_rank[t] for t in topic_of_row), np.int32, len(topic_of_row)),
        )

    @classmethod
    def from_dense(
        cls, brokers: Sequence[str], topics: Sequence[str], broker_of_row: Ints, topic_of_row: Ints
    ) -> Interests:
        """Interests from rows of dense ids into ``brokers`` and ``topics``, both strictly ascending.

        >>> rows = np.array([0, 1], np.int32), np.array([0, 0], np.int32)
        >>> Interests.from_dense(["a", "b"], ["x"], *rows).subscribers_of("x")
        ['a', 'b']
        """
        for field, ids in (("broker", brokers), ("topic", topics)):
            check_ids(ids, field)
            for before, after in pairwise(ids):
                if before >= after:
                    raise BadInput(field, after, f"ids must ascend, but this one follows {before!r}")
        width = max(len(topics), 1)
        rows = broker_of_row.astype(np.int64) * width + topic_of_row
        if len(rows) and (rows[1:] < rows[:-1]).any():
            rows.sort()
        fresh = np.ones(len(rows), bool)
        fresh[1:] = rows[1:] != rows[:-1]
        rows = rows[fresh]
        broker, topic = np.divmod(rows, width)
        # NumPy sorts 16-bit keys by radix, in a third of the time.
        by_topic = np.argsort(topic.astype(np.uint16) if width <= 1 << 16 else topic, kind="stable")
        return cls(
            brokers=tuple(brokers),
            topics=tuple(topics),
            broker_start=_starts(broker, len(brokers)),
            broker_topics=_frozen(topic.astype(np.int32)),
            topic_start=_starts(topic, len(topics)),
            topic_brokers=_frozen(broker[by_topic].astype(np.int32)),
            duplicates=int(len(fresh) - len(rows)),
        )

    @property
    def subscriptions(self) -> int:
        """How many (broker, topic) pairs there are."""
        return len(self.broker_topics)

    def broker_index(self, broker: str) -> int:
        """The dense id of a broker."""
        return _index(self.brokers, broker, "broker")

    def topic_index(self, topic: str) -> int:
        """The dense id of a topic."""
        return _index(self.topics, topic, "topic")

    def topics_of(self, broker: str) -> list[str]:
        """The topics a broker subscribes to, ascending."""
        v = self.broker_index(broker)
        return [self.topics[t] for t in self.broker_topics[self.broker_start[v] : self.broker_start[v + 1]]]

    def subscribers_of(self, topic: str) -> list[str]:
        """The brokers that subscribe to a topic, ascending."""
        return [self.brokers[v] for v in self.subscriber_indices(self.topic_index(topic))]

    def subscriber_indices(self, topic: int) -> Ints:
        """The dense ids of a topic's subscribers, ascending."""
        return self.topic_brokers[self.topic_start[topic] : self.topic_start[topic + 1]]

    def topic_sizes(self) -> Longs:
        """How many subscribers each topic has."""
        return np.diff(self.topic_start)

    def broker_sizes(self) -> Longs:
        """How many topics each broker subscribes to."""
        return np.diff(self.broker_start)

    def __repr__(self) -> str:
        return f"<Interests: {len(self.brokers)} brokers, {len(self.topics)} topics, {self.subscriptions} subscriptions>"


def _starts(owner_of_row: Longs, owners: int) -> Longs:
    starts = np.zeros(owners + 1, np.int64)
    np.cumsum(np.bincount(owner_of_row, minlength=owners), out=starts[1:])
    return _frozen(starts)


def _frozen(array: NDArray[_Number]) -> NDArray[_Number]:
    array.setflags(write=False)
    return array


def _index(ids: tuple[str, ...], wanted: str, field: str) -> int:
    place = bisect_left(ids, wanted)
    if place == len(ids) or ids[place] != wanted:
        raise BadInput(field, wanted, f"no such {field}")
    return place
