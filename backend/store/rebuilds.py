"""Rebuilds in Neo4j: their records, and their links as CANDIDATE relationships until they are activated or dropped."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from itertools import islice
from typing import Any

import neo4j
from neo4j.exceptions import Neo4jError

from backend.record import Pair
from backend.store.commit import Statement
from backend.store.database import Database

CANDIDATES_A_BATCH = 1000
"""Each batch locks the overlay until it is committed; live changes wait for no longer than that."""
SECONDS_OF_RETRIES = 60.0
"""Other writers of the same brokers (backups, acknowledgements) may come in the way of a batch, again and again."""
SECONDS_UNTIL_SILENT = 15
REBUILDS_LISTED = 200
ALL = 2**31 - 1

Stored = tuple[dict[str, Any], bool]
"""The properties of a rebuild, and whether nobody has been heard of lately."""


async def create(database: Database, properties: dict[str, Any]) -> None:
    """Note that a rebuild was asked for."""
    await database.write("rebuild/create_rebuild", properties=properties)


def change_statement(
    rebuild: str,
    properties: dict[str, Any],
    states: Sequence[str],
    owner: str | None = None,
    *,
    beats: bool = True,
    unless: str | None = None,
) -> Statement:
    """Changes a rebuild that is in one of the states and the owner's (None: anybody's), and nothing otherwise.

    ``beats``: the process that works on it says so; an operator's wish is no sign of its life. ``unless``: a wish that
    must not be noted.
    """
    return (
        "rebuild/change_rebuild",
        {
            "id": rebuild,
            "properties": properties,
            "states": list(states),
            "owner": owner,
            "beats": beats,
            "unless": unless,
        },
    )


async def change(
    database: Database,
    rebuild: str,
    properties: dict[str, Any],
    states: Sequence[str],
    owner: str | None = None,
    *,
    beats: bool = True,
    unless: str | None = None,
) -> dict[str, Any] | None:
    """Run :func:`change_statement`: what is wished of it, or None when it is not so (any more)."""
    name, parameters = change_statement(rebuild, properties, states, owner, beats=beats, unless=unless)
    found = await database.write(name, **parameters)
    return dict(found[0]) if found else None


def batch_statement(rebuild: str, properties: dict[str, Any], owner: str) -> Statement:
    """Tells how far an activation is; the transaction fails where it is not the owner's any more, or over."""
    return "rebuild/record_batch", {"id": rebuild, "properties": properties, "owner": owner}


async def read_listed(database: Database) -> list[Stored]:
    """The newest rebuilds first, then the older ones that are not over."""
    newest = await _read(database, None, REBUILDS_LISTED)
    if len(newest) < REBUILDS_LISTED:
        return newest
    listed = {properties["id"] for properties, _ in newest}
    alive = await read_in(database, ("queued", "running", "planned", "activating", "active"))
    return newest + [found for found in alive if found[0]["id"] not in listed]


async def read_in(database: Database, states: Sequence[str]) -> list[Stored]:
    """All rebuilds in some states, however old, the newest first."""
    return await _read(database, list(states), ALL)


async def _read(database: Database, states: list[str] | None, limit: int) -> list[Stored]:
    found = await database.read(
        "rebuild/read_rebuilds", states=states, seconds=SECONDS_UNTIL_SILENT, limit=limit
    )
    return [(row["rebuild"], row["silent"]) for row in found]


async def read_one(database: Database, rebuild: str) -> Stored | None:
    """One rebuild."""
    found = await database.read("rebuild/read_rebuild", id=rebuild, seconds=SECONDS_UNTIL_SILENT)
    return (found[0]["rebuild"], found[0]["silent"]) if found else None


async def begin_computing(database: Database, rebuild: str, owner: str) -> bool:
    """Whether it is this rebuild's turn; it is running then. Only one that seems to be the next asks for the lock."""
    asked = {"id": rebuild, "owner": owner, "seconds": SECONDS_UNTIL_SILENT}
    if not await database.read("rebuild/find_turn", **asked):
        return False
    return bool(await database.write("rebuild/begin_computing", **asked))


