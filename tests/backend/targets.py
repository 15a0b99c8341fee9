"""What an activation must come to, by a plain computation: from its links, the records of changes, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable

import neo4j

from algorithms import Interests, LiveOverlay, Overlay
from backend.policy import Policy
from backend.rebuilds.build import fitted
from backend.record import ChangeRecord
from tests.backend.conftest import rows
from tests.backend.test_churn_machine import Link, State


class History:
    """Every version, worked out backwards from what is stored."""

    def __init__(self, driver: neo4j.Driver) -> None:
        self.policy = Policy.from_properties(
            rows(driver, "MATCH (o:Overlay) RETURN properties(o) AS it")[0]["it"]
        )
        changes = rows(driver, "MATCH (c:Change) RETURN properties(c) AS it ORDER BY c.version DESC")
        self.records = [ChangeRecord.from_node(row["it"]) for row in reversed(changes)]
        self.states = {len(changes): State.read(driver)}
        for row in changes:
            version = row["it"]["version"]
            self.states[version - 1] = self.states[version].before(row["it"])
        assert self.states[0] == State(frozenset(), frozenset(), frozenset())

    def check(self) -> None:
        """Each version keeps what the policy of now promises."""
        for state in self.states.values():
            state.check(self.policy.k)

    def versions_of(self, kind: str) -> list[int]:
        return [record.version for record in self.records if record.kind == kind]

    def between(self, kind: str) -> int:
        """How many other changes came between the first and the last batch."""
        batches = self.versions_of(kind)
        return batches[-1] - batches[0] + 1 - len(batches)

    def target(self, links: Iterable[Link], prepared: int, ended: int) -> frozenset[Link]:
        """Links fitted to the interests of one version, then repaired for each change up to another one.

        Which links a repair chooses depends on those that are there, so the version from which the target follows the
        changes is part of what it comes to: whoever takes an activation over makes the target anew, at a version of its
        own. With that version the links are known to the last one.
        """
        state = self.states[prepared]
        interests = Interests.from_mapping(
            {broker: [t for b, t in sorted(state.subscriptions) if b == broker] for broker in state.brokers}
        )
        start = fitted(Overlay.from_names(interests, []), sorted(links), self.policy.k)
        overlay = LiveOverlay(start, self.policy.repairs(), check=False, version=prepared)
        for record in self.records[prepared:ended]:
            if changes := record.changes():
                overlay.apply(overlay.plan(changes))
            overlay.version = record.version
        return frozenset(overlay.snapshot().link_names())
