"""Imports into an overlay that lives: batches of joins and sets of topics, as ordinary changes."""

from __future__ import annotations

from typing import Any

from algorithms import Interests
from algorithms.live import Change, LiveOverlay, Plan, join, set_topics
from backend.live import Proposal, Writer
from backend.live.proposal import planner
from backend.worker import Report

BROKERS_A_BATCH = 50
"""A batch is planned on the event loop, where everybody else waits for it."""


class LivingImport:
    """One import, batch by batch; ``done`` tells how far it came, whatever happens."""

    def __init__(self, writer: Writer, interests: Interests, actor: str) -> None:
        self._writer = writer
        self._interests = interests
        self._actor = actor
        self.done: dict[str, Any] = {
            "brokers": len(interests.brokers),
            "topics": len(interests.topics),
            "subscriptions": interests.subscriptions,
            "duplicates": interests.duplicates,
            "joined": 0,
            "changed": 0,
            "unchanged": 0,
            "opened": 0,
            "closed": 0,
            "first_version": None,
            "version": writer.mirror.version,
        }

    async def run(self, report: Report) -> None:
        """Every broker of the file has exactly its topics; brokers the file does not name stay as they are."""
        brokers = self._interests.brokers
        for first in range(0, len(brokers), BROKERS_A_BATCH):
            report(first / len(brokers), "joining")
            await self._batch(brokers[first : first + BROKERS_A_BATCH])

    async def _batch(self, brokers: tuple[str, ...]) -> None:
        counts = {"joined": 0, "changed": 0, "unchanged": 0}

        def plan(live: LiveOverlay) -> Plan:
            changes: list[Change] = []
            counts.update(joined=0, changed=0, unchanged=0)
            for broker in brokers:
                topics = self._interests.topics_of(broker)
                if broker not in live:
                    changes.append(join(broker, topics))
                    counts["joined"] += 1
                elif live.topics_of(broker) != topics:
                    changes.append(set_topics(broker, topics))
                    counts["changed"] += 1
                else:
                    counts["unchanged"] += 1
            return live.plan(changes) if changes else Plan(live.version)

        before = self._writer.mirror.version
        answer = await self._writer.submit(Proposal("batch", self._actor, planner(plan)))
        done = self.done
        for name, count in counts.items():
            done[name] += count
        done["opened"] += len(answer.opened)
        done["closed"] += len(answer.closed)
        if answer.version != before or counts["joined"] or counts["changed"]:
            done["first_version"] = done["first_version"] or answer.version
            done["version"] = answer.version
