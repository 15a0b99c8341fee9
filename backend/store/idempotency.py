"""Answers that were given before: a repeated Idempotency-Key finds the first one, for a day."""

from __future__ import annotations

from collections.abc import Sequence

import cypher
from backend.store.database import Database, Transaction

HOURS_KEPT = 24


async def find_answers(database: Database | Transaction, keys: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The fingerprint of the request and the text of its answer, for each key that has one."""
    read = database.run if isinstance(database, Transaction) else database.read
    found = await read("idempotency/find_answers", keys=list(keys))
    return {row["key"]: (row["fingerprint"], row["answer"]) for row in found}


async def forget_old_answers(database: Database) -> None:
    """Remove the answers that are older than a day."""
    await database.run(cypher.statement("idempotency/forget_answers"), hours=HOURS_KEPT)
