"""The policy: read, and changed with its plan shown first; and links nobody needs, closed on request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from algorithms import BadInput
from algorithms.completion import missing_links
from algorithms.live import LinkChange, LiveOverlay, Plan
from algorithms.live.plan import Strategy
from backend.api.access import Admin
from backend.api.answers import overlay as answers
from backend.api.answers.shape import answered, example, shown
from backend.api.changes import ChangeAnswer, ChangeCall
from backend.api.dependencies import LiveMirror, LiveWriter
from backend.errors import BadValue, PreconditionFailed
from backend.live import Mirror, Proposal, Writer
from backend.policy import Policy
from backend.record import Pair, PolicyPlan
from backend.store.commit import Statement

router = APIRouter(tags=["policy"])

Found = TypeVar("Found")
Made = TypeVar("Made")
TRIES = 5
"""So often links are found anew, when the overlay went on meanwhile."""


class Moved(PreconditionFailed):
    """The overlay is not at the version that links were found for."""

    def __init__(self, found_at: int, now: int) -> None:
        super().__init__(f"the overlay went on from version {found_at} to {now} meanwhile; ask again")


def _unchanged() -> Any:
    """What is left out stays. No value says so: a null is refused like any other value of a wrong type."""


class PolicyBody(BaseModel):
    """What the live overlay must be, how repairs choose links, when operators are warned; what is left out stays."""

    model_config = ConfigDict(
        extra="forbid", populate_by_name=True, json_schema_extra={"examples": [{"k": 2}]}
    )
    k: int = Field(default_factory=_unchanged, description="every topic survives k - 1 failures: 1 or 2")
    strategy: Strategy = Field(default_factory=_unchanged, description="how a repair chooses links")
    rho: float = Field(
        default_factory=_unchanged,
        description="a link may raise the maximum degree when it is worth more than rho times as much as one that does not",
    )
    lambda_: int = Field(
        default_factory=_unchanged,
        alias="lambda",
        description="how often backups cover each topic of their broker",
    )
    algorithm: str = Field(default_factory=_unchanged, description="what a rebuild uses by default")
    settle_seconds: float = Field(
        default_factory=_unchanged,
        description="how long a link that is to be closed waits for agents that do not acknowledge its replacements",
    )
    lease_brake: float = Field(
        default_factory=_unchanged,
        description="when more than this share of the brokers would expire within a minute, none does",
    )
    drift_threshold: float = Field(
        default_factory=_unchanged,
        description="a degree so far above a fresh build's marks that a rebuild is advised",
    )


class PolicyAnswer(ChangeAnswer):
    """What a change of the policy came to."""

    model_config = example(
        **{**shown(ChangeAnswer), "opened_reasons": ["the policy asks for a higher k"]},
        policy={**shown(answers.Policy), "k": 2},
    )
    policy: answers.Policy
    """The policy from now on."""


@router.get("/policy", responses=answered(answers.Policy))
async def read_policy(mirror: LiveMirror) -> dict[str, Any]:
    """The policy in force."""
    return mirror.policy.properties()


@router.put("/policy", responses=answered(PolicyAnswer))
async def change_policy(
    caller: Admin,
    writer: LiveWriter,
    wanted: PolicyBody,
    dry_run: Annotated[bool, Query(description="answer with the plan, and change nothing")] = False,
) -> dict[str, Any]:
    """Change the policy. Raising k opens the links it takes; other changes may have to wait while they are found."""
    given = wanted.model_dump(by_alias=True, exclude_unset=True)

    async def find() -> _PolicyChange:
        return await _PolicyChange.found(writer, given, caller.name)

    async def make(change: _PolicyChange, *, holds: bool) -> dict[str, Any]:
        if dry_run:
            answer = await writer.preview(change.proposal)
        else:
            answer = await (writer.write_now if holds else writer.submit)(change.proposal)
        return {
            **ChangeAnswer.of(answer, dry_run=dry_run).model_dump(),
            "policy": change.after.properties(),
        }

    return await _at_one_version(writer, find, make)


async def _at_one_version(
    writer: Writer, find: Callable[[], Awaitable[Found]], make: Callable[..., Awaitable[Made]]
) -> Made:
    """Find what is to be done and do it, at one version of the overlay.

    What takes long to find is found beside other changes at first. If one comes between, those of this process wait while
    it is found again; another process may still be quicker, which its plan notices when its turn comes.
    """
    with suppress(Moved):
        return await make(await find(), holds=False)
    for _ in range(TRIES - 2):
        with suppress(Moved):
            async with writer.holding():
                return await make(await find(), holds=True)
    async with writer.holding():
        return await make(await find(), holds=True)


class _PolicyChange:
    """Other values for some of the policy's, with the links that a higher k takes at one version."""

    def __init__(
        self, writer: Writer, given: dict[str, Any], links: list[Pair], version: int, actor: str
    ) -> None:
        self.before = self.after = writer.mirror.policy
        self._writer = writer
        self._given = given
        self._links = links
        self._version = version
        self.proposal = Proposal(
            "policy", actor, self._plan, also=self._also, committed=self._committed, alone=True
        )

    @classmethod
    async def found(cls, writer: Writer, given: dict[str, Any], actor: str) -> _PolicyChange:
        """The change for the overlay of now."""
        mirror = writer.mirror
        version, k = mirror.version, _changed(mirror.policy, given).k
        links = await _links_for(mirror, k) if k > mirror.policy.k else []
        return cls(writer, given, links, version, actor)

    def _plan(self, live: LiveOverlay) -> Plan:
        """The policy may have changed since: what was not asked for stays as it is when its turn comes."""
        self.before = self._writer.mirror.policy
        self.after = _changed(self.before, self._given)
        self.proposal.marks_version = self.after != self.before
        return PolicyPlan.of(self._links_plan(live), self.before.properties(), self.after.properties())

    def _links_plan(self, live: LiveOverlay) -> Plan:
        if self.after.k <= self.before.k:
            return Plan(live.version)
        if live.version != self._version:
            raise Moved(self._version, live.version)
        opened = tuple(LinkChange(a, b, "policy") for a, b in sorted(self._links))
        return live.replay(Plan(live.version, opened=opened)) if opened else Plan(live.version)

    def _also(self, _: int) -> tuple[Statement, ...]:
        if self.after == self.before:
            return ()
        return (("overlay/set_policy", {"policy": self.after.properties()}),)

    def _committed(self) -> None:
        self._writer.mirror.set_policy(self.after)


