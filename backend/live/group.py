"""A group of changes: planned one after the other on the mirror, and all taken back before anything is committed."""

from __future__ import annotations

import json
import time
from collections import deque
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from algorithms import BadInput
from algorithms.live import Plan
from backend.errors import PreconditionFailed, Problem
from backend.live.mirror import Mirror
from backend.live.proposal import Answer, Proposal
from backend.metrics import Metrics
from backend.record import ChangeRecord, Figures
from backend.store.commit import Commit, Statement
from backend.store.idempotency import remember_answers

CHANGES_A_GROUP = 100
SECONDS_OF_PLANNING = 0.03
"""A group is closed after this long: reads are not kept waiting behind a long queue, and while Neo4j writes one half of
it the other half's requests are read and answered."""


@dataclass(frozen=True)
class Planned:
    """A proposal of the group that can be done, with its plan and its record (none: it changes nothing)."""

    proposal: Proposal
    plan: Plan
    record: ChangeRecord | None
    answer: Answer


@dataclass
class Attempt:
    """One try to commit a group."""

    id: str
    planned: list[Planned] = field(default_factory=list)

    @property
    def records(self) -> list[ChangeRecord]:
        """What the history gets, one record a version."""
        return [one.record for one in self.planned if one.record]

    def commit(self) -> Commit:
        """What is to be written."""
        newcomers = {name: facts for one in self.planned for name, facts in one.proposal.newcomers.items()}
        answers = [
            (repeatable.id, repeatable.fingerprint, json.dumps(one.answer.as_json()))
            for one in self.planned
            if (repeatable := one.proposal.repeatable)
        ]
        also: list[Statement] = [remember_answers(answers)] if answers else []
        for one in self.planned:
            also.extend(one.proposal.also(one.answer.version))
        return Commit(self.records, newcomers, also)


def take_group(waiting: deque[Proposal]) -> list[Proposal]:
    """The next group; of two requests with one Idempotency-Key the second waits, to find the first one's answer."""
    group: list[Proposal] = []
    keys: set[str] = set()
    while waiting and len(group) < CHANGES_A_GROUP:
        first = waiting[0]
        key = first.repeatable and first.repeatable.id
        if key in keys or (group and (first.alone or group[-1].alone)):
            break
        if key:
            keys.add(key)
        group.append(waiting.popleft())
    return group


def plan_group(
    mirror: Mirror, group: list[Proposal], group_id: str, metrics: Metrics
) -> tuple[list[Planned], list[Proposal]]:
    """Plan one after the other, then take all back; and those that came too late for this group.

    What is refused is answered. The late ones leave the group: if it is tried again, it must not bring them to the
    queue a second time.
    """
    at, began = datetime.now(UTC), time.monotonic()
    live = mirror.live
    planned: list[Planned] = []
    late: list[Proposal] = []
    version = live.version
    for i, proposal in enumerate(group):
        if planned and time.monotonic() - began > SECONDS_OF_PLANNING:
            late = group[i:]
            del group[i:]
            break
        if proposal.done.done():
            continue
        try:
            check_version(proposal, version)
            plan = proposal.plan(live)
        except (Problem, BadInput) as error:
            metrics.change(proposal.kind, "refused")
            proposal.refuse(error)
            continue
        record = None
        if not plan.is_empty or proposal.marks_version:
            version += 1
            record = ChangeRecord.of_plan(
                plan,
                version=version,
                group=group_id,
                at=at,
                actor=proposal.actor,
                kind=proposal.kind,
                broker=proposal.broker,
            )
            if plan.is_empty:
                live.version = version
            else:
                live.apply(plan)
            record = replace(record, figures=Figures(live.brokers, live.links, live.max_degree))
        planned.append(Planned(proposal, plan, record, Answer.of_plan(version, plan)))
    for one in reversed(planned):
        if one.record and one.plan.is_empty:
            live.version -= 1
        elif one.record:
            live.undo()
    metrics.group_size.observe(len(planned))
    return planned, late


def check_version(proposal: Proposal, now: int) -> None:
    """Refuse a change that was meant for another version."""
    if proposal.if_match is not None and proposal.if_match != now:
        raise PreconditionFailed(
            f"If-Match: the overlay is at version {now} (got {proposal.if_match})", field="If-Match"
        )
