"""The connection to Neo4j: opened once, checked, its schema brought up to date.

Every statement comes from ``cypher/`` by name. Reads and writes are the driver's managed transactions, which retry
what the server says may be retried; statements that bring their own transactions (``IN TRANSACTIONS``) and schema
changes run outside of one.
"""

from __future__ import annotations

import asyncio
import re
import time
from typing import Any, Self

import neo4j
from neo4j.exceptions import ClientError, DriverError, Neo4jError

import cypher
from backend.errors import CannotRun

OLDEST_SERVER = (5, 26)
SCHEMA_VERSION = 1
"""Raised with every change of cypher/schema; a database with a higher one was written by a newer TopicWeave."""


class Database:
    """One Neo4j database, through one driver."""

    def __init__(self, uri: str, user: str, password: str) -> None:
        self.uri = uri
        self._driver = neo4j.AsyncGraphDatabase.driver(
            uri,
            auth=(user, password),
            notifications_min_severity="WARNING",
            connection_acquisition_timeout=10,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._driver.close()

    async def read(self, name: str, **parameters: Any) -> list[neo4j.Record]:
        """All records of a reading statement."""
        result = await self._driver.execute_query(
            cypher.statement(name), parameters, routing_=neo4j.RoutingControl.READ
        )
        return result.records

    async def write(self, name: str, **parameters: Any) -> list[neo4j.Record]:
        """Run one writing statement in its own transaction."""
        result = await self._driver.execute_query(cypher.statement(name), parameters)
        return result.records

    async def run(self, text: str, **parameters: Any) -> None:
        """Run a statement outside of a managed transaction."""
        async with self._driver.session() as session:
            await (await session.run(neo4j.Query(text), parameters)).consume()

    async def wait_until_up(self, seconds: float, seconds_for_password: float = 15) -> None:
        """Return when the server answers and knows our password.

        A managed server that starts for the first time knows the password a moment after it answers; a wrong
        password stays wrong, so that patience is shorter.
        """
        deadline = time.monotonic() + seconds
        refused = False
        while True:
            try:
                await self._driver.verify_connectivity()
            except (DriverError, Neo4jError, OSError) as error:
                if isinstance(error, ClientError) and not refused:
                    refused, deadline = True, time.monotonic() + seconds_for_password
                if time.monotonic() >= deadline:
                    verb = "refuses our user or password" if refused else "does not answer"
                    raise CannotRun(f"Neo4j at {self.uri} {verb}: {_first_line(error)}") from None
                await asyncio.sleep(0.3 if refused else 0.1)
            else:
                return

    async def check_server(self) -> str:
        """The server's version; one that is too old is refused."""
        record = (await self.read("server/read_server"))[0]
        version = str(record["version"])
        numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
        if numbers < OLDEST_SERVER:
            raise CannotRun(f"Neo4j at {self.uri} is version {version}; TopicWeave needs 5.26 or newer")
        return version

    async def apply_schema(self) -> None:
        """Bring constraints and indexes up to date; safe to run again and again."""
        known = await self.read("server/read_schema_version")
        found = int(known[0]["version"]) if known else 0
        if found > SCHEMA_VERSION:
            raise CannotRun(
                f"the database at {self.uri} has schema version {found}, newer than this TopicWeave's {SCHEMA_VERSION}"
            )
        if found == SCHEMA_VERSION:
            return
        for text in cypher.schema():
            await self.run(text)
        await self.run(cypher.statement("server/await_indexes"), seconds=60)
        await self.write("server/record_schema_version", version=SCHEMA_VERSION)


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
