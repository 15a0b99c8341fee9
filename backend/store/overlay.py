"""What is stored of the overlay; :mod:`backend.store.loading` reads it whole, :mod:`backend.store.bulk` writes whole ones."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from neo4j.exceptions import ConstraintError

from algorithms import Overlay
from backend.policy import Policy
from backend.record import Pair
from backend.store.database import Database


@dataclass(frozen=True)
class Lease:
    """A broker that must be heard of."""

    seconds: int
    until: datetime

    @property
    def begins(self) -> datetime:
        """When the broker was heard of, or given grace."""
        return self.until - timedelta(seconds=self.seconds)


@dataclass
class BrokerFacts:
    """What is known of a broker beside its interests and links."""

    attributes: dict[str, Any] = field(default_factory=dict)
    lease: Lease | None = None
    acked: int | None = None
    """The newest version whose links its agent says are open."""
    failures: list[dict[str, Any]] = field(default_factory=list)
    """Links its agent could not open: [{link, reason, at}]."""

    @property
    def has_agent(self) -> bool:
        """Whether somebody opens its links who can say so."""
        return self.lease is not None or self.acked is not None

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing to remember."""
        return not self.attributes and self.lease is None and self.acked is None and not self.failures

    def as_of(self, version: int) -> BrokerFacts:
        """A copy beside one version of the overlay, which an agent may be ahead of: it heard of more elsewhere."""
        acked = None if self.acked is None else min(self.acked, version)
        return BrokerFacts(self.attributes, self.lease, acked, self.failures)


@dataclass(frozen=True)
class StoredOverlay:
    """The live overlay at one version."""

    version: int
    policy: Policy
    overlay: Overlay
    links: dict[Pair, tuple[int, str]]
    """Since which version a link is open, and why."""
    facts: dict[str, BrokerFacts]
    """Only of brokers with something to tell."""


def facts_of(
    attributes: str | None,
    seconds: int | None,
    until: Any,
    acked: int | None,
    failures: str | list[str] | None,
) -> BrokerFacts:
    """Facts as a broker's node holds them."""
    return BrokerFacts(
        json.loads(attributes) if attributes else {},
        Lease(seconds, until.to_native()) if seconds and until else None,
        acked,
        failures_of(failures),
    )


def failures_of(stored: str | list[str] | None) -> list[dict[str, Any]]:
    """Failures as a broker's node holds them: a text each; one text for all of them is how they were kept first."""
    texts = [stored] if isinstance(stored, str) else stored or []
    told = [json.loads(text) for text in texts]
    return [failure for some in told for failure in (some if isinstance(some, list) else [some])]


async def read_facts(database: Database, brokers: Sequence[str]) -> dict[str, BrokerFacts]:
    """What is known of some brokers beside interests and links; only of those with something to tell."""
    found = await database.read("agent/read_facts", brokers=list(brokers))
    facts = {row["broker"]: facts_of(*row.values()[1:]) for row in found}
    return {broker: known for broker, known in facts.items() if not known.is_plain}


async def read_policy(database: Database) -> Policy:
    """The policy in force."""
    return Policy.from_properties((await database.read("overlay/read_overlay"))[0]["properties"])


async def create_overlay(database: Database, policy: Policy) -> None:
    """An empty overlay at version 0, where there is none yet."""
    # Another process that came up at the same time may be quicker: the constraint on the name refuses a second one.
    with contextlib.suppress(ConstraintError):
        await database.write("overlay/create_overlay", policy=policy.properties())
