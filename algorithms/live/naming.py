"""From a repair's outcome in slots to a plan in names."""

from __future__ import annotations

import numpy as np

from algorithms.live.alter import LEFT
from algorithms.live.changes import Difference
from algorithms.live.plan import LinkChange, Plan, Steps
from algorithms.live.repair import InterestSteps, Outcome
from algorithms.live.state import State


def named_plan(
    version: int,
    state: State,
    found: Difference,
    gone: list[tuple[str, str]],
    steps: InterestSteps,
    outcome: Outcome,
    new_brokers: dict[str, int],
    new_topics: dict[str, int],
) -> Plan:
    """The plan of a change; ``gone`` are the subscriptions that leavers take with them.

    A link opened and then thinned out again is in no list.
    """
    newcomer = {slot: name for name, slot in new_brokers.items()}
    new_topic = {slot: name for name, slot in new_topics.items()}
    broker_names, topic_names = state.brokers.name, state.topics.name

    def broker(slot: int) -> str:
        return newcomer[slot] if slot in newcomer else str(broker_names[slot])

    def ends(a: int, b: int) -> tuple[str, str]:
        x, y = broker(a), broker(b)
        return (x, y) if x < y else (y, x)

    topics: dict[int, list[str]] = {}
    for link, t in outcome.served.tolist():
        topics.setdefault(link, []).append(new_topic[t] if t in new_topic else str(topic_names[t]))
    opened = {ends(a, b): (i, a, b) for i, (a, b) in enumerate(outcome.opened.tolist())}
    closed = [
        LinkChange(*ends(a, b), "left" if why == LEFT else "nothing shared")
        for a, b, why in outcome.lost.tolist()
    ]
    thinned = []
    for a, b in outcome.thinned.tolist():
        if opened.pop(ends(a, b), None) is None:
            thinned.append((a, b))
            closed.append(LinkChange(*ends(a, b), "redundant"))
    backups: dict[str, list[str]] = {}
    for v, w in outcome.backups.tolist():
        backups.setdefault(broker(v), []).append(broker(w))
    return Plan(
        version,
        joined=tuple(found.joined),
        left=tuple(found.left),
        subscribed=tuple(found.subscribed),
        unsubscribed=tuple(sorted(found.unsubscribed + gone)) if gone else tuple(found.unsubscribed),
        opened=tuple(
            LinkChange(*pair, "repair", tuple(sorted(topics.get(i, ()))))
            for pair, (i, _, _) in opened.items()
        ),
        closed=tuple(closed),
        backups={name: tuple(sorted(names)) for name, names in backups.items()},
        steps=Steps(
            steps.leavers,
            steps.removed,
            steps.added,
            np.array([(a, b) for _, a, b in opened.values()], np.int32).reshape(-1, 2),
            np.array(thinned, np.int32).reshape(-1, 2),
            outcome.backups,
            tuple(new_topics),
        ),
    )
