"""Settling: which links of an activation may be closed, as agents have what replaces them open.

A link waits for those that replace it, not for all that comes later: whenever all of the target is open, the agents are
noted that have not acknowledged the newest link of their broker; when they have, or were given the policy's settle time
for it, all that was to be closed by then may be closed. An agent that let its time pass is not waited for again until it
acknowledges something. So nobody who answers is passed over for one who does not, and steady churn, with which some agent
is always a moment behind, holds up what is left to close of the last moments only. For that there is an end too: one
settle time after all that the activation came for is closed, nothing is waited for any more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from backend.record import Pair
from backend.store import BrokerFacts

ALL = float("inf")


class Settling:
    """What one target waits for."""

    def __init__(
        self,
        facts: Mapping[str, BrokerFacts],
        given_up: dict[str, int],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.settled = -1
        """What was to be closed at this version may be closed; nothing may before all of the target was open once."""
        self._facts = facts
        self._given_up = given_up
        """Agents that are not waited for, and what each had acknowledged then."""
        self._now = now
        self._opened_at: dict[str, int] = {}
        """The version with the newest link of each broker: what its agent must acknowledge."""
        self._newest = -1
        """The version with the newest link that an agent has to open."""
        self._whole = -1
        """The newest version that had all of the target open."""
        self._waits_for: dict[str, int] | None = None
        self._waits_at = -1
        self._waits_since = 0.0
        self._first: int | None = None
        self._rests_since: float | None = None

    def opened(self, link: Pair, version: int) -> None:
        """A link of the target is open since this version."""
        for end in link:
            self._opened_at[end] = max(version, self._opened_at.get(end, -1))
        if self._has_agents([link]):
            self._newest = max(version, self._newest)

    def is_whole(self, version: int) -> None:
        """All of the target is open at this version."""
        self._whole = max(version, self._whole)

    def look(self, seconds: float, oldest: int | None) -> None:
        """Hear what agents say. ``seconds``: the settle time; ``oldest``: since which version a link is to be closed."""
        if self._waits_for is None and self._whole > self.settled:
            opened = self._opened_at.items() if self._newest > self.settled else ()
            self._waits_for = {
                broker: version
                for broker, version in opened
                if self._is_late(broker, version) and self._given_up.get(broker) != self._acked(broker)
            }
            self._waits_at, self._waits_since = self._whole, self._now()
        if self._waits_for is not None:
            self._waits_for = {b: v for b, v in self._waits_for.items() if self._is_late(b, v)}
            if not self._waits_for or self._now() - self._waits_since >= seconds:
                self._given_up.update((broker, self._acked(broker)) for broker in self._waits_for)
                self.settled, self._waits_for = self._waits_at, None
                self._first = self.settled if self._first is None else self._first
        if self._first is not None and self._rests_since is None and (oldest is None or oldest > self._first):
            self._rests_since = self._now()

    def may_close(self, seconds: float, opening: Iterable[Pair]) -> float:
        """What is to be closed since this version, or longer, may be, beside links that are being opened."""
        if self.settled < 0:
            return -1
        rests = self._rests_since is not None and self._now() - self._rests_since >= seconds
        if rests or (self._newest <= self.settled and not self._has_agents(opening)):
            return ALL
        return self.settled

    def _has_agents(self, links: Iterable[Pair]) -> bool:
        return any(end in self._facts and self._facts[end].has_agent for link in links for end in link)

    def _acked(self, broker: str) -> int:
        return self._facts[broker].acked or 0

    def _is_late(self, broker: str, version: int) -> bool:
        facts = self._facts.get(broker)
        return facts is not None and facts.has_agent and (facts.acked or 0) < version
