"""A group of changes: who is in it, and what is written of it in one transaction."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from uuid import uuid4

from backend.live.head import Planned
from backend.live.proposal import Proposal
from backend.record import ChangeRecord
from backend.store import BrokerFacts
from backend.store.commit import Commit, RememberedAnswer

CHANGES_A_GROUP = 100
FEWEST_APART = 16
"""Where more wait than this, half of them make the next group and the others the one after it: while Neo4j writes one,
the other's requests are read, planned and answered."""


@dataclass
class Attempt:
    """One try to commit a group."""

    id: str = field(default_factory=lambda: str(uuid4()))
    planned: list[Planned] = field(default_factory=list)
    refused: list[tuple[Proposal, Exception]] = field(default_factory=list)

    def forget(self) -> None:
        """Begin anew: what it was planned on is not what is committed."""
        self.planned, self.refused = [], []
        self.__dict__.pop("records", None)

    @cached_property
    def records(self) -> list[ChangeRecord]:
        """What the history gets, one record a version, when all is planned."""
        at = datetime.now(UTC)
        return [
            ChangeRecord.of_plan(
                one.plan,
                version=one.answer.version,
                group=self.id,
                at=at,
                actor=one.proposal.actor,
                kind=one.proposal.kind,
                broker=one.proposal.broker,
                figures=one.figures,
            )
            for one in self.planned
            if one.figures
        ]

    def commit(self, base: int) -> Commit:
        """What is to be written, where the mirror was at this version."""
        newcomers: dict[str, BrokerFacts] = {}
        for one in self.planned:
            for broker in one.plan.left:  # who comes again in the same group does so with nothing of before
                newcomers.pop(broker, None)
            newcomers |= one.proposal.newcomers
        answers = [
            RememberedAnswer(repeatable.id, repeatable.fingerprint, json.dumps(one.answer.as_json()))
            for one in self.planned
            if (repeatable := one.proposal.repeatable)
        ]
        also = [statement for one in self.planned for statement in one.proposal.also(one.answer.version)]
        return Commit(self.id, base, self.records, newcomers, answers, also)


def next_group(waiting: Collection[Proposal], before: int) -> list[Proposal]:
    """The next group, where ``before`` were in the one before it, whose callers may be back soon.

    Of two requests with one Idempotency-Key the second waits, to find the first one's answer.
    """
    most = min(max((len(waiting) + before + 1) // 2, FEWEST_APART), CHANGES_A_GROUP)
    group: list[Proposal] = []
    keys: set[str] = set()
    for proposal in waiting:
        key = proposal.repeatable and proposal.repeatable.id
        if len(group) == most or key in keys or (group and (_is_alone(proposal) or _is_alone(group[-1]))):
            break
        if key:
            keys.add(key)
        group.append(proposal)
    return group


def _is_alone(proposal: Proposal) -> bool:
    return proposal.alone or proposal.slow
