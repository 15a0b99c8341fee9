"""The writer: the one task that changes the overlay, a group of waiting changes at a time.

A group is one transaction. Its first statement locks the overlay, so what other processes committed is followed before
anything is planned, and nothing can come between. The group is then planned on the mirror, one change after the other,
each seeing those before it, and all plans are taken back at once, so that reads never see what is not committed. When
the transaction has ended well the plans are applied again, in the same order. What can come between:

- the outcome of the commit is unknown: it is looked for by the group's id, before anything else is planned;
- Neo4j is away: nothing was written; the callers are told, and the mirror is as it was.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from uuid import uuid4

import structlog
from neo4j.exceptions import ConstraintError, DriverError, Neo4jError

from algorithms import BadInput
from backend.errors import Conflict, NotReady, Problem
from backend.live.feed import Feed
from backend.live.group import Attempt, Planned, check_version, plan_group, take_group
from backend.live.mirror import Mirror
from backend.live.proposal import Answer, Proposal
from backend.metrics import Metrics
from backend.record import ChangeRecord
from backend.store import Database, OutcomeUnknown
from backend.store.commit import lock_overlay, read_changes, was_committed, write_commit
from backend.store.database import Transaction
from backend.store.idempotency import find_answers, forget_old_answers
from backend.store.importing import wipe_import
from backend.store.overlay import StoredOverlay, read_facts, read_overlay, read_policy

log = structlog.get_logger(__name__)

SECONDS_BETWEEN_LOOKS = 0.25
SECONDS_BETWEEN_LOADS = 2.0
"""Of an overlay that cannot be loaded as it is: somebody has to mend it first."""
SECONDS_TO_SETTLE = 20.0
"""Callers wait so long for a commit whose outcome is unknown; the writer itself goes on asking."""
RETRIES = 5
SECONDS_BEFORE_RETRY = 0.01
"""Doubled each time, and drawn below that, so that two who stand in each other's way do not meet again."""
RECORDS_AT_ONCE = 500
SECONDS_BEFORE_ANSWERS = 0.05
"""The callers of a group may wait so long for the next one to be on its way."""


class _DoesNotFit(Exception):
    """What another process committed cannot be followed; the overlay must be loaded anew."""


