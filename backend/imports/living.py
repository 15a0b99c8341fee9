"""Imports into an overlay that lives: batches of joins and sets of topics, as ordinary changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from algorithms import Interests
from algorithms.live import Change, LiveOverlay, Plan, join, set_topics
from backend.live import Proposal, Writer
from backend.live.proposal import SIZE_AT_ONCE, SIZE_OF_A_STEP, planner
from backend.worker import Report


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
        done = 0
        for batch in self._batches():
            report(done / len(self._interests.brokers), "joining")
            await self._batch(batch)
            done += len(batch)

    def _batches(self) -> Iterator[list[str]]:
        """As many brokers at a time as can be planned while everybody else waits, one at least."""
        batch: list[str] = []
        size = 0
        for broker, topics in zip(
            self._interests.brokers, self._interests.broker_sizes().tolist(), strict=True
        ):
            if batch and size + SIZE_OF_A_STEP + topics > SIZE_AT_ONCE:
                yield batch
                batch, size = [], 0
            batch.append(broker)
            size += SIZE_OF_A_STEP + topics
        if batch:
            yield batch

    async def _batch(self, brokers: list[str]) -> None:
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
        slow = len(brokers) == 1 and len(self._interests.topics_of(brokers[0])) > SIZE_AT_ONCE
        answer = await self._writer.submit(Proposal("batch", self._actor, planner(plan), slow=slow))
        done = self.done
        for name, count in counts.items():
            done[name] += count
        done["opened"] += len(answer.opened)
        done["closed"] += len(answer.closed)
        if answer.version != before or counts["joined"] or counts["changed"]:
            done["first_version"] = done["first_version"] or answer.version
            done["version"] = answer.version
