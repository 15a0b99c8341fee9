"""The history: change records from memory where they are there, from the database where they are older.

What is asked most, the newest records, costs the database nothing. Older versions of the overlay are rebuilt from the
nearest one at hand, in a thread; a version never changes, so the last few that somebody looked at are kept.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta

import structlog
from neo4j.exceptions import DriverError, Neo4jError

from algorithms import Overlay
from backend.errors import Gone, NotFound, NotReady, first_line
from backend.history.difference import Difference
from backend.history.trend import Trend
from backend.live import Feed, Mirror
from backend.record import ChangeRecord
from backend.settings import Settings
from backend.store import Database
from backend.store.commit import read_changes
from backend.store.history import (
    Bounds,
    Selection,
    TrendPoint,
    find_version_before,
    forget_changes,
    read_bounds,
    read_time,
    select_changes,
)

log = structlog.get_logger(__name__)

RECORDS_AT_ONCE = 200
VERSIONS_KEPT = 4
SECONDS_BOUNDS_HOLD = 1.0
SECONDS_BETWEEN_REMOVALS = 300.0


class History:
    """The past of one overlay."""

    def __init__(
        self, database: Database, feed: Feed, settings: Settings, mirror: Callable[[], Mirror]
    ) -> None:
        self.feed = feed
        self._database = database
        self._settings = settings
        self._mirror = mirror
        self._trend = Trend(database)
        self._bounds: tuple[float, Bounds] | None = None
        self._versions: dict[int, asyncio.Future[Overlay]] = {}
        self._time: tuple[int, datetime | None] = (-1, None)
        self._removal: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to remove what is older than the settings say."""
        self._removal = asyncio.create_task(self._remove_old())

    async def stop(self) -> None:
        """Stop removing."""
        if self._removal:
            self._removal.cancel()
            await asyncio.gather(self._removal, return_exceptions=True)

    def restart(self) -> None:
        """The overlay was loaded anew, perhaps as another one: nothing that was worked out before counts."""
        self._bounds = None
        self._versions.clear()
        self._time = (-1, None)
        self._trend.restart()

    # How far back

    async def bounds(self) -> Bounds:
        """How far back the history reaches, as of a second ago at most; the version is the mirror's."""
        now = time.monotonic()
        if self._bounds is None or self._bounds[0] + SECONDS_BOUNDS_HOLD < now:
            self._bounds = (now, await read_bounds(self._database))
        _, found = self._bounds
        return Bounds(self._mirror().version, found.forgotten, found.imported)

    async def check_version(self, version: int, field: str = "version") -> None:
        """Refuse a version that is not there yet, or can be rebuilt no more."""
        live = self._mirror().version
        if version > live:
            raise NotFound(
                f"{field}: the overlay is at version {live}, no later one is there yet (got {version})",
                field=field,
            )
        if version < live and version < (oldest := (await self.bounds()).oldest):
            raise Gone(f"{field}: the oldest version that is kept is {oldest} (got {version})", field=field)

    async def check_after(self, after: int, field: str = "after") -> None:
        """Refuse to go on after a version when the record of the next one was removed."""
        if after < self._mirror().version and after < (forgotten := (await self.bounds()).forgotten):
            raise Gone(
                f"{field}: changes are kept from version {forgotten + 1} on (got {after})", field=field
            )

    async def newest(self, at_least: int) -> int:
        """The newest version; the database is asked where the mirror has not seen so many yet."""
        live = self._mirror().version
        return live if live >= at_least else max(live, (await read_bounds(self._database)).version)

    async def time_of(self, version: int) -> datetime | None:
        """When a version was committed; None for version 0, and where its record is not kept."""
        if self._time[0] != version:
            near = self.feed.after(version - 1, 1) if self._is_in_feed(version - 1) else None
            self._time = (version, near[0].at if near else await read_time(self._database, version))
        return self._time[1]

    # Records

    async def select(self, wanted: Selection, limit: int) -> list[ChangeRecord]:
        """The first records of a selection, at most so many."""
        if wanted.after is not None:
            await self.check_after(wanted.after)
            if not wanted.descending and self._is_in_feed(wanted.after):
                near = self.feed.after(wanted.after) or []
                return [record for record in near if wanted.selects(record)][:limit]
        return await select_changes(self._database, wanted, limit)

    async def after(self, version: int, limit: int = RECORDS_AT_ONCE) -> list[ChangeRecord]:
        """The records that follow a version, without a gap; Gone where the next one was removed."""
        if self._is_in_feed(version):
            return self.feed.after(version, limit) or []
        records = await read_changes(self._database, version, limit)
        if records and records[0].version != version + 1:
            raise Gone(f"after: changes are kept from version {records[0].version} on (got {version})")
        return records

    def _is_in_feed(self, after: int) -> bool:
        """Whether all records that follow a version are in memory, or there are none."""
        if after >= self._mirror().version:
            return True
        return self.feed.first is not None and after + 1 >= self.feed.first

    async def follow(self, after: int) -> AsyncIterator[ChangeRecord | None]:
        """Every record after a version, for as long as the feed is open; None where there is none now.

        Only a cursor is kept: whoever reads slowly reads from the feed later, and from the database in the end.
        """
        cursor = after
        while not self.feed.closed:
            try:
                records = await self.after(cursor)
            except Gone:
                return  # who resumes learns it by a 410
            except NotReady:
                records = []  # an import fills the overlay; its record comes with the next ones
            for record in records:
                cursor = record.version
                yield record
            if not records:
                yield None

    # Older versions

    async def difference(self, first: int, second: int) -> Difference:
        """What leads from one version to another, forwards or backwards."""
        await self.check_version(first, "from")
        await self.check_version(second, "to")
        return await self._difference(first, second)

    async def _difference(self, first: int, second: int) -> Difference:
        cursor, last = sorted((first, second))
        net = Difference()
        while cursor < last:
            records = await self.after(cursor, min(RECORDS_AT_ONCE, last - cursor))
            if not records or any(record.kind == "import" for record in records):
                raise Gone(f"version: no records lead from version {cursor} on", field="version")
            for record in records:
                net.add(record)
            cursor = records[-1].version
            await asyncio.sleep(0)  # records in memory come without a pause, and others want their turn
        return net if first <= second else net.reversed()

    async def overlay_at(self, version: int) -> Overlay:
        """The overlay as it was at a version."""
        await self.check_version(version)
        known = self._versions.pop(version, None)
        if known is None or (known.done() and (known.cancelled() or known.exception())):
            known = asyncio.ensure_future(self._rebuild(version))
        self._versions[version] = known
        while len(self._versions) > VERSIONS_KEPT:
            del self._versions[next(iter(self._versions))]
        return await asyncio.shield(known)

    async def _rebuild(self, version: int) -> Overlay:
        """From the version at hand that is nearest: one that was rebuilt before, or the present one."""
        mirror, oldest = self._mirror(), (await self.bounds()).oldest
        done = {
            at: future.result()
            for at, future in self._versions.items()
            if at >= oldest  # no records lead from an older one any more
            and future.done()
            and not future.cancelled()
            and not future.exception()
        }
        base = min(done, key=lambda at: abs(at - version), default=None)
        if base is None or abs(base - version) > mirror.version - version:
            base, overlay = await mirror.snapshot()
        else:
            overlay = done[base]
        difference = await self._difference(base, version)
        return await asyncio.to_thread(difference.applied_to, overlay)

    async def trend(self, points: int) -> list[TrendPoint]:
        """Figures along all versions that are kept."""
        return await self._trend.points(await self.bounds(), points)

    # Retention

    async def _remove_old(self) -> None:
        while True:
            try:
                await self.forget(datetime.now(UTC))
            except (Neo4jError, DriverError, OSError) as error:
                log.warning("old changes could not be removed", reason=first_line(error))
            except Exception:
                log.exception("removing old changes failed")
            await asyncio.sleep(SECONDS_BETWEEN_REMOVALS)

    async def forget(self, now: datetime) -> None:
        """Remove the records that are older than the settings allow, or too many; the newest one always stays."""
        days, versions = self._settings.history_days, self._settings.history_versions
        through = self._mirror().version - versions if versions else 0
        if days:
            through = max(through, await find_version_before(self._database, now - timedelta(days=days)))
        through = min(through, self._mirror().version - 1)
        if through > 0:
            await forget_changes(self._database, through)
            self._bounds = None
