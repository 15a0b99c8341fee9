"""The writer: the one task that changes the overlay, a group of waiting changes at a time.

A group is one transaction. Its first statement locks the overlay, so what other processes committed is followed before
anything is written, and nothing can come between. Changes are planned on the head, a copy of the mirror that runs ahead
of what is committed: those of a group, and while Neo4j writes it those who wait behind. What was planned counts only if
all that it was planned on is committed and nothing else is; under the lock that is certain, and else it is planned anew.
The mirror gets the plans when the transaction has ended well, so reads never see what is not committed. What can come
between:

- the outcome of the commit is unknown: it is looked for by the group's id, before anything else is planned;
- Neo4j is away: nothing was written; the callers are told, and the mirror is as it was.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from itertools import chain

import structlog
from neo4j.exceptions import ClientError, ConstraintError, DriverError, Neo4jError

from backend.errors import Conflict, NotReady, Problem, first_line
from backend.live.answers import Answers
from backend.live.feed import Feed
from backend.live.group import Attempt, next_group
from backend.live.head import Head, check_version
from backend.live.mirror import Mirror
from backend.live.proposal import Answer, Proposal
from backend.live.replica import DoesNotFit, Replica
from backend.metrics import Metrics
from backend.store import Database, OutcomeUnknown
from backend.store.commit import commit_at, lock_overlay, was_committed, write_commit
from backend.store.database import Transaction
from backend.store.idempotency import find_answers, forget_old_answers
from backend.store.overlay import StoredOverlay
from backend.turns import Turns

log = structlog.get_logger(__name__)

SECONDS_BETWEEN_LOOKS = 0.25
SECONDS_BETWEEN_LOADS = 2.0
"""Of an overlay that cannot be loaded as it is: somebody has to mend it first."""
SECONDS_TO_SETTLE = 20.0
"""Callers wait so long for a commit whose outcome is unknown; the writer itself goes on asking."""
RETRIES = 5
SECONDS_BEFORE_RETRY = 0.01
"""Doubled each time, and drawn below that, so that two who stand in each other's way do not meet again."""
SECONDS_OF_PLANNING = 0.03
"""Reads are not kept waiting for longer, behind changes that could not be planned ahead."""
PLANNED_AHEAD = 256


