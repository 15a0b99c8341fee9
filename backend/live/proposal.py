"""Proposals: changes that wait for the writer, and what each is answered."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from algorithms import BadInput
from algorithms.live import Change, LiveOverlay, Plan
from backend.errors import BadValue, Conflict, NotFound, Problem
from backend.record import Kind, Pair
from backend.store.commit import Statement
from backend.store.database import SECONDS_OF_COMMIT
from backend.store.overlay import BrokerFacts

SIZE_AT_ONCE = 2000
"""Topics and links of what is planned on the event loop at once."""
SIZE_OF_A_STEP = 20


@dataclass(frozen=True)
class Answer:
    """What a change came to: its version, and the links opened and closed with their reasons."""

    version: int
    opened: tuple[Pair, ...] = ()
    opened_reasons: tuple[str, ...] = ()
    closed: tuple[Pair, ...] = ()
    closed_reasons: tuple[str, ...] = ()

    @classmethod
    def of_plan(cls, version: int, plan: Plan) -> Answer:
        """The answer for a plan that becomes, or would become, this version."""
        return cls(
            version,
            tuple(link.ends for link in plan.opened),
            tuple(link.reason for link in plan.opened),
            tuple(link.ends for link in plan.closed),
            tuple(link.reason for link in plan.closed),
        )

    def as_json(self) -> dict[str, Any]:
        """The answer as the API tells it."""
        return {
            "version": self.version,
            "opened": self.opened,
            "closed": self.closed,
            "opened_reasons": self.opened_reasons,
            "closed_reasons": self.closed_reasons,
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Answer:
        """The answer that :meth:`as_json` told."""

        def pairs(name: str) -> tuple[Pair, ...]:
            return tuple((a, b) for a, b in body[name])

        return cls(
            body["version"],
            pairs("opened"),
            tuple(body["opened_reasons"]),
            pairs("closed"),
            tuple(body["closed_reasons"]),
        )


@dataclass(frozen=True)
class Repeatable:
    """An Idempotency-Key: the same actor, key and request get the same answer for a day."""

    actor: str
    key: str
    fingerprint: str

    @classmethod
    def of_request(cls, actor: str, key: str, method: str, path: str, body: object) -> Repeatable:
        """The key of one request; the fingerprint tells whether another one is the same request."""
        text = json.dumps([method, path, body], sort_keys=True, ensure_ascii=True)
        return cls(actor, key, hashlib.sha256(text.encode()).hexdigest())

    @property
    def id(self) -> str:
        """What is unique in the database."""
        return f"{self.actor}\u0000{self.key}"

    def answer(self, fingerprint: str, answer: str) -> Answer:
        """The answer of the first request with this key, unless that was another request."""
        if fingerprint != self.fingerprint:
            raise BadValue(
                f"Idempotency-Key: was used for another request (got {self.key!r})", field="Idempotency-Key"
            )
        return Answer.from_json(json.loads(answer))


@dataclass(eq=False)
class Proposal:
    """A change that waits: planned by ``plan`` on the live overlay when its turn comes."""

    kind: Kind
    actor: str
    plan: Callable[[LiveOverlay], Plan]
    """Finds the plan, or raises the problem that the caller is answered with; changes nothing."""
    broker: str | None = None
    if_match: int | None = None
    repeatable: Repeatable | None = None
    newcomers: Mapping[str, BrokerFacts] = field(default_factory=dict)
    also: Callable[[int], tuple[Statement, ...]] = lambda _: ()
    """Further statements of the same transaction, for the version it gets; a change that has some is never empty."""
    marks_version: bool = False
    """Whether it becomes a version even when it changes no link and no subscription: a policy."""
    alone: bool = False
    """Whether it must be planned on what is committed, with no other change of its group before it."""
    slow: bool = False
    """Whether planning it may take longer than everybody else should wait: a thread does it, with no other change of its
    group. So its plan may lean on what the thread can read while the event loop goes on."""
    ahead: bool = False
    """Whether it may be planned while those before it are being committed: its plan depends on nothing but the overlay
    that ``plan`` is given, and its commit does nothing besides."""
    committed: Callable[[], None] = lambda: None
    """Called in the moment the mirror has it, before anything else can happen."""
    seconds: float = SECONDS_OF_COMMIT
    """How long its transaction may take."""
    done: asyncio.Future[Answer] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def answer(self, answer: Answer) -> None:
        """Tell the caller, unless it was told something already."""
        if not self.done.done():
            self.done.set_result(answer)

    def refuse(self, error: Exception) -> None:
        """Tell the caller why not, unless it was told something already."""
        if not self.done.done():
            self.done.set_exception(error)


def takes_long(live: LiveOverlay, changes: Iterable[Change]) -> bool:
    """Whether planning these may take longer than everybody else should wait: about a millisecond for a broker with
    twenty topics, and more for those who name many, or whose links have to be replaced."""
    size = 0
    for change in changes:
        gone = change.op != "join" and change.op != "subscribe" and change.broker in live
        size += SIZE_OF_A_STEP + len(change.topics) + (live.degree_of(change.broker) if gone else 0)
    return size > SIZE_AT_ONCE


def planner(make: Callable[[LiveOverlay], Plan]) -> Callable[[LiveOverlay], Plan]:
    """A plan function whose bad input names the broker or topic as not found, or the join as a conflict."""

    def plan(live: LiveOverlay) -> Plan:
        try:
            return make(live)
        except BadInput as error:
            raise problem_of(error) from None

    return plan


def problem_of(error: BadInput) -> Problem:
    """The problem that a refused change is answered with."""
    # The reason alone: the text also holds what the caller sent, and that may say anything.
    if error.reason.startswith("no such"):
        return NotFound(str(error), field=error.field)
    if error.reason == "has joined already":
        return Conflict(str(error), field="id")
    return BadValue(str(error), field=error.field)