def _changed(policy: Policy, given: dict[str, Any]) -> Policy:
    try:
        return policy.changed(given)
    except BadInput as error:
        raise BadValue(str(error), field=error.field) from None


async def _links_for(mirror: Mirror, k: int) -> list[Pair]:
    """What the live links lack for a higher k."""
    freeze = mirror.live.freeze()

    def find() -> list[Pair]:
        overlay = freeze()
        brokers = overlay.interests.brokers
        return [(brokers[min(link)], brokers[max(link)]) for link in missing_links(overlay, k).tolist()]

    return await asyncio.to_thread(find)


@router.post("/prune")
async def prune_links(call: ChangeCall) -> ChangeAnswer:
    """Close every link that no topic needs for its k."""

    async def find() -> Proposal:
        mirror = call.writer.mirror
        # No await between these copies: they are one version.
        version, policy, freeze = mirror.version, mirror.policy, mirror.live.freeze()
        closed = await asyncio.to_thread(
            lambda: LiveOverlay(freeze(), policy.repairs(), check=False).plan_prune().closed
        )

        def plan(live: LiveOverlay) -> Plan:
            if live.version != version:
                raise Moved(version, live.version)
            return live.replay(Plan(live.version, closed=closed))

        return Proposal("prune", call.actor, plan, alone=True)

    return await _at_one_version(call.writer, find, call.propose)
