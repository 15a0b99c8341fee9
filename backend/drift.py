"""Drift: how far the live degree is above what a fresh build by the policy's algorithm would give, estimated in the background.

An estimate builds samples of the brokers, so it is made when enough has changed since the last one, not on request.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import structlog

from algorithms import find_algorithm
from algorithms.live.drift import Drift, drift
from backend.errors import NotReady
from backend.manager import Manager
from backend.policy import Policy
from backend.times import stamp

log = structlog.get_logger(__name__)

SECONDS_BETWEEN_LOOKS = 2.0
SECONDS_BETWEEN_ESTIMATES = 30.0
SHARE_CHANGED = 0.01
"""An estimate is old when so many versions, as a share of the brokers, came after it, or the live degree moved by as much."""


@dataclass(frozen=True)
class Estimate:
    """A drift, and when it was estimated."""

    drift: Drift
    version: int
    at: datetime


class DriftWatch:
    """The newest estimate of one API process."""

    def __init__(self, manager: Manager) -> None:
        self.newest: Estimate | None = None
        self._manager = manager
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to estimate."""
        self._task = asyncio.create_task(self._watch())

    async def stop(self) -> None:
        """Stop estimating."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def as_json(self) -> dict[str, Any] | None:
        """As the API tells it; None before the first estimate and for an overlay without links."""
        newest = self.newest
        if newest is None:
            return None
        threshold = self._manager.mirror.policy.drift_threshold
        return {
            "drift": newest.drift.share,
            "advised": newest.drift.share > threshold,
            "threshold": threshold,
            "version": newest.version,
            "at": stamp(newest.at),
            "algorithm": newest.drift.algorithm,
            "fresh_degree": newest.drift.fresh_degree,
            "exact": newest.drift.exact,
        }

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            try:
                await self._look()
            except NotReady:
                continue
            except Exception:
                log.exception("estimating the drift failed")
                await asyncio.sleep(SECONDS_BETWEEN_ESTIMATES)

    async def _look(self) -> None:
        mirror, newest = self._manager.mirror, self.newest
        if mirror.live.links == 0:
            self.newest = None
            return
        now = datetime.now(UTC)
        if newest is not None:
            behind = abs(mirror.version - newest.version)
            young = (now - newest.at).total_seconds() < SECONDS_BETWEEN_ESTIMATES
            # An activation changes every link in a few versions.
            degree, then = 2 * mirror.live.links / mirror.live.brokers, newest.drift.live_degree
            few = behind < SHARE_CHANGED * mirror.live.brokers and abs(degree - then) < SHARE_CHANGED * then
            if behind == 0 or young or few:
                return
        version, policy, freeze = mirror.version, mirror.policy, mirror.live.freeze()
        found = await asyncio.to_thread(lambda: drift(freeze(), k=policy.k, algorithm=_fresh(policy)))
        self.newest = Estimate(found, version, now)


def _fresh(policy: Policy) -> str | None:
    """What a rebuild would take: the policy's algorithm, unless it cannot give the policy's k."""
    chosen = find_algorithm(policy.algorithm)
    able = chosen.promised_k({**chosen.parse({}), **chosen.asked_for(policy.k)}) >= policy.k
    return chosen.name if able else None
