"""What-if: brokers that might fail, join or subscribe, tried on a copy of the live overlay.

Nothing here touches the live overlay: the copy is taken on the event loop in a moment, everything else happens in a
thread whose kernels release the interpreter, so live changes go on beside it.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from algorithms import BadInput, Interests, LiveOverlay, Overlay
from algorithms.components import component_numbers
from algorithms.interests import Ints
from algorithms.live import Change, Plan
from backend.live.proposal import Answer, problem_of


def what_if(live: LiveOverlay, changes: list[Change]) -> dict[str, Any]:
    """Which topics come apart, how they would be repaired, degrees before and after; ``live`` is a copy to be used up."""
    began = time.perf_counter()
    overlay = live.snapshot()
    try:
        plan = live.plan(changes)
    except BadInput as error:
        raise problem_of(error) from None
    apart, below = _before_repair(overlay, plan, live.policy.k)
    before = _figures(live)
    live.apply(plan)
    answer = Answer.of_plan(0, plan).as_json()
    del answer["version"]
    return {
        **answer,
        "topics_apart": apart,
        "topics_below_k": below,
        "before": before,
        "after": _figures(live),
        "seconds": time.perf_counter() - began,
    }


def _figures(live: LiveOverlay) -> dict[str, Any]:
    return {
        "brokers": live.brokers,
        "links": live.links,
        "average_degree": live.average_degree,
        "max_degree": live.max_degree,
    }


def _before_repair(overlay: Overlay, plan: Plan, k: int) -> tuple[list[dict[str, Any]], int]:
    """The topics that those who go leave in pieces, with the pieces; and how many fall below the policy's k.

    Newcomers are left out: a topic does not come apart because somebody waits to be linked.
    """
    if not plan.unsubscribed:
        return [], 0
    left = _without(overlay, plan)
    interests = left.interests
    pieces_of = _pieces(interests, component_numbers(interests, left.links))
    apart = [
        {
            "topic": interests.topics[t],
            "subscribers": sum(map(len, pieces)),
            "components": sorted(pieces, key=len, reverse=True),
        }
        for t, pieces in pieces_of.items()
    ]
    below = len(apart) if k == 1 else len(left.topics_below(k))
    return apart, below


def _without(overlay: Overlay, plan: Plan) -> Overlay:
    """The topics that lose somebody, as they are when those who go have gone and nothing was repaired."""
    interests = overlay.interests
    brokers, topics = (
        {name: i for i, name in enumerate(names)} for names in (interests.brokers, interests.topics)
    )
    width = len(interests.topics)
    gone = np.array([brokers[b] * width + topics[t] for b, t in plan.unsubscribed], np.int64)
    owners = np.repeat(np.arange(len(interests.brokers), dtype=np.int64), interests.broker_sizes())
    stays = np.isin(interests.broker_topics, gone % width) & ~np.isin(
        owners * width + interests.broker_topics, gone
    )
    rest = Interests.from_dense(
        interests.brokers, interests.topics, owners[stays].astype(np.int32), interests.broker_topics[stays]
    )
    return Overlay.from_links(rest, overlay.links)


def _pieces(interests: Interests, numbers: Ints) -> dict[int, list[list[str]]]:
    """The members of each component, by topic, of topics with several; ``numbers``: each subscription's component."""
    topics = interests.broker_topics
    counts = np.bincount(topics[numbers == np.arange(len(numbers))], minlength=len(interests.topics))
    apart = counts[topics] > 1
    owners = np.repeat(np.arange(len(interests.brokers)), interests.broker_sizes())
    found: dict[int, dict[int, list[str]]] = {}
    for topic, number, broker in zip(
        topics[apart].tolist(), numbers[apart].tolist(), owners[apart].tolist(), strict=True
    ):
        found.setdefault(topic, {}).setdefault(number, []).append(interests.brokers[broker])
    return {topic: list(found[topic].values()) for topic in sorted(found)}
