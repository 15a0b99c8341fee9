"""Who may call the API: keys in Neo4j, known in memory, and the key of the home directory.

A key is ``tw_<id>_<secret>``: the id finds its record, the secret proves it. The secret has 256 random bits, so
nobody guesses it, whatever a guess costs: a fast hash keeps it as safe as a slow one would, and a slow one (made for
passwords people choose) would cost every request milliseconds. The id is the hash's salt: a hash copied to another
record proves nothing there.

Keys made or revoked by another API process are noticed by reading them again twice a second. While Neo4j is away,
what was known stays: reads go on, and no process could revoke a key then. The home's key, called ``admin``, is in no
database: it works before Neo4j answers, and cannot be revoked by anyone who does not own the home.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
from dataclasses import dataclass
from enum import StrEnum

from neo4j.exceptions import DriverError, Neo4jError

from algorithms.ids import check_ids
from backend.errors import Conflict, NotReady
from backend.store.database import Database
from backend.store.keys import StoredKey, create_key, read_keys, revoke_key

log = logging.getLogger(__name__)

ADMIN = "admin"
SECONDS_BETWEEN_READS = 0.5
_PREFIX = "tw"


class Scope(StrEnum):
    """How far a key reaches; each scope includes the ones before it."""

    READ = "read"
    OPERATE = "operate"
    ADMIN = "admin"

    def reaches(self, needed: Scope) -> bool:
        """Does this scope include ``needed``?"""
        order = list(Scope)
        return order.index(self) >= order.index(needed)


@dataclass(frozen=True)
class Caller:
    """Whoever sent a request: the name of the key, which every change records as its actor, and its scope."""

    name: str
    scope: Scope


class Keyring:
    """The keys that work, as this process knows them."""

    def __init__(self, admin_key: str, database: Database) -> None:
        self._admin = admin_key.encode()
        self._database = database
        self._working: dict[str, StoredKey] | None = None
        self._reading = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to follow the keys in Neo4j."""
        self._task = asyncio.create_task(self._follow())

    async def stop(self) -> None:
        """Stop following."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def caller(self, given: str) -> Caller | None:
        """Whose key this is, None for nobody's; takes the same time whether much or little of a secret is right.

        NotReady for what may be a good key while the keys have not been read yet.
        """
        admin = secrets.compare_digest(given.encode(), self._admin)
        key_id, _, secret = given.removeprefix(f"{_PREFIX}_").partition("_")
        key = (self._working or {}).get(key_id)
        proven = secrets.compare_digest(key_hash(key_id, secret), key.hash if key else "")
        if admin:
            return Caller(ADMIN, Scope.ADMIN)
        if self._working is None and given.startswith(f"{_PREFIX}_"):
            raise NotReady("the keys are not read from Neo4j yet")
        return Caller(key.name, Scope(key.scope)) if key and proven else None

    async def keys(self) -> list[StoredKey]:
        """Every key that was ever made, as Neo4j has them now."""
        return await self._read()

    async def add(self, name: str, scope: Scope) -> tuple[StoredKey, str]:
        """A new key, and the text that its owner sends: shown once, kept nowhere."""
        check_ids([name], "name")
        if name == ADMIN:
            raise Conflict(f"name: belongs to the key of the home directory (got {name!r})", field="name")
        key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        key = await create_key(self._database, key_id, name, key_hash(key_id, secret), scope)
        await self._read()
        return key, f"{_PREFIX}_{key_id}_{secret}"

    async def revoke(self, key_id: str) -> StoredKey:
        """The key works no more: in this process at once, in others within a second."""
        key = await revoke_key(self._database, key_id)
        await self._read()
        return key

    async def _read(self) -> list[StoredKey]:
        # One at a time: a reading that began before a revocation must not be the last to arrive.
        async with self._reading:
            keys = await read_keys(self._database)
            self._working = {key.id: key for key in keys if key.revoked_at is None}
            return keys

    async def _follow(self) -> None:
        await self._database.up.wait()
        away = False
        while True:
            try:
                await self._read()
                away = False
            except (DriverError, Neo4jError, OSError) as error:
                if not away:
                    log.warning("the keys cannot be read, those known stay: %s", error)
                away = True
            await asyncio.sleep(SECONDS_BETWEEN_READS)


def key_hash(key_id: str, secret: str) -> str:
    """What is kept of a secret: BLAKE2b, with the key's id as its salt."""
    salt = key_id.encode()[: hashlib.blake2b.SALT_SIZE]
    return hashlib.blake2b(secret.encode(), digest_size=32, salt=salt, person=b"topicweave-key").hexdigest()
