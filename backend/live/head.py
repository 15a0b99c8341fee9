"""The head: the overlay as it will be when all that is planned is committed.

The mirror is what is committed, and what reads see. Changes are planned on a copy of it that runs ahead: while Neo4j
writes one group, those who wait are planned on top of it. A copy takes less than a millisecond for 10,000 brokers, so
whatever goes another way than it was planned (a commit that failed, a change of another process, a policy) does away
with the head, and with every plan of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, takewhile

from algorithms import BadInput
from algorithms.live import Plan
from backend.errors import PreconditionFailed, Problem
from backend.live.mirror import Mirror
from backend.live.proposal import Answer, Proposal
from backend.record import Figures


@dataclass(frozen=True)
class Planned:
    """A proposal that can be done, with its plan."""

    proposal: Proposal
    plan: Plan
    answer: Answer
    figures: Figures | None
    """What the overlay comes to; None: it changes nothing and gets no version."""


class Head:
    """Plans proposals one after the other, each on top of those before it."""

    def __init__(self, mirror: Mirror) -> None:
        self._live = mirror.live.copy()
        self._outcomes: dict[Proposal, Planned | Exception] = {}

    def __len__(self) -> int:
        return len(self._outcomes)

    def __contains__(self, proposal: Proposal) -> bool:
        return proposal in self._outcomes

    def fits(self, group: list[Proposal]) -> bool:
        """Whether the group can be committed first: it was planned before all others, or has nothing before it."""
        known = list(takewhile(self._outcomes.__contains__, group))
        return known == list(islice(self._outcomes, len(known))) and len(known) in (len(group), len(self))

    def plan(self, proposal: Proposal) -> None:
        """Plan the next one. That it is refused is kept for later, too: what was planned before may yet fail."""
        try:
            check_version(proposal, self._live.version)
            plan = proposal.plan(self._live)
        except (Problem, BadInput) as error:
            self._outcomes[proposal] = error
            return
        figures = None
        if not plan.is_empty or proposal.marks_version:
            if plan.is_empty:
                self._live.version += 1
            else:
                self._live.apply(plan)
            figures = Figures(self._live.brokers, self._live.links, self._live.max_degree)
        self._outcomes[proposal] = Planned(proposal, plan, Answer.of_plan(self._live.version, plan), figures)

    def take(self, proposal: Proposal) -> Planned | Exception:
        """What became of a proposal; the head forgets it."""
        return self._outcomes.pop(proposal)


def check_version(proposal: Proposal, now: int) -> None:
    """Refuse a change that was meant for another version."""
    if proposal.if_match is not None and proposal.if_match != now:
        raise PreconditionFailed(
            f"If-Match: the overlay is at version {now} (got {proposal.if_match})", field="If-Match"
        )