async def count_queued(database: Database) -> int:
    """How many rebuilds wait or are computed, in all processes that live."""
    found = await database.read(
        "rebuild/count_queued", states=["queued", "running"], seconds=SECONDS_UNTIL_SILENT
    )
    return int(found[0]["queued"])


async def begin_activation(
    database: Database, rebuild: str, state: str, owner: str, properties: dict[str, Any]
) -> list[str] | None:
    """Become the one who activates: None when begun, else the ids of those that are being activated."""
    found = await database.write(
        "rebuild/begin_activation", id=rebuild, owner=owner, properties=properties, **{"from": state}
    )
    return None if found and found[0]["begun"] else list(found[0]["others"]) if found else []


async def take_over(database: Database, rebuild: str, owner: str) -> bool:
    """Go on with an activation whose process is silent."""
    return bool(
        await database.write("rebuild/take_over", id=rebuild, owner=owner, seconds=SECONDS_UNTIL_SILENT)
    )


async def end_activation(
    database: Database, rebuild: str, owner: str, properties: dict[str, Any], *, heed: bool
) -> list[str] | None:
    """Write the end of an activation: the ids of what was active before and is history now.

    None when it is not this owner's any more, or, with ``heed``, when somebody wants it rolled back.
    """
    found = await database.write(
        "rebuild/end_activation", id=rebuild, owner=owner, properties=properties, heed=heed
    )
    return list(found[0]["replaced"]) if found else None


async def write_candidates(
    database: Database,
    rebuild: str,
    links: list[Pair],
    states: Sequence[str],
    owner: str | None = None,
    *,
    under: str | None = None,
) -> None:
    """Store links of a rebuild, in batches sorted by id, while it is in one of the states and the owner's.

    ``under``: another id than its own to keep them under.
    """
    known = {"id": rebuild, "rebuild": under or rebuild, "states": list(states), "owner": owner}
    rest = iter(await asyncio.to_thread(sorted, links))
    while batch := list(islice(rest, CANDIDATES_A_BATCH)):
        rows = [{"a": a, "b": b} for a, b in batch]
        await _patiently(database, "rebuild/create_candidates", rows=rows, **known)


async def read_candidates(database: Database, rebuild: str) -> list[Pair]:
    """The links of a rebuild whose ends still live."""
    return [(a, b) for a, b in await database.read_many("rebuild/read_candidates", rebuild=rebuild)]


async def delete_candidates(database: Database, rebuild: str) -> None:
    """Remove a rebuild's links, in batches; the first waits for a batch of them that is being written."""
    await _delete(database, "rebuild/delete_candidates", rebuild=rebuild)


async def clear_candidates(database: Database, rebuild: str, owner: str, *, under: str) -> None:
    """Remove the links under another id than the rebuild's own, while it is activated by the owner."""
    await _delete(database, "rebuild/clear_candidates", rebuild=under, id=rebuild, owner=owner)


async def _delete(database: Database, name: str, **known: str) -> None:
    while True:
        found = await _patiently(database, name, limit=CANDIDATES_A_BATCH, **known)
        if not found or found[0]["deleted"] < CANDIDATES_A_BATCH:
            return


async def _patiently(database: Database, name: str, **parameters: Any) -> list[neo4j.Record]:
    """A batch that may be written again, tried for longer than the driver would."""
    ending = time.monotonic() + SECONDS_OF_RETRIES
    while True:
        try:
            return await database.write(name, **parameters)
        except Neo4jError as error:
            if not error.is_retryable() or time.monotonic() > ending:
                raise


async def find_leftovers(database: Database, states: Sequence[str], suffix: str) -> list[str]:
    """The ids under which links are stored of rebuilds in some states, their own or with the suffix."""
    found = await database.read("rebuild/find_leftovers", states=list(states), suffix=suffix)
    return [row["links"] for row in found]


async def forget(database: Database, states: Sequence[str], days: float, suffix: str) -> None:
    """Remove the records of rebuilds in some states that were heard of last so long ago, and have no links."""
    await database.write("rebuild/forget_rebuilds", states=list(states), days=days, suffix=suffix)
