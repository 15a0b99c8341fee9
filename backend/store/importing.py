"""Who owns an import: begun, heard of, finished, or found broken and removed.

While an import runs the overlay's state is ``importing``: nobody serves it, nobody changes it. It is owned by the
process that writes it, which is heard of every few seconds, and every batch is written only while it is still the
owner. One that is not heard of for a while is taken for broken by whoever comes next, and what it left is removed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from uuid import uuid4

from neo4j.exceptions import DriverError, Neo4jError

from backend.errors import Conflict
from backend.policy import PolicyMoved
from backend.store.database import Database

SECONDS_BETWEEN_BEATS = 4.0
SECONDS_UNTIL_BROKEN = 20
ROWS_A_WIPE = 5000


@asynccontextmanager
async def importing(database: Database, this: str, k: int | None = None) -> AsyncIterator[int]:
    """A new import of that id, and the version before it; what it wrote is removed when the block raises.

    ``k``: what its links were built for. Nobody changes the policy once it has begun.
    """
    begun = await database.write("overlay/begin_import", **{"import": this, "k": k})
    if not begun:
        raise Conflict("the overlay has brokers already, or another import runs; this needs an empty one")
    if k is not None and begun[0]["k"] != k:
        raise PolicyMoved(k, begun[0]["k"])
    try:
        async with _beating(database, this):
            yield int(begun[0]["version"])
    except BaseException:
        # Where Neo4j is away this fails too; the import is then found to be broken later.
        with suppress(Neo4jError, DriverError, OSError):
            await wipe_import(database, this)
        raise


async def wipe_import(database: Database, this: str | None = None) -> bool:
    """Remove an import that is broken: one not heard of for a while, or ``this`` at once. Whether we removed one."""
    wiper = str(uuid4())
    claimed = await database.write(
        "overlay/claim_import", **{"import": this, "wiper": wiper, "seconds": SECONDS_UNTIL_BROKEN}
    )
    if not claimed:
        return False
    async with _beating(database, wiper):
        owner = {"import": wiper}
        while True:
            while await database.write(
                "overlay/wipe_import", **owner, version=claimed[0]["version"], limit=ROWS_A_WIPE
            ):
                pass
            if await database.write("overlay/forget_import", **owner):
                return True
            # We were away for so long that another process took it over; what it does is its own.
            if not await database.write("overlay/beat_import", **owner):
                return False


@asynccontextmanager
async def _beating(database: Database, this: str) -> AsyncIterator[None]:
    async def beat() -> None:
        while True:
            await asyncio.sleep(SECONDS_BETWEEN_BEATS)
            with suppress(Neo4jError, DriverError, OSError):
                await database.write("overlay/beat_import", **{"import": this})

    task = asyncio.create_task(beat())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
