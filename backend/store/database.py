"""The connection to Neo4j: opened once, checked, its schema brought up to date.

Every statement comes from ``cypher/`` by name. Reads and writes are the driver's managed transactions, which retry
what the server says may be retried; statements that bring their own transactions (``IN TRANSACTIONS``) and schema
changes run outside of one. A commit of the overlay is a :meth:`Database.transaction` of its own, never retried here:
whether it may be planned again is for the writer to say.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Self

import neo4j
from neo4j.exceptions import ClientError, DriverError, Neo4jError, TransientError

import cypher
from backend.errors import CannotRun, first_line

OLDEST_SERVER = (5, 26)
SCHEMA_VERSION = 4
"""Raised with every change of cypher/schema; a database with a higher one was written by a newer TopicWeave."""

SECONDS_OF_RETRIES = 5.0
SECONDS_IDLE = 2.0
SECONDS_FOR_SCHEMA = 60.0
ROWS_AT_ONCE = 5000
SECONDS_OF_COMMIT = 60.0
"""A process that is suspended inside a commit holds the overlay's lock: after so long the server takes it away."""


class OutcomeUnknown(Exception):
    """Something broke inside a commit: it happened, or it did not."""


class Transaction:
    """A transaction that is open."""

    def __init__(self, transaction: neo4j.AsyncTransaction) -> None:
        self._transaction = transaction

    async def run(self, name: str, /, **parameters: Any) -> list[neo4j.Record]:
        """All records of one statement."""
        result = await self._transaction.run(cypher.statement(name), parameters)
        return [record async for record in result]


