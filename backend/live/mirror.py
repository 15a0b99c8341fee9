"""The mirror: the committed overlay in memory.

Everything here runs on the event loop and takes microseconds to milliseconds; whoever needs longer copies what it needs
(:meth:`Mirror.topic_overlay`, :meth:`Mirror.derived`) and goes on in a thread. Between two awaits the mirror is exactly
one version, and never one that is not committed: the writer plans on a copy, and applies what was committed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from algorithms import BadInput, Overlay
from algorithms.analysis import TopicAnalysis, topic_analysis
from algorithms.live import LiveOverlay, Plan
from backend.errors import NotFound, Problem
from backend.policy import Policy
from backend.record import ChangeRecord, Pair
from backend.store import BrokerFacts, StoredOverlay

Answer = TypeVar("Answer")

_ANALYSIS = "analysis"


class Mirror:
    """One overlay, from version to version."""

    def __init__(self, stored: StoredOverlay) -> None:
        self.policy: Policy = stored.policy
        self.live = LiveOverlay(stored.overlay, stored.policy.repairs(), check=False, version=stored.version)
        self.links: dict[Pair, tuple[int, str]] = stored.links
        """Since which version a link is open, and why."""
        self.facts: dict[str, BrokerFacts] = stored.facts
        self._of_topics: dict[str, dict[str, asyncio.Future[Any]]] = {}
        """What was worked out from a topic by itself, or is being so, until a change touches it."""
        self._analysing: set[asyncio.Future[None]] = set()
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

    def topic(self, name: str) -> Awaitable[TopicAnalysis]:
        """The analysis of one topic."""
        return self.of_topic(_ANALYSIS, name, topic_analysis)

    def of_topic(self, what: str, name: str, work: Callable[[Overlay, str], Answer]) -> Awaitable[Answer]:
        """Something worked out from one topic as it is at this call: in a thread, and once until a change touches it."""
        known = self._of_topics.get(name, {}).get(what)
        if known is None or _failed(known):
            overlay = self.topic_overlay(name)
            known = asyncio.ensure_future(asyncio.to_thread(work, overlay, name))
            self._of_topics.setdefault(name, {})[what] = known
        return asyncio.shield(known)

    async def all_topics(self) -> dict[str, TopicAnalysis]:
        """The analyses of all topics of one version, by name; only those that a change touched are made anew.

        The topics are taken apart in the thread, from a copy: tens of thousands of them take seconds.
        """
        loop = asyncio.get_running_loop()
        names = self.live.topic_names()
        wanted, missing = {}, {}
        for name in names:
            known = self._of_topics.get(name, {}).get(_ANALYSIS)
            if known is None or _failed(known):
                known = missing[name] = loop.create_future()
                self._of_topics.setdefault(name, {})[_ANALYSIS] = known
            wanted[name] = known
        if missing:
            # A task of its own: whoever asked may leave, and others wait for it too.
            task = asyncio.ensure_future(_analyse(self.live.copy(), missing))
            self._analysing.add(task)
            task.add_done_callback(self._analysing.discard)
        return {
            name: known.result() if known.done() else await asyncio.shield(known)
            for name, known in wanted.items()
        }

    async def snapshot(self) -> tuple[int, Overlay]:
        """A version, and the whole overlay of it as one value; made once a version, in a thread."""
        return await self.derived("snapshot", lambda overlay, _: overlay)

    async def derived(self, name: str, work: Callable[[Overlay, Policy], Answer]) -> tuple[int, Answer]:
        """Something worked out from the whole overlay and its policy, and the version of both: no older than this call.

        It is done in a thread, once a version for all who ask, and of each kind one at a time: while changes come, those
        who ask every moment would have it done for every version at once.
        """
        version, future = self._derived.get(name, (-1, None))
        while future is not None and not future.done() and version != self.version:
            await asyncio.wait([future])
            version, future = self._derived[name]
        if future is None or version != self.version or (future.done() and future.exception()):
            freeze, policy, version = self.live.freeze(), self.policy, self.version
            future = asyncio.ensure_future(asyncio.to_thread(lambda: work(freeze(), policy)))
            self._derived[name] = (version, future)
        answer: Answer = await asyncio.shield(future)
        return version, answer

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
            self._of_topics.pop(topic, None)
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


def _failed(known: asyncio.Future[Any]) -> bool:
    return known.done() and (known.cancelled() or known.exception() is not None)


async def _analyse(live: LiveOverlay, wanted: Mapping[str, asyncio.Future[TopicAnalysis]]) -> None:
    """Analyse topics of a copy in a thread, for all who wait for them."""
    try:
        found = await asyncio.to_thread(
            lambda: {name: topic_analysis(live.topic_overlay(name), name) for name in wanted}
        )
    except BaseException as error:
        for future in wanted.values():
            future.set_exception(Problem(f"the topics could not be analysed: {error}"))
            future.exception()  # whether somebody waits for it or not
        raise
    for name, future in wanted.items():
        future.set_result(found[name])
