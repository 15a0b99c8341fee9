"""What may happen to interests: brokers join and leave, subscribe and unsubscribe; several changes seen as one.

A batch is a set, not a sequence: what its changes say must not depend on their order. So two changes of one batch that
speak of the same broker are a contradiction, except subscriptions to different topics.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from algorithms.errors import BadInput
from algorithms.ids import check_ids

Op = Literal["join", "leave", "subscribe", "unsubscribe", "set"]


@dataclass(frozen=True)
class Change:
    """One change of one broker; use the functions of this module to make one.

    >>> join("a", ["x", "y"])
    Change(op='join', broker='a', topics=('x', 'y'))
    """

    op: Op
    broker: str
    topics: tuple[str, ...] = ()


def join(broker: str, topics: Iterable[str]) -> Change:
    """A new broker with its topics, which may be none.

    >>> join("a", ["x"])
    Change(op='join', broker='a', topics=('x',))
    """
    return Change("join", broker, _names(topics))


def leave(broker: str) -> Change:
    """A broker goes, with its subscriptions and links.

    >>> leave("a")
    Change(op='leave', broker='a', topics=())
    """
    return Change("leave", broker)


def subscribe(broker: str, topics: Iterable[str]) -> Change:
    """A broker subscribes to more topics; those it has already change nothing.

    >>> subscribe("a", ["y"])
    Change(op='subscribe', broker='a', topics=('y',))
    """
    return Change("subscribe", broker, _names(topics))


def unsubscribe(broker: str, topics: Iterable[str]) -> Change:
    """A broker gives topics up; those it does not have change nothing.

    >>> unsubscribe("a", ["y"])
    Change(op='unsubscribe', broker='a', topics=('y',))
    """
    return Change("unsubscribe", broker, _names(topics))


def set_topics(broker: str, topics: Iterable[str]) -> Change:
    """A broker has exactly these topics from now on.

    >>> set_topics("a", ["z"])
    Change(op='set', broker='a', topics=('z',))
    """
    return Change("set", broker, _names(topics))


def _names(topics: Iterable[str]) -> tuple[str, ...]:
    if isinstance(topics, str):
        raise BadInput("topics", topics, "must be a list of topics, not one text")
    return tuple(topics)


@dataclass
class Difference:
    """What a batch changes in the interests, all told; names, each list without duplicates."""

    joined: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    subscribed: list[tuple[str, str]] = field(default_factory=list)
    """Subscriptions of newcomers included."""
    unsubscribed: list[tuple[str, str]] = field(default_factory=list)
    """Subscriptions of leavers not included: they go with them."""


def difference(
    changes: Sequence[Change], topics_by_broker: dict[str, frozenset[str]], known_topics: Iterable[str]
) -> Difference:
    """The net effect of a batch, or :class:`BadInput` for what cannot be done.

    ``topics_by_broker`` has every known broker that the batch names. Lists are sorted, so the order of the batch does
    not show in them.
    """
    if not changes:
        raise BadInput("changes", [], "a batch needs at least one change")
    whole: dict[str, Op] = {}
    single: dict[tuple[str, str], Op] = {}
    named: set[str] = set()
    found = Difference()
    for change in changes:
        broker, topics = change.broker, dict.fromkeys(change.topics)
        check_ids([broker], "broker")
        check_ids(topics, "topic")
        if change.op not in ("join", "leave", "subscribe", "unsubscribe", "set"):
            raise BadInput("op", change.op, "must be join, leave, subscribe, unsubscribe or set")
        partial = change.op in ("subscribe", "unsubscribe")
        if broker in whole or (not partial and broker in named):
            other = (
                whole[broker] if broker in whole else next(op for (b, _), op in single.items() if b == broker)
            )
            raise BadInput(
                "changes", broker, f"contradiction in one batch: {_told(other)} and {_told(change.op)}"
            )
        if partial:
            for topic in topics:
                if single.setdefault((broker, topic), change.op) != change.op:
                    raise BadInput(
                        "changes",
                        broker,
                        f"contradiction in one batch: it subscribes to {topic!r} and unsubscribes from it",
                    )
        else:
            whole[broker] = change.op
        named.add(broker)
        has = topics_by_broker.get(broker)
        if (has is None) != (change.op == "join"):
            raise BadInput("broker", broker, "no such broker" if has is None else "has joined already")
        if change.op == "unsubscribe":
            for topic in topics:
                if topic not in (has or ()) and topic not in known_topics:
                    raise BadInput("topic", topic, "no such topic")
        _add(found, change.op, broker, topics, has or frozenset())
    for names in (found.joined, found.left):
        names.sort()
    found.subscribed = sorted(set(found.subscribed))
    found.unsubscribed = sorted(set(found.unsubscribed))
    return found


def _add(found: Difference, op: Op, broker: str, topics: Iterable[str], has: frozenset[str]) -> None:
    if op == "join":
        found.joined.append(broker)
    if op == "leave":
        found.left.append(broker)
        return
    wanted = set(topics)
    if op != "unsubscribe":
        found.subscribed += [(broker, topic) for topic in wanted - has]
    if op == "unsubscribe":
        found.unsubscribed += [(broker, topic) for topic in wanted & has]
    if op == "set":
        found.unsubscribed += [(broker, topic) for topic in has - wanted]


def _told(op: Op) -> str:
    return {
        "join": "it joins",
        "leave": "it leaves",
        "subscribe": "it subscribes",
        "unsubscribe": "it unsubscribes",
        "set": "its topics are set",
    }[op]
