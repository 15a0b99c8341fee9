"""Change records: the audit log, the event feed and the way back to older versions, in one shape.

In Neo4j a record is a node with parallel lists of strings, so that plain Cypher can rebuild the overlay at any version
backwards from the live one; in JSON it has lists of pairs.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, Literal

from algorithms.live import Change, LinkChange, Plan, join, leave, subscribe, unsubscribe
from backend.times import stamp

Kind = Literal[
    "join", "leave", "subscribe", "unsubscribe", "set-topics", "batch", "expire",
    "import", "policy", "activate", "rollback", "prune", "failure", "merge",
]  # fmt: skip
Pair = tuple[str, str]


@dataclass(frozen=True)
class Figures:
    """The overlay in numbers as a change left it: what its trend is drawn from, without rebuilding any version."""

    brokers: int
    links: int
    max_degree: int

    @property
    def average_degree(self) -> float:
        """Two ends a link, shared by all brokers; 0.0 without brokers."""
        return 2 * self.links / self.brokers if self.brokers else 0.0


@dataclass(frozen=True)
class PolicyPlan(Plan):
    """The links that another policy opens, and the values that it changes."""

    policy_before: Mapping[str, Any] | None = None
    policy_after: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, plan: Plan, before: Mapping[str, Any], after: Mapping[str, Any]) -> PolicyPlan:
        """A plan, with the values of two policies that differ."""
        changed = [name for name in after if after[name] != before[name]]
        links = {field.name: getattr(plan, field.name) for field in fields(Plan)}
        return cls(
            **links,
            policy_before={name: before[name] for name in changed},
            policy_after={name: after[name] for name in changed},
        )


@dataclass(frozen=True)
class ChangeRecord:
    """One version of the overlay: who changed what, and the exact difference."""

    version: int
    group: str
    """The commit it was part of."""
    at: datetime
    actor: str
    kind: str
    broker: str | None = None
    joined: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    opened: tuple[Pair, ...] = ()
    opened_reasons: tuple[str, ...] = ()
    closed: tuple[Pair, ...] = ()
    closed_reasons: tuple[str, ...] = ()
    subscribed: tuple[Pair, ...] = ()
    unsubscribed: tuple[Pair, ...] = ()
    figures: Figures | None = None
    policy_before: Mapping[str, Any] | None = None
    policy_after: Mapping[str, Any] | None = None
    """What a change of the policy changed, with the values of before and after."""

    def __hash__(self) -> int:
        """Of what tells a record from all others: its lists may be long, and the values of a policy have no hash."""
        return hash((self.version, self.group))

    @classmethod
    def of_plan(
        cls,
        plan: Plan,
        *,
        version: int,
        group: str,
        at: datetime,
        actor: str,
        kind: Kind,
        broker: str | None,
        figures: Figures | None = None,
    ) -> ChangeRecord:
        """The record of a plan."""
        policy = (plan.policy_before, plan.policy_after) if isinstance(plan, PolicyPlan) else (None, None)
        return cls(
            version, group, at, actor, kind, broker, plan.joined, plan.left,
            tuple(link.ends for link in plan.opened), tuple(link.reason for link in plan.opened),
            tuple(link.ends for link in plan.closed), tuple(link.reason for link in plan.closed),
            plan.subscribed, plan.unsubscribed, figures, *policy,
        )  # fmt: skip

    def plan(self) -> Plan:
        """The same difference, to be replayed."""
        return Plan(
            self.version - 1,
            joined=self.joined,
            left=self.left,
            subscribed=self.subscribed,
            unsubscribed=self.unsubscribed,
            opened=tuple(LinkChange(a, b, "repair") for a, b in self.opened),
            closed=tuple(LinkChange(a, b, "replaced") for a, b in self.closed),
        )

    @property
    def entries(self) -> int:
        """How many links and subscriptions it names."""
        return len(self.opened) + len(self.closed) + len(self.subscribed) + len(self.unsubscribed)

    def changes(self) -> list[Change]:
        """What it did to the interests, to be done again on another overlay."""
        joined, left = set(self.joined), set(self.left)
        taken: dict[str, list[str]] = defaultdict(list)
        given_up: dict[str, list[str]] = defaultdict(list)
        for broker, topic in self.subscribed:
            taken[broker].append(topic)
        for broker, topic in self.unsubscribed:
            given_up[broker].append(topic)
        return [
            *(join(broker, taken[broker]) for broker in self.joined),
            *(leave(broker) for broker in self.left),
            *(subscribe(broker, topics) for broker, topics in taken.items() if broker not in joined),
            *(unsubscribe(broker, topics) for broker, topics in given_up.items() if broker not in left),
        ]

    def touches(self, broker: str) -> bool:
        """Whether it changes something of that broker: itself, its links or its subscriptions."""
        return (
            self.broker == broker
            or broker in self.joined
            or broker in self.left
            or any(broker in link for link in self.opened)
            or any(broker in link for link in self.closed)
            or any(broker == who for who, _ in self.subscribed)
            or any(broker == who for who, _ in self.unsubscribed)
        )

    def brokers_touched(self) -> set[str]:
        """Everybody whose links or subscriptions it changes."""
        ends = {end for link in (*self.opened, *self.closed) for end in link}
        who = {broker for broker, _ in (*self.subscribed, *self.unsubscribed)}
        return {*self.joined, *self.left, *ends, *who}

    def as_json(self) -> dict[str, Any]:
        """The record as the API tells it."""
        return {
            "version": self.version,
            "group": self.group,
            "at": stamp(self.at),
            "actor": self.actor,
            "kind": self.kind,
            "broker": self.broker,
            "joined": self.joined,
            "left": self.left,
            "opened": self.opened,
            "opened_reasons": self.opened_reasons,
            "closed": self.closed,
            "closed_reasons": self.closed_reasons,
            "subscribed": self.subscribed,
            "unsubscribed": self.unsubscribed,
            "policy_before": self.policy_before,
            "policy_after": self.policy_after,
        }

    def properties(self) -> dict[str, Any]:
        """The record as properties of a Change node."""
        return {
            "version": self.version,
            "group": self.group,
            "at": self.at,
            "actor": self.actor,
            "kind": self.kind,
            "broker": self.broker,
            "joined": self.joined,
            "left": self.left,
            "opened_a": [a for a, _ in self.opened],
            "opened_b": [b for _, b in self.opened],
            "opened_reason": self.opened_reasons,
            "closed_a": [a for a, _ in self.closed],
            "closed_b": [b for _, b in self.closed],
            "closed_reason": self.closed_reasons,
            "subscribed_broker": [broker for broker, _ in self.subscribed],
            "subscribed_topic": [topic for _, topic in self.subscribed],
            "unsubscribed_broker": [broker for broker, _ in self.unsubscribed],
            "unsubscribed_topic": [topic for _, topic in self.unsubscribed],
            "policy_before": _text(self.policy_before),
            "policy_after": _text(self.policy_after),
            **(asdict(self.figures) if self.figures else {}),
        }

    @classmethod
    def from_node(cls, node: Mapping[str, Any]) -> ChangeRecord:
        """The record that a Change node holds."""

        def texts(name: str) -> tuple[str, ...]:
            return tuple(node.get(name) or ())

        def pairs(first: str, second: str) -> tuple[Pair, ...]:
            return tuple(zip(texts(first), texts(second), strict=True))

        return cls(
            node["version"], node["group"], node["at"].to_native(), node["actor"], node["kind"], node.get("broker"),
            texts("joined"), texts("left"),
            pairs("opened_a", "opened_b"), texts("opened_reason"),
            pairs("closed_a", "closed_b"), texts("closed_reason"),
            pairs("subscribed_broker", "subscribed_topic"), pairs("unsubscribed_broker", "unsubscribed_topic"),
            Figures(node["brokers"], node["links"], node["max_degree"]) if node.get("links") is not None else None,
            _values(node.get("policy_before")), _values(node.get("policy_after")),
        )  # fmt: skip


def _text(values: Mapping[str, Any] | None) -> str | None:
    return None if values is None else json.dumps(values)


def _values(text: str | None) -> dict[str, Any] | None:
    return None if text is None else json.loads(text)
