"""Backups kept fresh off the critical path: built a few at a time while nobody waits, and stored for analysts.

They are derived data: what Neo4j holds is what some process built last, and a start takes it up from there.
"""

from __future__ import annotations

import asyncio

import structlog
from neo4j.exceptions import DriverError, Neo4jError

from backend.live.mirror import Mirror
from backend.live.writer import Writer
from backend.store import Database

log = structlog.get_logger(__name__)

BROKERS_AT_ONCE = 8
"""A broker takes about three milliseconds; nobody should notice a slice."""
SECONDS_BETWEEN_SLICES = 0.05
SECONDS_WHILE_BUSY = 0.5
"""Between slices while changes come: each slice holds the writer, and its transaction is one more for Neo4j."""
SECONDS_IDLE = 0.5


class Standby:
    """The task that keeps the backups of one process's mirror."""

    def __init__(self, database: Database, writer: Writer) -> None:
        self._database = database
        self._writer = writer
        self._mirror: Mirror | None = None
        self._unwritten: set[str] = set()
        """Brokers whose backups were built, and not stored because Neo4j did not answer."""
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to build."""
        self._task = asyncio.create_task(self._keep())

    async def stop(self) -> None:
        """Stop building."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _keep(self) -> None:
        while True:
            try:
                if self._mirror is not self._writer.mirror:
                    await self._take_up()
                version = self._mirror.version if self._mirror else 0
                built = 0 if self._writer.queue_length else await self._build()
                await asyncio.sleep(SECONDS_BETWEEN_SLICES if built else SECONDS_IDLE)
                if built and self._writer.mirror.version != version:
                    await asyncio.sleep(SECONDS_WHILE_BUSY)
            except (Neo4jError, DriverError, OSError):
                await asyncio.sleep(SECONDS_IDLE)
            except Exception:
                log.exception("building backups failed")
                await asyncio.sleep(60)

    async def _take_up(self) -> None:
        """What was built before this start."""
        mirror = self._writer.mirror
        known = dict(await self._database.read_many("backups/read_backups"))
        async with self._writer.holding():
            if mirror is self._writer.mirror:
                mirror.live.enter_backups(known)
                self._mirror = mirror
                self._unwritten.clear()

    async def _build(self) -> int:
        async with self._writer.holding():
            live = self._writer.mirror.live
            stale = live.next_stale(BROKERS_AT_ONCE)
            if stale:
                live.refresh_backups(len(stale))
            self._unwritten = {broker for broker in (*self._unwritten, *stale) if broker in live}
            brokers = sorted(self._unwritten)[: 2 * BROKERS_AT_ONCE]
            if not brokers:
                return 0
            rows = [{"broker": broker, "backups": live.backups_of(broker)} for broker in brokers]
        await self._database.write("backups/write_backups", rows=rows)
        self._unwritten.difference_update(brokers)
        return len(brokers)