class Writer:
    """Takes proposals in the order they come, and keeps the mirror at what is committed."""

    def __init__(self, database: Database, stored: StoredOverlay, feed: Feed, metrics: Metrics) -> None:
        self.mirror = Mirror(stored)
        self.feed = feed
        self.healthy = True
        """Whether the last look at Neo4j got an answer."""
        self.importing = False
        """Whether an import fills the overlay: nothing is served or changed until it is over."""
        self.unfit: str | None = None
        """Why what Neo4j holds cannot be loaded: nothing is served or changed until somebody has mended it."""
        self._database = database
        self._metrics = metrics
        self._waiting: deque[Proposal] = deque()
        self._came = asyncio.Event()
        self._turn = asyncio.Lock()
        self._tasks: list[asyncio.Task[None]] = []
        self._stopping = False
        self._answers: list[tuple[Proposal, Answer]] = []
        self._reloaded: list[Callable[[], None]] = []

    def start(self) -> None:
        """Begin to work."""
        self._tasks = [asyncio.create_task(work) for work in (self._write(), self._follow(), self._forget())]

    async def stop(self) -> None:
        """Finish the group that is under way, refuse the rest."""
        self._stopping = True
        async with self._turn:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self._tell()
            self._refuse(self._waiting, NotReady("the API is shutting down; nothing was changed"))
            self._waiting.clear()

    @property
    def queue_length(self) -> int:
        """How many changes wait."""
        return len(self._waiting)

    async def submit(self, proposal: Proposal) -> Answer:
        """The answer to a change, once it is durable; a problem when it is refused, and then nothing is changed."""
        if proposal.repeatable:
            found = await find_answers(self._database, [proposal.repeatable.id])
            if found:
                return proposal.repeatable.answer(*found[proposal.repeatable.id])
        self._waiting.append(proposal)
        self._metrics.queue_length.set(len(self._waiting))
        self._came.set()
        return await proposal.done

    @asynccontextmanager
    async def holding(self) -> AsyncIterator[None]:
        """Keep this process from changing anything else meanwhile; for what takes long to plan."""
        async with self._turn:
            yield

    async def write_now(self, proposal: Proposal) -> Answer:
        """Like :meth:`submit`, for whoever is :meth:`holding` the writer."""
        await self._handle_or_reload([proposal])
        self._tell()
        return await proposal.done

    def preview(self, proposal: Proposal) -> Answer:
        """What a change would come to now; nothing is changed."""
        check_version(proposal, self.mirror.version)
        return Answer.of_plan(self.mirror.version, proposal.plan(self.mirror.live))

    # The writing task

    async def _write(self) -> None:
        while True:
            await self._came.wait()
            async with self._turn:
                group = take_group(self._waiting)
                self._metrics.queue_length.set(len(self._waiting))
                if group:
                    await self._handle_or_reload(group)
            if not self._waiting:
                self._tell()
                self._came.clear()

    async def _handle_or_reload(self, group: list[Proposal]) -> None:
        """Answer a whole group, whatever happens; after an error in between the mirror may not be what is committed."""
        try:
            await self._handle(group)
        except Exception as error:
            if isinstance(error, Problem):
                problem = error
            elif isinstance(error, (Neo4jError, DriverError, OSError)):
                problem = _away(error)
            else:
                log.exception("a group of changes failed")
                problem = Problem("an error nobody foresaw; look whether it was done")
            self._refuse(group, problem)
            await self._reload_at_last()

    async def _handle(self, group: list[Proposal]) -> None:
        for tried in range(RETRIES):
            group = [proposal for proposal in group if not proposal.done.done()]
            if not group:
                return
            if tried:
                await asyncio.sleep(random.uniform(0, SECONDS_BEFORE_RETRY * 2**tried))  # noqa: S311 (apart, not secret)
            attempt = Attempt(str(uuid4()))
            try:
                with self._metrics.commit_seconds.time():
                    await self._commit(attempt, group)
            except OutcomeUnknown as error:
                log.warning("commit with unknown outcome", group=attempt.id, reason=str(error))
                if not await self._settle(attempt, group):
                    continue
            except _DoesNotFit:
                await self._reload()
                continue
            except ConstraintError as error:
                await self._one_by_one(group, error)
                return
            except Problem as problem:
                self._refuse(group, problem)
                return
            except (Neo4jError, DriverError, OSError) as error:
                if isinstance(error, Neo4jError) and error.is_retryable() and not _is_away(error):
                    continue
                self.healthy = False
                self._refuse(group, _away(error))
                return
            self.healthy = True
            self._finish(attempt.planned)
            return
        self._refuse(group, NotReady(f"the commit failed {RETRIES} times; nothing was changed"))

    async def _one_by_one(self, group: list[Proposal], error: ConstraintError) -> None:
        """A constraint refuses the group: only the change at fault is refused."""
        if len(group) > 1:
            for proposal in group:
                await self._handle([proposal])
            return
        log.error("a constraint of Neo4j refuses a change", kind=group[0].kind, reason=_line(error))
        self._refuse(
            group,
            Conflict(
                f"Neo4j holds something that no change made, and that this one would need a second time: {_line(error)}"
            ),
        )

    async def _commit(self, attempt: Attempt, group: list[Proposal]) -> None:
        seconds = max(proposal.seconds for proposal in group)
        async with self._database.transaction(seconds) as transaction:
            version = await lock_overlay(transaction, attempt.id)
            while self.mirror.version != version:
                records = await read_changes(transaction, self.mirror.version, RECORDS_AT_ONCE)
                if not records or not await self._replay(records):
                    raise _DoesNotFit
            await self._answer_repeats(transaction, group)
            attempt.planned, late = plan_group(self.mirror, group, attempt.id, self._metrics)
            self._waiting.extendleft(reversed(late))
            asyncio.get_running_loop().call_soon(self._tell)  # when what is to be written is on its way
            await write_commit(transaction, attempt.commit())

    async def _answer_repeats(self, transaction: Transaction, group: list[Proposal]) -> None:
        """Answer those whose Idempotency-Key has an answer by now.

        Only under the lock is that certain: with a look before it, another process could do the same request in
        between, and we would refuse the broker it let leave as unknown.
        """
        keys = [proposal.repeatable.id for proposal in group if proposal.repeatable]
        found = await find_answers(transaction, keys) if keys else {}
        for proposal in group:
            if proposal.repeatable and proposal.repeatable.id in found:
                try:
                    proposal.answer(proposal.repeatable.answer(*found[proposal.repeatable.id]))
                except Problem as problem:
                    proposal.refuse(problem)

    async def _settle(self, attempt: Attempt, group: list[Proposal]) -> bool:
        """Whether a commit happened, as soon as Neo4j can tell.

        Its callers wait with us for a while, then are told that nobody knows; those behind them are told at once.
        """
        began = time.monotonic()
        while attempt.records:
            try:
                return await was_committed(self._database, attempt.id)
            except (Neo4jError, DriverError, OSError) as error:
                self.healthy = False
                self._refuse_waiting(_away(error))
            if self._stopping or time.monotonic() - began > SECONDS_TO_SETTLE:
                self._refuse(
                    group, NotReady("Neo4j went away inside the commit; whether it happened is not known yet")
                )
            if self._stopping:
                break
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
        return False

    def _finish(self, planned: list[Planned]) -> None:
        """The group is durable: the mirror, the feed and the callers learn of it."""
        mirror = self.mirror
        records = []
        for one in planned:
            if one.record:
                mirror.apply(one.plan, one.record)
                for name, facts in one.proposal.newcomers.items():
                    if not facts.is_plain:
                        mirror.facts[name] = facts
                records.append(one.record)
            one.proposal.committed()
            self._metrics.change(one.proposal.kind, "committed" if one.record else "unchanged")
        self.feed.publish(records)
        self._tell()
        self._answers = [(one.proposal, one.answer) for one in planned]
        asyncio.get_running_loop().call_later(SECONDS_BEFORE_ANSWERS, self._tell)

    def _tell(self) -> None:
        """Answer the callers of the last group.

        Where others wait, that is left until those are planned and sent: answering takes this process as long as
        writing takes Neo4j, and so both have something to do.
        """
        answers, self._answers = self._answers, []
        for proposal, answer in answers:
            proposal.answer(answer)

    # Other processes

    async def _follow(self) -> None:
        """Look for changes of other processes, a few times a second."""
        while True:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            if self._turn.locked():
                continue
            try:
                async with self._turn:
                    await self._catch_up()
                self.healthy = True
            except (Neo4jError, DriverError, OSError) as error:
                if self.healthy:
                    log.warning("Neo4j does not answer", reason=_line(error))
                self.healthy = False
            except NotReady as problem:
                log.warning("the overlay is not served", reason=problem.detail)
                await asyncio.sleep(SECONDS_BETWEEN_LOADS)
            except Exception:
                log.exception("following other processes failed")

    async def _forget(self) -> None:
        """Remove answers nobody will ask for again, once an hour."""
        while True:
            try:
                await forget_old_answers(self._database)
            except (Neo4jError, DriverError, OSError) as error:
                log.warning("old answers could not be removed", reason=_line(error))
            await asyncio.sleep(3600)

    async def _catch_up(self) -> None:
        """Apply what others committed; where that does not fit, load the overlay anew."""
        found = await self._database.read("overlay/read_version")
        if found and found[0]["state"] == "importing":
            self.importing = True
            await wipe_import(self._database)
            return
        if self.importing or self.unfit or not found or found[0]["version"] < self.mirror.version:
            await self._reload()
            return
        while self.mirror.version < found[0]["version"]:
            records = await read_changes(self._database, self.mirror.version, RECORDS_AT_ONCE)
            if not records or not await self._replay(records):
                await self._reload()
                return

    async def _replay(self, records: list[ChangeRecord]) -> bool:
        # All that Neo4j is asked for comes first: if it goes away in between, nothing is half followed.
        changed = any(record.kind == "policy" for record in records)
        policy = await read_policy(self._database) if changed else None
        joined = [broker for record in records for broker in record.joined]
        facts = await read_facts(self._database, joined) if joined else {}
        for record in records:
            if record.version != self.mirror.version + 1 or record.kind == "import":
                return False
            try:
                self.mirror.replay(record)
            except BadInput as error:
                log.warning("a recorded change does not fit", version=record.version, reason=str(error))
                return False
            self.feed.publish([record])
        self.mirror.facts |= {broker: known for broker, known in facts.items() if broker in self.mirror.live}
        if policy:
            self.mirror.set_policy(policy)
        return True

    async def _reload(self) -> None:
        try:
            stored = await read_overlay(self._database)
        except (Neo4jError, DriverError, OSError):
            raise
        except Exception as error:
            # A link or a value that somebody put there by hand; what the mirror holds may be outdated by now.
            self.unfit = f"what Neo4j holds cannot be loaded: {_line(error)}"
            raise NotReady(self.unfit) from error
        self.unfit = None
        if stored is not None:
            self.mirror = Mirror(stored)
            self.importing = False
            self.feed.restart()
            for tell in self._reloaded:
                tell()

    async def _reload_at_last(self) -> None:
        """Load the overlay anew, however long that takes: the mirror may not be what is committed."""
        while not self._stopping:
            try:
                await self._reload()
            except (Neo4jError, DriverError, OSError) as error:
                self.healthy = False
                self._refuse_waiting(_away(error))
                await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            except NotReady as problem:
                log.error("the overlay is not served", reason=problem.detail)
                self._refuse_waiting(problem)
                await asyncio.sleep(SECONDS_BETWEEN_LOADS)
            else:
                return

    async def reload(self) -> None:
        """Load the overlay anew, as after an import."""
        async with self._turn:
            await self._reload()

    def on_reload(self, tell: Callable[[], None]) -> None:
        """Have a function called whenever the mirror was replaced by another."""
        self._reloaded.append(tell)

    def _refuse_waiting(self, problem: Problem) -> None:
        self._refuse(self._waiting, problem)
        self._waiting.clear()

    def _refuse(self, proposals: deque[Proposal] | list[Proposal], problem: Problem) -> None:
        for proposal in proposals:
            if not proposal.done.done():
                self._metrics.change(proposal.kind, "failed")
                proposal.refuse(problem)


def _away(error: Exception) -> NotReady:
    return NotReady(f"Neo4j does not answer, nothing was changed: {_line(error)}")


def _is_away(error: Neo4jError) -> bool:
    return "DatabaseUnavailable" in (error.code or "")


def _line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