class Writer:
    """Takes proposals in the order they come, and keeps the mirror at what is committed."""

    def __init__(self, database: Database, stored: StoredOverlay, feed: Feed, metrics: Metrics) -> None:
        self.replica = Replica(database, stored, feed, self._lose_head)
        self.feed = feed
        self.healthy = True
        """Whether the last look at Neo4j got an answer."""
        self._database = database
        self._metrics = metrics
        self._waiting: deque[Proposal] = deque()
        self._came = asyncio.Event()
        self._turn = asyncio.Lock()
        self._tasks: list[asyncio.Task[None]] = []
        self._stopping = False
        self._answers = Answers()
        self._planning = ThreadPoolExecutor(1, "planning")
        """Of its own, as commits have one: what requests do in threads keeps no change waiting."""
        self._previews = Turns("dry run", 1, 16)
        self._head: Head | None = None
        self._taken: list[Proposal] = []
        """The group that waits for the lock."""
        self._is_planning = False
        self._writing = False
        """Whether the head is ahead of the mirror by a group that is being written."""

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
            self._answers.tell_all()
            self._refuse(self._waiting, NotReady("the API is shutting down; nothing was changed"))
            self._waiting.clear()
        self._planning.shutdown(wait=False)

    @property
    def mirror(self) -> Mirror:
        """The live overlay as it is committed."""
        return self.replica.mirror

    @property
    def queue_length(self) -> int:
        """How many changes wait."""
        return len(self._waiting)

    async def submit(self, proposal: Proposal) -> Answer:
        """The answer to a change, once it is durable; a problem when it is refused, and then nothing is changed."""
        if proposal.repeatable:
            try:
                found = await find_answers(self._database, [proposal.repeatable.id])
            except (Neo4jError, DriverError, OSError) as error:
                raise _away(error) from error
            if found:
                return proposal.repeatable.answer(*found[proposal.repeatable.id])
        self._waiting.append(proposal)
        self._metrics.queue_length.set(len(self._waiting))
        self._came.set()
        self._plan_soon()
        return await proposal.done

    @asynccontextmanager
    async def holding(self) -> AsyncIterator[None]:
        """Keep this process from changing anything else meanwhile; for what takes long to plan."""
        async with self._turn:
            self._head = None  # whoever holds the writer may change what was planned on
            yield

    async def write_now(self, proposal: Proposal) -> Answer:
        """Like :meth:`submit`, for whoever is :meth:`holding` the writer."""
        await self._handle_or_reload([proposal])
        self._answers.tell_all()
        return await proposal.done

    async def preview(self, proposal: Proposal) -> Answer:
        """What a change would come to now; nothing is changed."""
        check_version(proposal, self.mirror.version)
        if not proposal.slow:
            return Answer.of_plan(self.mirror.version, proposal.plan(self.mirror.live))
        async with self._previews.one():
            live = self.mirror.live.copy()
            return Answer.of_plan(live.version, await asyncio.to_thread(proposal.plan, live))

    # The writing task

    async def _write(self) -> None:
        while True:
            await self._came.wait()
            async with self._turn:
                group = next_group(self._waiting, len(self._answers))
                for _ in group:
                    self._waiting.popleft()
                self._metrics.queue_length.set(len(self._waiting))
                if group:
                    await self._handle_or_reload(group)
            if not self._waiting:
                self._answers.tell_all()
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
            if tried:
                await asyncio.sleep(random.uniform(0, SECONDS_BEFORE_RETRY * 2**tried))  # noqa: S311 (apart, not secret)
            if all(proposal.done.done() and not self._is_planned(proposal) for proposal in group):
                return
            attempt = Attempt()
            try:
                with self._metrics.commit_seconds.time():
                    await self._commit(attempt, group)
            except OutcomeUnknown as error:
                log.warning("commit with unknown outcome", group=attempt.id, reason=str(error))
                if not await self._settle(attempt, group):
                    continue
                self._head = None  # made meanwhile, it stands on what was before this commit
            except DoesNotFit:
                await self.replica.reload()
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
                if isinstance(error, ClientError):  # it is there, and says no
                    self._refuse(
                        group, NotReady(f"Neo4j refuses the commit, nothing was changed: {first_line(error)}")
                    )
                    return
                self.healthy = False
                self._refuse(group, _away(error))
                return
            self.healthy = True
            self._finish(attempt)
            return
        self._refuse(group, NotReady(f"the commit failed {RETRIES} times; nothing was changed"))

    async def _one_by_one(self, group: list[Proposal], error: ConstraintError) -> None:
        """A constraint refuses the group: only the change at fault is refused."""
        if len(group) > 1:
            for proposal in group:
                await self._handle([proposal])
            return
        log.error("a constraint of Neo4j refuses a change", kind=group[0].kind, reason=first_line(error))
        self._refuse(
            group,
            Conflict(
                f"Neo4j holds something that no change made, and that this one would need a second time: {first_line(error)}"
            ),
        )

    async def _commit(self, attempt: Attempt, group: list[Proposal]) -> None:
        seconds = max(proposal.seconds for proposal in group)
        self._taken = group
        try:
            if all(proposal.ahead for proposal in group):
                await self._plan_slow(group)
                if await self._commit_ahead(attempt, group, seconds):
                    return
            async with self._database.transaction(seconds) as transaction:
                version = await lock_overlay(transaction, attempt.id)
                await self.replica.follow(transaction, version)
                await self._answer_repeats(transaction, group)
                await self._plan_slow(group)
                self._plan(attempt, group)
                self._taken, self._writing = [], True
                self._answers.tell_soon()  # when what is to be written is on its way
                await write_commit(transaction, attempt.commit(version))
        except BaseException:
            self._head = None
            raise
        finally:
            self._taken, self._writing = [], False

    async def _commit_ahead(self, attempt: Attempt, group: list[Proposal], seconds: float) -> bool:
        """Commit as it was planned, where nobody else committed meanwhile; else it is to be planned under the lock."""
        keys = [proposal.repeatable.id for proposal in group if proposal.repeatable]
        self._plan(attempt, group)
        self._taken, self._writing = [], True
        self._answers.tell_soon()  # when what is to be written is on its way
        self._plan_soon()
        if await commit_at(self._database, attempt.commit(self.mirror.version), keys, seconds):
            return True
        attempt.forget()
        self._head, self._taken, self._writing = None, group, False
        return False

    # Planning

    async def _plan_slow(self, group: list[Proposal]) -> None:
        """Have a thread plan a slow change, on a head of its own: reads go on, and nobody plans ahead meanwhile."""
        slow = [proposal for proposal in group if proposal.slow and not proposal.done.done()]
        if slow and not self._is_planned(slow[0]):
            head, self._head, self._writing = Head(self.mirror), None, True
            await asyncio.get_running_loop().run_in_executor(self._planning, head.plan, slow[0])
            self._head = head

    def _plan(self, attempt: Attempt, group: list[Proposal]) -> None:
        """Plan what of the group was not planned ahead."""
        group[:] = [proposal for proposal in group if self._is_planned(proposal) or not proposal.done.done()]
        if self._head is None or not self._head.fits(group):
            self._head = Head(self.mirror)
        head = self._head
        until = time.monotonic() + SECONDS_OF_PLANNING
        for i, proposal in enumerate(group):
            if proposal not in head:
                if attempt.planned and time.monotonic() > until:
                    self._waiting.extendleft(reversed(group[i:]))
                    del group[i:]  # tried again, it must not bring them to the queue a second time
                    break
                head.plan(proposal)
            outcome = head.take(proposal)
            if isinstance(outcome, Exception):
                attempt.refused.append((proposal, outcome))
            else:
                attempt.planned.append(outcome)
        self._metrics.group_size.observe(len(attempt.planned))

    def _plan_soon(self) -> None:
        if not self._is_planning:
            self._is_planning = True
            asyncio.get_running_loop().call_soon(self._plan_ahead)

    def _plan_ahead(self) -> None:
        """Plan the next of those who wait; one at a time, so that the loop hears of everything else in between."""
        self._is_planning = False
        if self._head is None:
            if self._writing:
                return
            self._head = Head(self.mirror)
        head = self._head
        following = (
            proposal
            for proposal in chain(self._taken, self._waiting)
            if proposal not in head and not proposal.done.done()
        )
        proposal = next(following, None)
        if proposal is None or not proposal.ahead or proposal.slow or len(head) >= PLANNED_AHEAD:
            return
        try:
            head.plan(proposal)
        except Exception:  # it meets this again when its turn comes, and is told
            log.exception("planning ahead failed", kind=proposal.kind)
            self._head = None
        else:
            self._plan_soon()

    def _lose_head(self) -> None:
        self._head = None

    def _is_planned(self, proposal: Proposal) -> bool:
        return self._head is not None and proposal in self._head

    async def _answer_repeats(self, transaction: Transaction, group: list[Proposal]) -> None:
        """Answer those whose Idempotency-Key has an answer by now.

        Only under the lock is that certain: with a look before it, another process could do the same request in
        between, and we would refuse the broker it let leave as unknown.
        """
        keys = [proposal.repeatable.id for proposal in group if proposal.repeatable]
        found = await find_answers(transaction, keys) if keys else {}
        if found:
            self._head = None  # which may hold plans of theirs
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

    def _finish(self, attempt: Attempt) -> None:
        """The group is durable: the mirror, the feed and the callers learn of it, and who is refused that it is certain."""
        for proposal, error in attempt.refused:
            self._metrics.change(proposal.kind, "refused")
            proposal.refuse(error)
        mirror = self.mirror
        records = iter(attempt.records)
        for one in attempt.planned:
            if one.figures:
                mirror.apply(one.plan, next(records))
                for name, facts in one.proposal.newcomers.items():
                    if not facts.is_plain:
                        mirror.facts[name] = facts
            one.proposal.committed()
            self._metrics.change(one.proposal.kind, "committed" if one.figures else "unchanged")
            if not one.proposal.ahead:
                self._head = None
        self.feed.publish(attempt.records)
        self._answers.tell_all()
        self._answers.add((one.proposal, one.answer) for one in attempt.planned)

    # Other processes

    async def _follow(self) -> None:
        """Look for changes of other processes, a few times a second."""
        while True:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            if self._turn.locked():
                continue
            try:
                async with self._turn:
                    await self.replica.catch_up()
                self.healthy = True
            except (Neo4jError, DriverError, OSError) as error:
                if self.healthy:
                    log.warning("Neo4j does not answer", reason=first_line(error))
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
                log.warning("old answers could not be removed", reason=first_line(error))
            await asyncio.sleep(3600)

    async def _reload_at_last(self) -> None:
        """Load the overlay anew, however long that takes: the mirror may not be what is committed."""
        while not self._stopping:
            try:
                await self.replica.reload()
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

    async def catch_up(self) -> None:
        """Follow what other processes have committed by now, for whoever was told of something newer than the mirror."""
        async with self._turn:
            await self.replica.catch_up()

    async def reload(self) -> None:
        """Load the overlay anew, as after an import."""
        async with self._turn:
            await self.replica.reload()

    def _refuse_waiting(self, problem: Problem) -> None:
        self._refuse(self._waiting, problem)
        self._waiting.clear()

    def _refuse(self, proposals: deque[Proposal] | list[Proposal], problem: Problem) -> None:
        for proposal in proposals:
            if not proposal.done.done():
                self._metrics.change(proposal.kind, "failed")
                proposal.refuse(problem)


def _away(error: Exception) -> NotReady:
    return NotReady(f"Neo4j does not answer, nothing was changed: {first_line(error)}")


def _is_away(error: Neo4jError) -> bool:
    return "DatabaseUnavailable" in (error.code or "")
