"""Agents: what brokers tell of themselves between changes. Leases are renewed, versions acknowledged, the silent leave.

Heartbeats and acknowledgements are no changes of the overlay: they are answered from memory and written to Neo4j
together, once a second, so ten thousand brokers cost one small transaction. A process that dies within that second loses
renewals only, and a lease that was not seen to be renewed is given one full term more after every start.

An expired lease is a leave, after a look at what other processes have written. When more brokers than the policy's
brake would expire within a minute, none does: then it is more likely that their heartbeats do not reach us than that
they all died.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog
from neo4j import Record
from neo4j.exceptions import DriverError, Neo4jError

from algorithms.live import LiveOverlay, Plan, leave
from backend.errors import BadValue, NotFound, NotReady, Problem
from backend.live import Mirror, Proposal
from backend.manager import Manager
from backend.store import BrokerFacts, Lease
from backend.store.overlay import failures_of

log = structlog.get_logger(__name__)

SECONDS_BETWEEN_ROUNDS = 1.0
SECONDS_BETWEEN_READS = 5.0
WATCHED = timedelta(minutes=1)
FEWEST_BRAKED = 3
"""So few brokers may always expire, whatever share of a small overlay they are."""
WRITTEN_WITHIN = timedelta(seconds=2)
"""A lease is enforced so much later: a renewal that another process heard of is in Neo4j a moment after it."""
STALLED = timedelta(seconds=3)
"""A process that finds itself so late was suspended or blocked, and heard no heartbeats meanwhile."""
LEAVES_A_ROUND = 100
ROWS_A_BATCH = 2000
ACTOR = "lease"


class Agents:
    """Leases, acknowledgements and failures of the brokers' agents."""

    def __init__(self, manager: Manager) -> None:
        self.alarm: dict[str, Any] | None = None
        """Why leases are not being enforced."""
        self._manager = manager
        self._renewed: dict[str, tuple[Lease, bool]] = {}
        """Leases to be written, and whether the broker was heard of, or given grace."""
        self._acked: dict[str, int] = {}
        self._ticked_at = datetime.now(UTC)
        self._stalled = False
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to watch leases."""
        self._tasks = [asyncio.create_task(work) for work in (self._watch(), self._tick())]

    async def stop(self) -> None:
        """Stop watching; what agents said is written first."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        try:
            await self._write()
        except (Problem, Neo4jError, DriverError, OSError) as error:
            log.warning("what agents said last could not be written", reason=str(error))

    # What agents say

    def heartbeat(self, broker: str, ttl_seconds: int | None) -> Lease:
        """A broker lives; its lease runs anew."""
        facts = self._facts(broker)
        seconds = ttl_seconds or (facts.lease.seconds if facts.lease else None)
        if seconds is None:
            raise BadValue(
                f"ttl_seconds: {broker!r} joined without a lease; name one to give it one",
                field="ttl_seconds",
            )
        lease = Lease(seconds, datetime.now(UTC) + timedelta(seconds=seconds))
        facts.lease = lease
        self._renewed[broker] = (lease, True)
        return lease

    def acknowledge(self, broker: str, version: int) -> int:
        """A broker has the links of a version open; the newest such version counts."""
        facts = self._facts(broker)
        now = self._manager.mirror.version
        if version > now:
            raise BadValue(f"version: the overlay is at version {now} (got {version})", field="version")
        facts.acked = self._acked[broker] = max(version, facts.acked or 0)
        return facts.acked

    def _facts(self, broker: str) -> BrokerFacts:
        mirror = self._manager.mirror
        if broker not in mirror.live:
            raise NotFound(f"broker: no such broker (got {broker!r})", field="broker")
        return mirror.facts.setdefault(broker, BrokerFacts())

    # What follows from it

    async def _watch(self) -> None:
        mirror: Mirror | None = None
        read_at = datetime.min.replace(tzinfo=UTC)
        while True:
            await asyncio.sleep(SECONDS_BETWEEN_ROUNDS)
            try:
                now = datetime.now(UTC)
                if self._manager.mirror is not mirror:
                    mirror = self._manager.mirror
                    self._give_grace(mirror, now)
                await self._write()
                if now - read_at > timedelta(seconds=SECONDS_BETWEEN_READS):
                    self._take(mirror, await self._manager.database.read("agent/read_agents"))
                    read_at = now
                await self._expire(mirror)
            except NotReady:
                continue
            except (Neo4jError, DriverError, OSError):
                if mirror is not None:
                    self._give_grace(mirror, datetime.now(UTC))
            except Exception:
                log.exception("watching leases failed")

    async def _tick(self) -> None:
        """Notice that this process itself was suspended or blocked: heartbeats could not reach it then."""
        while True:
            self._ticked_at = datetime.now(UTC)
            await asyncio.sleep(SECONDS_BETWEEN_ROUNDS)
            if self._is_stalled(datetime.now(UTC)):
                self._stalled = True

    def _is_stalled(self, now: datetime) -> bool:
        return self._stalled or now - self._ticked_at > STALLED

    def _give_grace(self, mirror: Mirror, now: datetime) -> None:
        """Heartbeats may have been lost while we were away: every lease gets a full term from now."""
        for broker, facts in mirror.facts.items():
            if facts.lease:
                until = now + timedelta(seconds=facts.lease.seconds)
                if until > facts.lease.until:
                    facts.lease = Lease(facts.lease.seconds, until)
                    self._renewed.setdefault(broker, (facts.lease, False))

    async def _write(self) -> None:
        renewed, self._renewed = self._renewed, {}
        acked, self._acked = self._acked, {}
        leases = [
            {"broker": broker, "seconds": lease.seconds, "until": lease.until, "heard": heard}
            for broker, (lease, heard) in sorted(renewed.items())
        ]
        versions = [{"broker": broker, "version": version} for broker, version in sorted(acked.items())]
        try:
            for name, rows in (("agent/renew_leases", leases), ("agent/write_acks", versions)):
                for first in range(0, len(rows), ROWS_A_BATCH):
                    await self._manager.database.write(name, rows=rows[first : first + ROWS_A_BATCH])
        except (Neo4jError, DriverError, OSError):
            self._renewed = {**renewed, **self._renewed}
            self._acked = {**acked, **self._acked}
            raise

    def _take(self, mirror: Mirror, rows: Iterable[Record]) -> None:
        """What agents told another API process."""
        for row in rows:
            broker = row["broker"]
            if broker not in mirror.live:
                continue
            facts = mirror.facts.setdefault(broker, BrokerFacts())
            if row["until"] is not None:
                until = row["until"].to_native()
                if facts.lease is None or until > facts.lease.until:
                    facts.lease = Lease(row["seconds"], until)
            if row.get("acked") is not None:
                facts.acked = max(row["acked"], facts.acked or 0)
            if row.get("failures") is not None:
                facts.failures = failures_of(row["failures"])

    async def _expire(self, mirror: Mirror) -> None:
        due = _due(mirror, datetime.now(UTC))
        if due:
            # A short lease may have been renewed at another process since we read all of them.
            self._take(mirror, await self._manager.database.read("agent/read_leases", brokers=due))
        now = datetime.now(UTC)
        if self._is_stalled(now):
            self._stalled, self._ticked_at = False, now
            log.warning("this process stood still; leases get a full term more")
            self._give_grace(mirror, now)
        due = _due(mirror, now)
        # Those of every process: each sees the same leases run out.
        gone = sum(record.kind == "expire" for record in self._manager.feed.since(now - WATCHED))
        allowed = max(FEWEST_BRAKED, mirror.policy.lease_brake * mirror.live.brokers)
        if due and len(due) + gone > allowed:
            self._brake(mirror, len(due), now)
            return
        self.alarm = None
        self._manager.metrics.lease_brake.set(0)
        # Together: waiting changes are committed as one group. Not all at once: renewals are written between rounds.
        await asyncio.gather(*(self._leave(broker) for broker in due[:LEAVES_A_ROUND]))

    def _brake(self, mirror: Mirror, due: int, now: datetime) -> None:
        self._manager.metrics.lease_brake.set(1)
        if self.alarm is None:
            soon = sum(
                1 for facts in mirror.facts.values() if facts.lease and facts.lease.until <= now + WATCHED
            )
            self.alarm = {
                "kind": "lease-brake",
                "since": now,
                "detail": f"{due} leases have expired, {soon} end within a minute: more than the brake of "
                f"{mirror.policy.lease_brake:.0%} allows, so nobody is taken to have left",
            }
            log.error("leases are not enforced", due=due, soon=soon)

    async def _leave(self, broker: str) -> None:
        left = False

        def plan(live: LiveOverlay) -> Plan:
            nonlocal left
            # The mirror of the moment: it may be another one when the leave's turn comes.
            left = broker in live and _is_due(self._manager.mirror.facts_of(broker), datetime.now(UTC))
            return live.plan(leave(broker)) if left else Plan(live.version)

        answer = await self._manager.writer.submit(Proposal("expire", ACTOR, plan, broker=broker))
        if left:
            log.info("a lease expired", broker=broker, version=answer.version)


def _is_due(facts: BrokerFacts, now: datetime) -> bool:
    return facts.lease is not None and facts.lease.until + WRITTEN_WITHIN <= now


def _due(mirror: Mirror, now: datetime) -> list[str]:
    return sorted(broker for broker, facts in mirror.facts.items() if _is_due(facts, now))
