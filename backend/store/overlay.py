"""The overlay as Neo4j holds it: read whole into memory, or imported in bulk into an empty database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, TypeVar

import cypher
from algorithms import Interests, Overlay
from backend.errors import Conflict
from backend.store.database import Database

BROKERS_A_BATCH = 1000
LINKS_A_BATCH = 5000


@dataclass(frozen=True)
class Policy:
    """What the live overlay must be, and how repairs choose links."""

    k: int = 1
    rho: float = 3.0
    lambda_: int = 3
    algorithm: str = "gm"

    def properties(self) -> dict[str, Any]:
        """The policy as properties of the Overlay node and as JSON: ``lambda`` without its underscore."""
        return {name.rstrip("_"): value for name, value in asdict(self).items()}


@dataclass(frozen=True)
class StoredOverlay:
    """The live overlay at one version."""

    version: int
    policy: Policy
    overlay: Overlay


async def read_overlay(database: Database) -> StoredOverlay | None:
    """The live overlay, or None where there is none yet; what an interrupted import left is removed first."""
    records = await database.read("overlay/read_overlay")
    if not records:
        return None
    record = records[0]
    if record["state"] == "importing":
        await _wipe_import(database)
        return None
    brokers = [row["broker"] for row in await database.read("overlay/read_brokers")]
    subscriptions = await database.read("overlay/read_subscriptions")
    interests = Interests.from_rows(
        [row["broker"] for row in subscriptions], [row["topic"] for row in subscriptions], brokers=brokers
    )
    links = await database.read("overlay/read_links")
    return StoredOverlay(
        version=record["version"],
        policy=Policy(record["k"], record["rho"], record["lambda"], record["algorithm"]),
        overlay=Overlay.from_names(interests, ((row["a"], row["b"]) for row in links)),
    )


async def import_overlay(database: Database, overlay: Overlay, policy: Policy, actor: str) -> StoredOverlay:
    """Store a whole overlay into an empty database: in batches, live at version 1 only when all of it is there."""
    if not await database.write("overlay/begin_import"):
        raise Conflict("the database holds an overlay already; an import in bulk needs an empty one")
    interests = overlay.interests
    for names in _batches(interests.brokers, BROKERS_A_BATCH):
        rows = [{"id": name, "topics": interests.topics_of(name)} for name in names]
        await database.write("overlay/create_brokers", rows=rows)
    for pairs in _batches(overlay.link_names(), LINKS_A_BATCH):
        rows = [{"a": a, "b": b} for a, b in pairs]
        await database.write("overlay/create_links", rows=rows, version=1, reason="import")
    await database.write("overlay/finish_import", actor=actor, policy=policy.properties())
    return StoredOverlay(1, policy, overlay)


async def _wipe_import(database: Database) -> None:
    await database.run(cypher.statement("overlay/wipe_import"))
    await database.write("overlay/forget_import")


_Item = TypeVar("_Item")


def _batches(items: Sequence[_Item], size: int) -> Iterator[list[_Item]]:
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
