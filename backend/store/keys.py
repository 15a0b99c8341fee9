"""Keys as Neo4j holds them: who may call the API, and how far; never the secret itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import neo4j
from neo4j.exceptions import ConstraintError

from backend.errors import Conflict, NotFound
from backend.store.database import Database


@dataclass(frozen=True)
class StoredKey:
    """One key; it works until ``revoked_at``."""

    id: str
    name: str
    hash: str
    scope: str
    created_at: datetime
    revoked_at: datetime | None


async def read_keys(database: Database) -> list[StoredKey]:
    """Every key that was ever made, oldest first."""
    return [_key(record) for record in await database.read("keys/read_keys")]


async def create_key(database: Database, key_id: str, name: str, digest: str, scope: str) -> StoredKey:
    """Store a new key; Conflict where one that works has the name already."""
    try:
        (record,) = await database.write("keys/create_key", id=key_id, name=name, hash=digest, scope=scope)
    except ConstraintError:
        raise Conflict(f"name: a key of that name works already (got {name!r})", field="name") from None
    return _key(record)


async def revoke_key(database: Database, key_id: str) -> StoredKey:
    """The key works no more; revoking it again changes nothing."""
    records = await database.write("keys/revoke_key", id=key_id)
    if not records:
        raise NotFound(f"id: no such key (got {key_id!r})", field="id")
    return _key(records[0])


def _key(record: neo4j.Record) -> StoredKey:
    revoked = record["revoked_at"]
    return StoredKey(
        record["id"],
        record["name"],
        record["hash"],
        record["scope"],
        record["created_at"].to_native(),
        revoked.to_native() if revoked is not None else None,
    )
