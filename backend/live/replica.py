"""The replica: the mirror of one process, kept at what is committed, whichever process committed it."""

from __future__ import annotations

from collections.abc import Callable

import structlog
from neo4j.exceptions import DriverError, Neo4jError

from algorithms import BadInput
from backend.errors import NotReady, first_line
from backend.live.feed import Feed
from backend.live.mirror import Mirror
from backend.record import ChangeRecord
from backend.store import Database
from backend.store.commit import read_changes
from backend.store.database import Transaction
from backend.store.importing import wipe_import
from backend.store.loading import read_overlay
from backend.store.overlay import StoredOverlay, read_facts, read_policy

log = structlog.get_logger(__name__)

RECORDS_AT_ONCE = 500


class DoesNotFit(Exception):
    """What another process committed cannot be followed; the overlay must be loaded anew."""


class Replica:
    """The mirror, and how it follows what others commit; whoever calls must hold the writer's turn."""

    def __init__(
        self, database: Database, stored: StoredOverlay, feed: Feed, moved: Callable[[], None]
    ) -> None:
        """``moved`` is called before the mirror follows others, or is replaced."""
        self.mirror = Mirror(stored)
        self.importing = False
        """Whether an import fills the overlay: nothing is served or changed until it is over."""
        self.unfit: str | None = None
        """Why what Neo4j holds cannot be loaded: nothing is served or changed until somebody has mended it."""
        self._database = database
        self._feed = feed
        self._moved = moved
        self._reloaded: list[Callable[[], None]] = []

    def on_reload(self, tell: Callable[[], None]) -> None:
        """Have a function called whenever the mirror was replaced by another."""
        self._reloaded.append(tell)

    async def catch_up(self) -> None:
        """Apply what others committed; where that does not fit, load the overlay anew."""
        found = await self._database.read("overlay/read_version")
        if found and found[0]["state"] == "importing":
            self.importing = True
            await wipe_import(self._database)
            return
        if self.importing or self.unfit or not found or found[0]["version"] < self.mirror.version:
            await self.reload()
            return
        try:
            await self.follow(self._database, found[0]["version"])
        except DoesNotFit:
            await self.reload()

    async def follow(self, source: Database | Transaction, version: int) -> None:
        """Apply what others committed, up to a version."""
        if self.mirror.version > version:
            raise DoesNotFit
        while self.mirror.version < version:
            records = await read_changes(source, self.mirror.version, RECORDS_AT_ONCE)
            if not records or not await self._replay(records):
                raise DoesNotFit

    async def _replay(self, records: list[ChangeRecord]) -> bool:
        # All that Neo4j is asked for comes first: if it goes away in between, nothing is half followed.
        changed = any(record.kind == "policy" for record in records)
        policy = await read_policy(self._database) if changed else None
        joined = [broker for record in records for broker in record.joined]
        facts = await read_facts(self._database, joined) if joined else {}
        self._moved()
        for record in records:
            if record.version != self.mirror.version + 1 or record.kind == "import":
                return False
            try:
                self.mirror.replay(record)
            except BadInput as error:
                log.warning("a recorded change does not fit", version=record.version, reason=str(error))
                return False
            self._feed.publish([record])
        self.mirror.facts |= {broker: known for broker, known in facts.items() if broker in self.mirror.live}
        if policy:
            self.mirror.set_policy(policy)
        return True

    async def reload(self) -> None:
        """Load the overlay anew."""
        try:
            stored = await read_overlay(self._database)
        except (Neo4jError, DriverError, OSError):
            raise
        except Exception as error:
            # A link or a value that somebody put there by hand; what the mirror holds may be outdated by now.
            self.unfit = f"what Neo4j holds cannot be loaded: {first_line(error)}"
            raise NotReady(self.unfit) from error
        self.unfit = None
        if stored is not None:
            self._moved()
            self.mirror = Mirror(stored)
            self.importing = False
            self._feed.restart()
            for tell in self._reloaded:
                tell()
