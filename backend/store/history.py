"""The history as Neo4j holds it: pages of change records, how far back they reach, and the removal of old ones."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import cypher
from backend.record import ChangeRecord
from backend.store.database import Database

NEWEST = 2**63 - 1
"""Above every version: the largest integer of the database."""


@dataclass(frozen=True)
class Bounds:
    """How far back the history reaches."""

    version: int
    """Where the overlay is."""
    forgotten: int
    """The newest version whose record was removed; every later one is kept."""
    imported: int
    """The version of the last import; its record does not tell what came, so nothing older can be rebuilt."""

    @property
    def oldest(self) -> int:
        """The oldest version that can be rebuilt."""
        return max(self.forgotten, self.imported)


@dataclass(frozen=True)
class Selection:
    """Which records somebody asks for; None: any. ``after``, ``before`` and ``until`` are excluded themselves."""

    after: int | None = None
    before: int | None = None
    kind: str | None = None
    actor: str | None = None
    broker: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    descending: bool = False

    def selects(self, record: ChangeRecord) -> bool:
        """Whether a record is one of them: what the statement says, for records in memory."""
        return (
            (self.after is None or record.version > self.after)
            and (self.before is None or record.version < self.before)
            and self.kind in (None, record.kind)
            and self.actor in (None, record.actor)
            and (self.since is None or record.at >= self.since)
            and (self.until is None or record.at < self.until)
            and (self.broker is None or record.touches(self.broker))
        )


@dataclass(frozen=True)
class TrendPoint:
    """The figures that a version left, and the links opened and closed since the point before it."""

    version: int
    at: datetime
    brokers: int | None
    links: int | None
    max_degree: int | None
    opened: int
    closed: int


async def read_bounds(database: Database) -> Bounds:
    """How far back the history reaches now."""
    (found,) = await database.read("history/read_bounds")
    return Bounds(found["version"], found["forgotten"], found["imported"])


async def select_changes(database: Database, wanted: Selection, limit: int) -> list[ChangeRecord]:
    """The first records of a selection, at most so many."""
    found = await database.read(
        f"history/read_changes_{'descending' if wanted.descending else 'ascending'}",
        after=-1 if wanted.after is None else wanted.after,
        before=NEWEST if wanted.before is None else wanted.before,
        kind=wanted.kind,
        actor=wanted.actor,
        broker=wanted.broker,
        since=wanted.since,
        until=wanted.until,
        limit=limit,
    )
    return [ChangeRecord.from_node(row["change"]) for row in found]


async def read_time(database: Database, version: int) -> datetime | None:
    """When a version was committed; None where its record is not kept."""
    found = await database.read("history/read_time", version=version)
    return _moment(found[0]["at"]) if found else None


async def read_trend(database: Database, after: int, through: int, stride: int) -> list[TrendPoint]:
    """One point for every ``stride`` versions after one version and up to another."""
    found = await database.read("history/read_trend", after=after, through=through, stride=stride)
    return [TrendPoint(**{**row.data(), "at": _moment(row["at"])}) for row in found]


async def find_version_before(database: Database, moment: datetime) -> int:
    """The newest version that was committed before a moment; 0 where none was."""
    (found,) = await database.read("history/find_version_before", moment=moment)
    return found["version"] or 0


async def forget_changes(database: Database, through: int) -> None:
    """Remove the records up to a version, never the newest one; what a removal cut short left goes too."""
    await database.write("history/raise_forgotten", through=through)
    bounds = await read_bounds(database)
    await database.run(cypher.statement("history/forget_changes"), through=bounds.forgotten)


def _moment(found: Any) -> datetime:
    moment: datetime = found.to_native()
    return moment
