"""The mirror: the committed overlay in memory.

Everything here runs on the event loop and takes microseconds to milliseconds; whoever needs longer copies what it needs
(:meth:`Mirror.topic_overlay`, :meth:`Mirror.freeze`) and goes on in a thread. Between two awaits the mirror is exactly
one version, and never one that is not committed: the writer plans on it, takes the plans back, commits, and applies.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from algorithms import BadInput, Overlay
from algorithms.analysis import TopicAnalysis, topic_analysis
from algorithms.live import LiveOverlay, Plan
from backend.errors import NotFound
from backend.policy import Policy
from backend.record import ChangeRecord, Pair
from backend.store import BrokerFacts, StoredOverlay

Answer = TypeVar("Answer")


class Mirror:
    """One overlay, from version to version."""

    def __init__(self, stored: StoredOverlay) -> None:
        self.policy: Policy = stored.policy
        self.live = LiveOverlay(stored.overlay, stored.policy.repairs(), check=False, version=stored.version)
        self.links: dict[Pair, tuple[int, str]] = stored.links
        """Since which version a link is open, and why."""
        self.facts: dict[str, BrokerFacts] = stored.facts
        self._analyses: dict[str, TopicAnalysis] = {}
        self._derived: dict[str, tuple[int, asyncio.Future[Any]]] = {}

    @property
    def version(self) -> int:
        """The committed version that everything here is at."""
        return self.live.version

    # Reads

    def figures(self) -> dict[str, Any]:
        """Counts and degrees."""
        live = self.live
        return {
            "version": live.version,
            "brokers": live.brokers,
            "topics": live.topics,
            "subscriptions": live.subscriptions,
            "links": live.links,
            "average_degree": live.average_degree,
            "max_degree": live.max_degree,
        }

    def degree_histogram(self) -> list[tuple[int, int]]:
        """(degree, brokers of that degree), ascending, without empty degrees."""
        degrees, counts = np.unique(self.live.degrees(), return_counts=True)
        return list(zip(degrees.tolist(), counts.tolist(), strict=True))

    def facts_of(self, broker: str) -> BrokerFacts:
        """What is known of a broker beside its interests and links."""
        return self.facts.get(broker, BrokerFacts())

    def topic_overlay(self, topic: str) -> Overlay:
        """One topic by itself."""
        try:
            return self.live.topic_overlay(topic)
        except BadInput:
            raise NotFound(f"topic: no such topic (got {topic!r})", field="topic") from None

    def topic_sizes(self) -> dict[str, int]:
        """Subscribers by topic, in the order of the names."""
        return dict(zip(self.live.topic_names(), self.live.topic_sizes().tolist(), strict=True))

    async def topic(self, name: str) -> TopicAnalysis:
        """The analysis of one topic, kept until a change touches it."""
        known = self._analyses.get(name)
        if known is None:
            overlay, version = self.topic_overlay(name), self.version
            known = await asyncio.to_thread(topic_analysis, overlay, name)
            if version == self.version:
                self._analyses[name] = known
        return known

    async def all_topics(self) -> dict[str, TopicAnalysis]:
        """The analyses of all topics of one version, by name; only those that a change touched are made anew."""
        version = self.version
        known = dict(self._analyses)
        wanted = {
            name: self.live.topic_overlay(name) for name in self.live.topic_names() if name not in known
        }
        made = await asyncio.to_thread(
            lambda: {name: topic_analysis(overlay, name) for name, overlay in wanted.items()}
        )
        if version == self.version:
            self._analyses.update(made)
        return {name: made.get(name) or known[name] for name in sorted({*known, *made})}

    async def snapshot(self) -> Overlay:
        """The whole overlay of this version as one value; made once a version, in a thread."""
        return await self.derived("snapshot", lambda overlay: overlay)

    async def derived(self, name: str, work: Callable[[Overlay], Answer]) -> Answer:
        """Something worked out from the whole overlay of this version: once, in a thread, for all who ask."""
        version, future = self._derived.get(name, (-1, None))
        if future is None or version != self.version or (future.done() and future.exception()):
            freeze = self.live.freeze()
            future = asyncio.ensure_future(asyncio.to_thread(lambda: work(freeze())))
            self._derived[name] = (self.version, future)
        answer: Answer = await asyncio.shield(future)
        return answer

    # Changes

    def apply(self, plan: Plan, record: ChangeRecord) -> None:
        """Do what a committed change says, and forget what was worked out about the topics it touches."""
        touched = {topic for _, topic in (*record.subscribed, *record.unsubscribed)}
        gone = set(record.left)
        for a, b in record.closed:
            if a not in gone and b not in gone:
                touched.update(self.live.shared_topics(a, b))
        if plan.is_empty:
            self.live.version = record.version
        else:
            self.live.apply(plan)
        for a, b in record.opened:
            touched.update(self.live.shared_topics(a, b))
        for topic in touched:
            self._analyses.pop(topic, None)
        for link in record.closed:
            self.links.pop(link, None)
        for link, reason in zip(record.opened, record.opened_reasons, strict=True):
            self.links[link] = (record.version, reason)
        for broker in record.left:
            self.facts.pop(broker, None)

    def replay(self, record: ChangeRecord) -> None:
        """Do what another process committed."""
        self.apply(self.live.replay(record.plan()), record)

    def set_policy(self, policy: Policy) -> None:
        """Follow another policy from here on."""
        self.policy = policy
        self.live.policy = policy.repairs()
