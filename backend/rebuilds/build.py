"""What a rebuild's own process does: new links by an algorithm, or links of another moment fitted to now, and their plan."""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms import Overlay, build, find_algorithm
from algorithms.completion import completed
from algorithms.progress import Progress
from backend.errors import Problem
from backend.rebuilds.plan import keep_curve, make_plan
from backend.worker import Report

Plan = dict[str, Any]
Pair = tuple[str, str]


def build_links(
    report: Report,
    before: Overlay,
    algorithm: str,
    params: dict[str, Any],
    seed: int,
    k: int,
) -> Plan:
    """What new links would change; the links themselves are reported as soon as they are known."""
    chosen = find_algorithm(algorithm)
    curve = algorithm == "weave"
    earlier = before if chosen.sticky else None
    after = build(
        algorithm,
        before.interests,
        progress=_part(report, 0.02, 0.5 if curve else 0.7),
        earlier=earlier,
        seed=seed,
        **params,
    )
    weak = after.topics_below(k)
    if weak:
        raise Problem(f"the new links are below the policy's k = {k}: {weak[0]}")
    report(0.5, after.links)
    plan = make_plan(before, after, _part(report, 0.5, 0.7) if curve else _part(report, 0.7, 0.9))
    if curve:
        plan["keep_curve"] = keep_curve(before, after, params, seed, _part(report, 0.7, 0.95))
    return plan


def fitted_plan(report: Report, before: Overlay, links: list[Pair], k: int) -> Plan:
    """The plan of links that were found elsewhere."""
    return make_plan(before, fitted(before, links, k), report)


def fitted(now: Overlay, links: list[Pair], k: int) -> Overlay:
    """Links of another moment fitted to the interests of now: what still makes sense, and what is missing."""
    interests = now.interests
    number = {broker: i for i, broker in enumerate(interests.brokers)}
    topics = [frozenset(row) for row in np.split(interests.broker_topics, interests.broker_start[1:-1])]
    kept = [
        (number[a], number[b])
        for a, b in links
        if a in number and b in number and not topics[number[a]].isdisjoint(topics[number[b]])
    ]
    return completed(Overlay.from_links(interests, np.array(kept, np.int32).reshape(-1, 2)), k)


def _part(report: Report, low: float, high: float) -> Progress:
    return lambda share, stage: report(low + (high - low) * share, stage)
