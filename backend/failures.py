"""Failures: a link that an agent cannot open is closed, planned around, and shown with both its brokers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from algorithms import BadInput
from algorithms.live import LiveOverlay, Plan, plan_around
from backend.errors import BadValue, Conflict, NotFound
from backend.live import Mirror, Proposal, Writer
from backend.record import Pair
from backend.store import BrokerFacts
from backend.store.commit import Statement
from backend.times import stamp

FAILURES_KEPT = 20
LATELY = timedelta(minutes=10)
"""For so long after a link failed, others are preferred to it."""
SHOWN = timedelta(hours=1)
"""For so long a failure is one that a person should know of."""
BROKERS_NAMED = 20
ONCE_IN = timedelta(minutes=1)
"""An agent that tries again and again makes no version each time: the same failure, of a link that stays, is noted once
in so long."""


def avoid_link(writer: Writer, broker: str, link: Pair, reason: str, at: datetime, actor: str) -> Proposal:
    """The change that does without a link; where a topic has nobody else the link stays, and that it failed is noted.

    The mirror is the writer's of the moment: it may be another one when the change's turn comes.
    """
    if broker not in link or link[0] == link[1]:
        raise BadValue(f"link: must be a link of {broker!r} (got {list(link)!r})", field="link")
    a, b = sorted(link)
    told = {"link": [a, b], "reason": reason, "at": stamp(at)}

    def plan(live: LiveOverlay) -> Plan:
        if a not in live or b not in live:
            missing = a if a not in live else b
            raise NotFound(f"link: no such broker (got {missing!r})", field="link")
        try:
            return plan_around(live, a, b, failed_since(writer.mirror, at - LATELY))
        except BadInput as error:
            if error.reason == "no such link":
                raise NotFound(str(error), field="link") from None
            if _is_known(writer.mirror, told, at - ONCE_IN):
                refuse_kept((a, b), ())
            return Plan(live.version)

    def also(_: int) -> tuple[Statement, ...]:
        # Other processes may note one of these brokers too: each adds its own.
        rows = [{"broker": end, "failure": json.dumps(told, sort_keys=True)} for end in (a, b)]
        return (("agent/write_failures", {"rows": rows, "kept": FAILURES_KEPT}),)

    def committed() -> None:
        for end in (a, b):
            if end in writer.mirror.live:
                facts = writer.mirror.facts.setdefault(end, BrokerFacts())
                facts.failures = [*facts.failures, told][-FAILURES_KEPT:]

    # Alone in its group: what replaces a link heeds those that failed before.
    return Proposal(
        "failure",
        actor,
        plan,
        broker=broker,
        also=also,
        marks_version=True,
        committed=committed,
        slow=True,
    )


def _is_known(mirror: Mirror, told: dict[str, Any], since: datetime) -> bool:
    return any(
        (failure["link"], failure["reason"]) == (told["link"], told["reason"])
        and datetime.fromisoformat(failure["at"]) > since
        for failure in mirror.facts_of(told["link"][0]).failures
    )


def refuse_kept(link: Pair, closed: Sequence[Pair]) -> None:
    """Say that the link stays: an agent must not take it for closed."""
    if not closed:
        raise Conflict(f"link: stays, as its topics have no other way yet (got {list(link)!r})", field="link")


def failed_since(mirror: Mirror, since: datetime) -> set[Pair]:
    """Links that agents could not open after that moment, and that are not open now; asked by a thread, while the event
    loop may learn of more brokers."""
    return {
        (a, b)
        for facts in list(mirror.facts.values())
        for failure in facts.failures
        for a, b in [failure["link"]]
        if datetime.fromisoformat(failure["at"]) > since and (a, b) not in mirror.links
    }


def reported_since(mirror: Mirror, since: datetime) -> dict[str, Any]:
    """How many failures agents reported after that moment, and of whose links: the brokers of the most first."""
    after = stamp(since)
    told = set()
    for facts in mirror.facts.values():
        for failure in reversed(facts.failures):
            if failure["at"] <= after:
                break
            told.add((failure["at"], *failure["link"]))
    ends = Counter(end for _, a, b in told for end in (a, b) if end in mirror.live)
    brokers = sorted(ends, key=lambda end: (-ends[end], end))
    return {"reports": len(told), "brokers": brokers[:BROKERS_NAMED]}
