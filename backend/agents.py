"""Agents: what brokers tell of themselves between changes. Leases are renewed, versions acknowledged, the silent leave.

Heartbeats and acknowledgements are no changes of the overlay: they are answered from memory and written to Neo4j
together, once a second, so ten thousand brokers cost one small transaction. A process that dies within that second loses
what was told in it: a lease that was not seen to be renewed is given one full term more after every start, and what an
activation waits for is acknowledged again with the next ping, or the settle time ends.

An expired lease is a leave, after a look at what other processes have written. When more brokers than the policy's
brake would expire within a minute, none does: then it is more likely that their heartbeats do not reach us than that
they all died.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Any
from uuid import uuid4

import structlog
from neo4j.exceptions import DriverError, Neo4jError
from neo4j.time import DateTime

from algorithms.live import LiveOverlay, Plan, leave
from backend.errors import BadValue, NotFound, NotReady, Problem
from backend.live import Mirror, Proposal
from backend.manager import Manager
from backend.store import BrokerFacts, Lease
from backend.store.loading import read_records
from backend.store.overlay import failures_of

log = structlog.get_logger(__name__)

SECONDS_BETWEEN_ROUNDS = 1.0
SECONDS_BETWEEN_READS = 5.0
SECONDS_TO_LOOK = 1.0
"""Agents wait no longer for what other processes committed: a slow change may keep this one from following them."""
SECONDS_TO_WRITE = 10.0
"""The server then ends a transaction of ours, as one that waits for brokers which a large commit holds."""
SEEN_WITHIN = timedelta(seconds=SECONDS_TO_WRITE + 5)
"""What is told is stamped when it begins to be written, and seen when it is committed; Neo4j may be late to end it."""
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


@dataclass(frozen=True)
class Reading:
    """How far what other processes were told has been read."""

    version: int
    """Of the mirror: links that failed later are to be read of."""
    since: DateTime | None = None
    """By Neo4j's clock, from when on; None: all of it."""
    again: frozenset[str] = field(default_factory=frozenset)
    """Brokers that a change touched meanwhile."""