class Database:
    """One Neo4j database, through one driver."""

    def __init__(self, uri: str, user: str, password: str) -> None:
        self.uri = uri
        self._auth = (user, password)
        self.up = asyncio.Event()
        """Set once the server has let us in for the first time."""
        options: dict[str, Any] = {
            "auth": self._auth,
            "notifications_min_severity": "WARNING",
            # A young database has not met every label and property yet; that is no news, twice a second.
            "notifications_disabled_classifications": ["UNRECOGNIZED"],
            "connection_acquisition_timeout": 10,
            # A connection that was idle while the server restarted is noticed before a change is sent over it.
            "liveness_check_timeout": SECONDS_IDLE,
            "max_transaction_retry_time": SECONDS_OF_RETRIES,
        }
        self._driver = neo4j.AsyncGraphDatabase.driver(uri, **options)
        # For commits, which come one after the other.
        self._blocking = neo4j.GraphDatabase.driver(uri, **options)
        self._commits = ThreadPoolExecutor(1, "commits")
        # Of their own, so that their end can be waited for: who asked may have gone, and left a thread reading.
        self._reads = ThreadPoolExecutor(4, "reads")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for threads in (self._commits, self._reads):
            await asyncio.to_thread(threads.shutdown)
        await asyncio.to_thread(self._blocking.close)
        await self._driver.close()

    async def read(self, name: str, /, **parameters: Any) -> list[neo4j.Record]:
        """All records of a reading statement."""
        result = await self._driver.execute_query(
            cypher.statement(name), parameters, routing_=neo4j.RoutingControl.READ
        )
        return result.records

    async def write(self, name: str, /, **parameters: Any) -> list[neo4j.Record]:
        """Run one writing statement in its own transaction."""
        return await self.write_within(None, name, **parameters)

    async def write_within(
        self, seconds: float | None, name: str, /, **parameters: Any
    ) -> list[neo4j.Record]:
        """Run one writing statement in its own transaction, which the server ends after ``seconds``."""
        query = neo4j.Query(cypher.statement(name), timeout=seconds)
        result = await self._driver.execute_query(query, parameters)
        return result.records

    async def read_many(self, name: str, /, **parameters: Any) -> list[list[Any]]:
        """The values of each record of a reading statement that finds many. A thread reads them: the event loop goes on,
        and without one, decoding is less than half the work. Read anew where a commit came in the way."""

        def work(transaction: neo4j.ManagedTransaction) -> list[list[Any]]:
            return [record.values() for record in transaction.run(cypher.statement(name), parameters)]

        def read() -> list[list[Any]]:
            with self._blocking.session(
                default_access_mode=neo4j.READ_ACCESS, fetch_size=ROWS_AT_ONCE
            ) as session:
                return session.execute_read(work)

        return await asyncio.get_running_loop().run_in_executor(self._reads, read)

    def rows(self, name: str, /, **parameters: Any) -> Iterator[tuple[Any, ...]]:
        """The records of a statement that reads everything, as they arrive; for a thread, through a driver of its own."""
        with (
            neo4j.GraphDatabase.driver(self.uri, auth=self._auth, notifications_min_severity="OFF") as driver,
            driver.session(default_access_mode=neo4j.READ_ACCESS, fetch_size=ROWS_AT_ONCE) as session,
        ):
            yield from session.run(neo4j.Query(cypher.statement(name)), parameters)

    async def ask(
        self, text: str, parameters: dict[str, Any], *, seconds: float, rows: int
    ) -> tuple[list[str], list[list[Any]], bool]:
        """Columns, at most so many rows, and whether there are more; the server itself ends it after ``seconds``.

        Only reading is possible, whatever the text says: the session asks the server to refuse the rest.
        """
        async with (
            self._driver.session(
                default_access_mode=neo4j.READ_ACCESS, fetch_size=min(ROWS_AT_ONCE, rows + 1)
            ) as session,
            await session.begin_transaction(timeout=seconds) as transaction,
        ):
            result = await transaction.run(neo4j.Query(text).text, parameters)
            found = [record.values() for record in await result.fetch(rows + 1)]
            return list(result.keys()), found[:rows], len(found) > rows

    @asynccontextmanager
    async def transaction(self, seconds: float = SECONDS_OF_COMMIT) -> AsyncIterator[Transaction]:
        """One transaction, committed at the end of the block and rolled back when that raises; the server ends it after
        ``seconds``.

        An error before the commit means that nothing was written. In the commit itself, an error by which the server
        says that it refused means the same; whatever else breaks there means :class:`OutcomeUnknown`.
        """
        async with self._driver.session() as session:
            transaction = await session.begin_transaction(timeout=seconds)
            try:
                yield Transaction(transaction)
            except BaseException:
                transaction.cancel()
                raise
            with _committing():
                await transaction.commit()

    async def commit_if(
        self, statements: Callable[[], Sequence[tuple[str, dict[str, Any]]]], seconds: float
    ) -> bool:
        """Run statements and commit, if the first of them returns something; whether it did. Errors as
        :meth:`transaction`.

        A thread makes them and speaks to the server: no answer of it has to wait for what else the event loop has to do.
        """

        def commit() -> bool:
            with self._blocking.session() as session:
                transaction = session.begin_transaction(timeout=seconds)
                for i, (name, parameters) in enumerate(statements()):
                    if not list(transaction.run(cypher.statement(name), parameters)) and not i:
                        transaction.rollback()
                        return False
                with _committing():
                    transaction.commit()
            return True

        return await asyncio.get_running_loop().run_in_executor(self._commits, commit)

    async def run(self, text: str, /, **parameters: Any) -> None:
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
                    raise CannotRun(f"Neo4j at {self.uri} {verb}: {first_line(error)}") from None
                await asyncio.sleep(0.3 if refused else 0.1)
            else:
                self.up.set()
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
            await self._run_until_done(text)
        await self.run(cypher.statement("server/await_indexes"), seconds=60)
        await self.write("server/record_schema_version", version=SCHEMA_VERSION)

    async def _run_until_done(self, text: str) -> None:
        """Run a schema statement; two processes that bring one new database up to date stand in each other's way."""
        deadline = time.monotonic() + SECONDS_FOR_SCHEMA
        while True:
            try:
                await self.run(text)
            except Neo4jError as error:
                if (error.code or "").endswith("AlreadyExists"):
                    return
                if not error.is_retryable() or time.monotonic() > deadline:
                    raise
                await asyncio.sleep(random.uniform(0.05, 0.5))  # noqa: S311 (apart, not secret)
            else:
                return


@contextmanager
def _committing() -> Iterator[None]:
    """Names what an error of a commit means."""
    try:
        yield
    except (Neo4jError, DriverError, OSError) as error:
        if _surely_undone(error):
            raise
        raise OutcomeUnknown(first_line(error)) from error


def _surely_undone(error: Exception) -> bool:
    """Whether an error of a commit says that it was rolled back; a server in trouble, or on its way down, says nothing."""
    return isinstance(error, (ClientError, TransientError)) and not (error.code or "").endswith("Unavailable")
