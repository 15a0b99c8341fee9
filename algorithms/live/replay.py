"""Replay: a change that was planned elsewhere, done here exactly as it is written, nothing chosen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from algorithms.errors import BadInput
from algorithms.interests import Ints
from algorithms.live.alter import alter
from algorithms.live.plan import LinkChange, Plan, Steps
from algorithms.live.repair import NO_PAIRS
from algorithms.live.rows import NEIGHBOURS
from algorithms.live.state import State


def replayed(state: State, version: int, written: Plan) -> Plan:
    """The plan that makes exactly the difference of ``written``, for this version and these slots.

    Refused is a difference that does not fit: unknown brokers, a link opened twice or closed where there is none, or
    one that leaves a link open whose end left or whose ends share no topic any more.
    """
    leavers = set(written.left)
    brokers, topics = state.brokers, state.topics
    for name in written.joined:
        if name in brokers.of:
            raise _unfit(name, "has joined already")
    new_topics = [t for t in dict.fromkeys(t for _, t in written.subscribed) if t not in topics.of]
    broker_slots, topic_slots = brokers.next(len(written.joined)), topics.next(len(new_topics))
    state.make_room(len(brokers.name) + len(broker_slots), len(topics.name) + len(topic_slots))
    new_broker = dict(zip(written.joined, broker_slots, strict=True))
    new_topic = dict(zip(new_topics, topic_slots, strict=True))

    def broker(name: str) -> int:
        slot = new_broker.get(name, brokers.of.get(name))
        if slot is None:
            raise _unfit(name, "no such broker")
        return slot

    def topic(name: str) -> int:
        slot = new_topic.get(name, topics.of.get(name))
        if slot is None:
            raise _unfit(name, "no such topic")
        return slot

    def interests(pairs: list[tuple[str, str]]) -> Ints:
        return np.array([(broker(b), topic(t)) for b, t in pairs], np.int32).reshape(-1, 2)

    def ends(links: tuple[LinkChange, ...]) -> list[tuple[int, int]]:
        return [(broker(link.a), broker(link.b)) for link in links]

    gone = np.array([broker(name) for name in written.left], np.int32)
    removed = interests([pair for pair in written.unsubscribed if pair[0] not in leavers])
    added = interests(list(written.subscribed))
    opened, closed = ends(written.opened), ends(written.closed)
    for link, (a, b) in zip(written.opened, opened, strict=True):
        if a not in broker_slots and b in state.row(NEIGHBOURS, a):
            raise _unfit(f"{link.a} - {link.b}", "this link is open already")
    for link, (a, b) in zip(written.closed, closed, strict=True):
        if b not in state.row(NEIGHBOURS, a):
            raise _unfit(f"{link.a} - {link.b}", "there is no such link to close")
    by_itself = _closed_by_interests(state, gone, removed, added)
    asked = {_ordered(a, b) for a, b in closed}
    if not by_itself <= asked:
        a, b = min(by_itself - asked)
        raise _unfit(f"{brokers.name[a]} - {brokers.name[b]}", "this link cannot stay open")
    rest = [pair for pair in closed if _ordered(*pair) not in by_itself]
    return replace(
        written,
        version=version,
        steps=Steps(
            gone,
            removed,
            added,
            np.array(opened, np.int32).reshape(-1, 2),
            np.array(rest, np.int32).reshape(-1, 2),
            NO_PAIRS,
            tuple(new_topics),
        ),
    )


def _closed_by_interests(state: State, gone: Ints, removed: Ints, added: Ints) -> set[tuple[int, int]]:
    """The links that a change of interests closes by itself."""
    if not len(gone) and not len(removed):
        return set()
    state.begin()
    try:
        _, closed = state.attempt(lambda: alter(gone, removed, added, *state.arrays))
    finally:
        state.take_back()
    return {_ordered(a, b) for a, b, _ in closed.tolist()}


def _ordered(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def _unfit(what: str, why: str) -> BadInput:
    return BadInput("change", what, why)