class Agents:
    """Leases, acknowledgements and failures of the brokers' agents."""

    def __init__(self, manager: Manager) -> None:
        self.alarm: dict[str, Any] | None = None
        """Why leases are not being enforced."""
        self._manager = manager
        self._id = str(uuid4())
        """Of this process: what it wrote itself need not be read again."""
        self._mirror: Mirror | None = None
        """The mirror that all below is about."""
        self._reading = Reading(0)
        self._renewed: dict[str, tuple[BrokerFacts, bool]] = {}
        """Leases to be written, and whether the broker was heard of, or given grace. The facts tell a broker from another
        one that has joined under the same id since."""
        self._acked: dict[str, BrokerFacts] = {}
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

    async def heartbeat(self, broker: str, ttl_seconds: int | None) -> Lease:
        """A broker lives; its lease runs anew."""
        if broker not in self._manager.mirror.live:
            await self._catch_up()  # it may have joined at another process a moment ago
        facts = self._facts(broker)
        seconds = ttl_seconds or (facts.lease.seconds if facts.lease else None)
        if seconds is None:
            raise BadValue(
                f"ttl_seconds: {broker!r} joined without a lease; name one to give it one",
                field="ttl_seconds",
            )
        lease = Lease(seconds, datetime.now(UTC) + timedelta(seconds=seconds))
        facts.lease = lease
        self._renewed[broker] = (facts, True)
        return lease

    async def acknowledge(self, broker: str, version: int) -> int:
        """A broker has the links of a version open; the newest such version counts."""
        if broker not in self._manager.mirror.live or version > self._manager.mirror.version:
            await self._catch_up()  # it may have heard of the version from another process
        facts = self._facts(broker)
        now = self._manager.mirror.version
        if version > now:
            raise BadValue(f"version: the overlay is at version {now} (got {version})", field="version")
        facts.acked = max(version, facts.acked or 0)
        self._acked[broker] = facts
        return facts.acked

    async def _catch_up(self) -> None:
        try:
            async with asyncio.timeout(SECONDS_TO_LOOK):
                await self._manager.writer.catch_up()
        except TimeoutError:
            raise NotReady(
                "a change that takes long is under way; what others committed is not known yet"
            ) from None

    def _facts(self, broker: str) -> BrokerFacts:
        mirror = self._manager.mirror
        if broker not in mirror.live:
            raise NotFound(f"broker: no such broker (got {broker!r})", field="broker")
        return mirror.facts.setdefault(broker, BrokerFacts())

    # What follows from it

    async def _watch(self) -> None:
        read_at = datetime.min.replace(tzinfo=UTC)
        while True:
            await asyncio.sleep(SECONDS_BETWEEN_ROUNDS)
            try:
                now = datetime.now(UTC)
                mirror = self._manager.mirror
                if mirror is not self._mirror:
                    await self._follow(mirror, now)
                    read_at = datetime.min.replace(tzinfo=UTC)
                await self._write()
                if now - read_at > timedelta(seconds=SECONDS_BETWEEN_READS):
                    await self._read(mirror)
                    read_at = now
                await self._expire(mirror)
            except NotReady:
                continue
            except (Neo4jError, DriverError, OSError):
                if self._mirror is not None:
                    self._give_grace(self._mirror, datetime.now(UTC))
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
                    if broker not in self._renewed:
                        self._renewed[broker] = (facts, False)

    async def _follow(self, mirror: Mirror, now: datetime) -> None:
        """Go on with the mirror of an overlay that was loaded anew."""
        before = self._mirror
        if before is not None and before.version <= mirror.version:
            records = await read_records(self._manager.database, before.version, mirror.version)
            if records is not None:
                self._carry_over(before, mirror, {broker for record in records for broker in record.left})
        self._mirror, self._reading = mirror, Reading(mirror.version)
        self._give_grace(mirror, now)

    def _carry_over(self, before: Mirror, mirror: Mirror, left: set[str]) -> None:
        """What waits to be written is about the brokers of the new mirror, too: those that have not left meanwhile."""
        here = {
            broker: facts
            for broker, facts in before.facts.items()
            if broker in mirror.live and broker not in left
        }
        for broker, (facts, heard) in self._renewed.items():
            if facts.lease and here.get(broker) is facts:
                known = mirror.facts.setdefault(broker, BrokerFacts())
                _renew(known, facts.lease)
                self._renewed[broker] = (known, heard)
        for broker, facts in self._acked.items():
            if facts.acked is not None and here.get(broker) is facts:
                known = self._acked[broker] = mirror.facts.setdefault(broker, BrokerFacts())
                known.acked = max(facts.acked, known.acked or 0)

    async def _write(self) -> None:
        renewed, self._renewed = self._renewed, {}
        acked, self._acked = self._acked, {}
        known = self._manager.mirror.facts
        leases = [
            {"broker": broker, "seconds": facts.lease.seconds, "until": facts.lease.until, "heard": heard}
            for broker, (facts, heard) in sorted(renewed.items(), key=itemgetter(0))
            if facts.lease and known.get(broker) is facts
        ]
        versions = [
            {"broker": broker, "version": facts.acked}
            for broker, facts in sorted(acked.items(), key=itemgetter(0))
            if known.get(broker) is facts
        ]
        try:
            for name, rows in (("agent/renew_leases", leases), ("agent/write_acks", versions)):
                for first in range(0, len(rows), ROWS_A_BATCH):
                    batch = rows[first : first + ROWS_A_BATCH]
                    await self._manager.database.write_within(SECONDS_TO_WRITE, name, rows=batch, by=self._id)
        except BaseException:  # cancelled, too: whoever stops us writes them
            self._renewed = {**renewed, **self._renewed}
            self._acked = {**acked, **self._acked}
            raise

    async def _read(self, mirror: Mirror) -> None:
        """Take over what agents told other API processes, and the links that failed, whoever was told."""
        before, reading = mirror.version, self._reading
        records = self._manager.feed.after(reading.version)
        since = reading.since if records is not None else None
        ((now, told),) = await self._manager.database.read_many("agent/read_agents", since=since, by=self._id)
        again = await self._learn(mirror, before, told)
        failures = [one for one in records or () if one.kind == "failure"]
        failed = {end for one in failures for end in one.brokers_touched()}
        failed |= {one.broker for one in failures if one.broker is not None}  # of a link that had to stay
        again |= await self._read_brokers(mirror, reading.again | failed)
        self._reading = Reading(before, now - SEEN_WITHIN, frozenset(again))

    async def _read_brokers(self, mirror: Mirror, brokers: Collection[str]) -> set[str]:
        """Take over what is stored of some brokers; those that it could not be taken over of."""
        if not brokers:
            return set()
        before = mirror.version
        told = await self._manager.database.read_many("agent/read_brokers", brokers=sorted(brokers))
        return await self._learn(mirror, before, told)

    async def _learn(self, mirror: Mirror, before: int, told: Sequence[Sequence[Any]]) -> set[str]:
        """Take over what was read.

        Not of brokers that a change has touched since the reading began, at version ``before``: what was read may be
        another one's of the same id, or older than what that change noted. Nor where a lease waits to be written, which
        may be the newer one. Those are answered, to be read again.
        """
        again = set()
        for first in range(0, len(told), ROWS_A_BATCH):
            records = self._manager.feed.after(before)
            moved = None if records is None else set().union(*(one.brokers_touched() for one in records))
            for broker, seconds, until, acked, failures in told[first : first + ROWS_A_BATCH]:
                if moved is None or broker in moved or broker in self._renewed:
                    again.add(broker)
                elif broker in mirror.live:
                    facts = mirror.facts.setdefault(broker, BrokerFacts())
                    if seconds is not None and until is not None:
                        _renew(facts, Lease(seconds, until.to_native()))
                    if acked is not None:
                        facts.acked = max(acked, facts.acked or 0)
                    if failures is not None:
                        facts.failures = failures_of(failures)
            await asyncio.sleep(0)
        return again

    async def _expire(self, mirror: Mirror) -> None:
        # A short lease may have been renewed at another process since we read of it.
        unread = await self._read_brokers(mirror, _due(mirror, datetime.now(UTC)))
        now = datetime.now(UTC)
        if self._is_stalled(now):
            self._stalled, self._ticked_at = False, now
            log.warning("this process stood still; leases get a full term more")
            self._give_grace(mirror, now)
        due = [broker for broker in _due(mirror, now) if broker not in unread]
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


def _renew(facts: BrokerFacts, lease: Lease) -> None:
    if facts.lease is None or lease.until > facts.lease.until or lease.begins > facts.lease.begins:
        facts.lease = lease


def _is_due(facts: BrokerFacts, now: datetime) -> bool:
    return facts.lease is not None and facts.lease.until + WRITTEN_WITHIN <= now


def _due(mirror: Mirror, now: datetime) -> list[str]:
    return sorted(broker for broker, facts in mirror.facts.items() if _is_due(facts, now))
