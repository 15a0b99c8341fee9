"""Rebuilds as jobs: one after the other, their state in Neo4j, so that a restart finds the truth."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import structlog
from neo4j.exceptions import DriverError, Neo4jError

from backend.errors import Busy, Conflict, NotFound, NotReady, Problem
from backend.manager import Manager
from backend.rebuilds.activation import Activator, delete_links, drop_links
from backend.rebuilds.engines import ENGINES, check_request, refuse_below
from backend.rebuilds.rebuild import BEFORE, NO_WISHES, OVER, UNDER_WAY, Activation, Engine, Rebuild, State
from backend.store import rebuilds as store

log = structlog.get_logger(__name__)

SECONDS_BETWEEN_BEATS = 1.0
SECONDS_BETWEEN_TRIES = 0.5
SECONDS_BETWEEN_ROUNDS = 5.0
SECONDS_WITHOUT_ANSWER = 10.0
"""Who has not been heard for so long by Neo4j may just not have heard Neo4j, as we have not: his silence counts from now."""
SECONDS_BETWEEN_SWEEPS = 600.0
"""For links of rebuilds that are over: whoever dropped one may have ended, or lost Neo4j, before its links were gone."""
LOST = "the API process that ran it ended before it did"


@dataclass
class _Job:
    """A rebuild that this process computes."""

    rebuild: Rebuild
    work: asyncio.Task[Rebuild]
    """Computes it; may be cancelled."""
    whole: asyncio.Task[None] | None = None
    """The same until its end is written; never cancelled."""
    called_off: bool = False

    def call_off(self) -> None:
        """Cancel it, once: a second time would interrupt the ending of what it started."""
        if not self.called_off:
            self.called_off = True
            self.work.cancel()


class Rebuilds:
    """The rebuilds that this process computes and activates, and the records of all."""

    def __init__(self, manager: Manager) -> None:
        self.owner = str(uuid4())
        self._manager = manager
        self._database = manager.database
        self._jobs: dict[str, _Job] = {}
        self._activations: dict[str, tuple[Activator, asyncio.Task[None]]] = {}
        self._rounds: asyncio.Task[None] | None = None
        self._stopping = False
        self._answered_at: float | None = None
        self._hears_since = float("-inf")
        """Since when Neo4j answers us without a long gap."""

    def start(self) -> None:
        """Begin to look for what other processes left behind."""
        self._rounds = asyncio.create_task(self._look_around())

    async def stop(self) -> None:
        """End what runs: a rebuild has failed, an activation is left to whoever starts next."""
        self._stopping = True
        activations = list(self._activations)
        jobs = list(self._jobs.values())
        tasks = [task for _, task in self._activations.values()]
        tasks += [self._rounds] if self._rounds else []
        for job in jobs:
            job.call_off()
        for task in tasks:
            task.cancel()
        ending = [job.whole for job in jobs if job.whole]
        await asyncio.gather(*tasks, *ending, return_exceptions=True)
        for rebuild_id in activations:
            with suppress(Neo4jError, DriverError, OSError):
                await store.change(
                    self._database, rebuild_id, {"owner": None}, ["activating"], owner=self.owner
                )

    # Asking

    async def list(self) -> list[Rebuild]:
        """The newest rebuilds first, then older ones that are not over."""
        return [self._seen(*found) for found in await store.read_listed(self._database)]

    async def find(self, rebuild_id: str) -> Rebuild:
        """One rebuild."""
        found = await store.read_one(self._database, rebuild_id)
        if found is None:
            raise NotFound(f"rebuild: no such rebuild (got {rebuild_id!r})", field="rebuild")
        return self._seen(*found)

    @property
    def activating(self) -> str | None:
        """The rebuild that this process activates."""
        return next(iter(self._activations), None)

    def _seen(self, properties: dict[str, Any], silent: bool) -> Rebuild:
        """The state is what is stored; how far a job of ours is, is known better here."""
        self._note_answer()
        rebuild = Rebuild.from_properties(properties)
        mine = self._jobs.get(rebuild.id)
        if rebuild.state in UNDER_WAY:
            if mine:
                rebuild.progress = mine.rebuild.progress
            elif self._is_gone(silent):
                rebuild.state, rebuild.error = "failed", LOST
        return rebuild

    # Computing

    async def request(
        self, algorithm: str, params: dict[str, Any], engine: Engine, seed: int, actor: str
    ) -> Rebuild:
        """Queue a rebuild."""
        mirror = self._manager.mirror
        values = check_request(engine, algorithm, params, mirror.policy.k, mirror.live.brokers)
        most = self._manager.settings.max_queued_rebuilds
        if (queued := await store.count_queued(self._database)) >= most:
            raise Busy(f"rebuild: {queued} wait already, at most {most} may (TOPICWEAVE_MAX_QUEUED_REBUILDS)")
        rebuild = Rebuild(
            str(uuid4()), engine, algorithm, values, seed, actor, datetime.now(UTC), mirror.version
        )
        await store.create(self._database, {**rebuild.properties(), "owner": self.owner})
        job = self._jobs[rebuild.id] = _Job(rebuild, asyncio.create_task(self._compute(rebuild)))
        job.whole = asyncio.create_task(self._run(job))
        job.whole.add_done_callback(lambda _: self._jobs.pop(rebuild.id, None))
        return rebuild

    async def _run(self, job: _Job) -> None:
        """Compute, and write how it ended."""
        rebuild = job.rebuild
        beats = asyncio.create_task(self._beat(job))
        try:
            ended = await job.work
        except asyncio.CancelledError:
            if self._stopping:
                ended = replace(rebuild, state="failed", error="the API was stopped before it was done")
            else:
                ended = replace(rebuild, state="cancelled", error="cancelled")
        except Problem as problem:
            ended = replace(rebuild, state="failed", error=problem.detail)
        except Exception as error:
            log.exception("a rebuild failed", id=rebuild.id)
            ended = replace(rebuild, state="failed", error=f"{type(error).__name__}: {error}")
        finally:
            beats.cancel()
        await self._settle(ended, self.owner)

    async def _compute(self, rebuild: Rebuild) -> Rebuild:
        await self._wait_for_turn(rebuild)
        log.info("rebuild begins", id=rebuild.id, algorithm=rebuild.algorithm, engine=rebuild.engine)

        def report(share: float, stage: str) -> None:
            rebuild.progress = {"stage": stage, "share": round(share, 4)}

        plan = await ENGINES[rebuild.engine](self._manager, rebuild, report)
        return replace(rebuild, state="planned", plan=plan, progress={"stage": "planned", "share": 1.0})

    async def _wait_for_turn(self, rebuild: Rebuild) -> None:
        """One rebuild is computed at a time, in the order they were asked for, by all processes together."""
        while True:
            with suppress(Neo4jError, DriverError, OSError):
                if await store.begin_computing(self._database, rebuild.id, self.owner):
                    return
            await asyncio.sleep(SECONDS_BETWEEN_TRIES)

    async def _settle(self, rebuild: Rebuild, owner: str | None = None) -> None:
        """Write how a job ended; one that gave no plan, or was given up by others, leaves no candidates.

        The state comes first: a batch that is still under way writes nothing for a rebuild that is over.
        """
        for _ in range(60):
            try:
                state = await self._end(rebuild, owner)
                if state is None:
                    rebuild = replace(rebuild, state="cancelled", error="cancelled", plan=None)
                    state = await self._end(rebuild, owner)
                if state in OVER:
                    await store.delete_candidates(self._database, rebuild.id)
            except (Neo4jError, DriverError, OSError):
                await asyncio.sleep(1)
            else:
                return

    async def _end(self, rebuild: Rebuild, owner: str | None) -> str | None:
        """Write the state a job came to: the one that is stored then, or None where somebody wants it cancelled first."""
        properties = {**rebuild.properties(), "owner": None, "cancelling": None}
        unless = None if rebuild.state == "cancelled" else "cancelling"
        found = await store.change(self._database, rebuild.id, properties, UNDER_WAY, owner, unless=unless)
        if found is not None:
            return rebuild.state
        # It may have been written before the connection was lost, or be over for others.
        stored = await store.read_one(self._database, rebuild.id)
        state = str(stored[0]["state"]) if stored else "dropped"
        return None if state in UNDER_WAY else state

    async def _beat(self, job: _Job) -> None:
        """Say that the job lives, and how far it is; hear whether it is to be cancelled."""
        rebuild = job.rebuild
        while True:
            changed: dict[str, Any] = {"base_version": rebuild.base_version}
            if rebuild.engine == "local":
                changed["progress"] = rebuild.properties()["progress"]
            try:
                found = await store.change(self._database, rebuild.id, changed, UNDER_WAY, self.owner)
                if found is None or found["cancelling"]:
                    job.call_off()
            except (Neo4jError, DriverError, OSError) as error:
                log.warning("a rebuild's record could not be written", id=rebuild.id, reason=str(error))
            await asyncio.sleep(SECONDS_BETWEEN_BEATS)

    # Deciding

    async def cancel(self, rebuild_id: str, actor: str) -> Rebuild:
        """Stop computing; of one that is being activated, go back, in the name of who wants it."""
        rebuild = await self.find(rebuild_id)
        if rebuild.state in UNDER_WAY:
            await self._wish(rebuild, "cancelled", UNDER_WAY, cancelling=True)
            mine = self._jobs.get(rebuild_id)
            if mine:  # else the process that computes it hears of it with its next heartbeat
                mine.call_off()
                await asyncio.gather(*[mine.whole] if mine.whole else [], return_exceptions=True)
        elif rebuild.state == "activating":
            wish = {"returning": True, "returned_by": actor, "paused": False}
            await self._wish(rebuild, "cancelled", ("activating",), **wish)
        else:
            raise self._not_now(rebuild, "cancelled", "queued, running or activating")
        return await self.find(rebuild_id)

    async def drop(self, rebuild_id: str, actor: str) -> Rebuild:
        """A plan that is not wanted; its links go."""
        rebuild = await self.find(rebuild_id)
        if rebuild.state in UNDER_WAY:
            with suppress(Conflict):  # it has ended meanwhile
                return await self.cancel(rebuild_id, actor)
            rebuild = await self.find(rebuild_id)
        if rebuild.state in OVER:
            await delete_links(self._manager, rebuild.id)  # an error may have left some
            return rebuild
        if not await drop_links(self._manager, rebuild, "planned", "active"):
            raise self._not_now(await self.find(rebuild_id), "dropped", "planned or active")
        return await self.find(rebuild_id)

    async def activate(self, rebuild_id: str, actor: str) -> Rebuild:
        """Go over to a plan's links, make-before-break; refused where k would fall below the policy's."""
        rebuild = await self.find(rebuild_id)
        if rebuild.state != "planned":
            raise self._not_now(rebuild, "activated", "planned")
        refuse_below(self._manager.mirror.policy.k, rebuild.algorithm, rebuild.params)
        return await self._begin(rebuild, "planned", Activation(actor=actor))

    async def roll_back(self, rebuild_id: str, actor: str) -> Rebuild:
        """Go back to the links of before an activation."""
        rebuild = await self.find(rebuild_id)
        if rebuild.state != "active":
            raise self._not_now(rebuild, "rolled back", "active")
        return await self._begin(rebuild, "active", Activation(rollback=True, before_kept=True, actor=actor))

    async def pause(self, rebuild_id: str, *, paused: bool) -> Rebuild:
        """Hold an activation between two batches, or let it go on."""
        rebuild = await self.find(rebuild_id)
        if rebuild.state != "activating":
            raise self._not_now(rebuild, "paused" if paused else "resumed", "activating")
        done = "paused" if paused else "resumed"
        await self._wish(rebuild, done, ("activating",), paused=paused)
        return await self.find(rebuild_id)

    async def _wish(self, rebuild: Rebuild, done: str, states: tuple[State, ...], **wanted: object) -> None:
        """Note what an operator wants; whoever works on the rebuild, in whichever process, heeds it."""
        unless = "returning" if wanted.get("returning") else None
        back = rebuild.activation is not None and rebuild.activation.rollback
        if (unless and back) or await store.change(
            self._database, rebuild.id, wanted, states, beats=False, unless=unless
        ) is None:
            now = await self.find(rebuild.id)
            if unless and now.state in states:
                raise Conflict(f"rebuild: {rebuild.id!r} goes back already", field="rebuild")
            raise self._not_now(now, done, " or ".join(states))
        mine = self._activations.get(rebuild.id)
        if mine:
            mine[0].wishes.set()

    async def _begin(self, rebuild: Rebuild, state: str, activation: Activation) -> Rebuild:
        rebuild = replace(rebuild, activation=activation, state="activating", error=None)
        begun = await store.begin_activation(
            self._database,
            rebuild.id,
            state,
            self.owner,
            {**rebuild.properties(), **NO_WISHES},
        )
        if begun is not None:
            if not begun:  # it was activated, or dropped, between our look and this
                raise self._not_now(await self.find(rebuild.id), "activated", state)
            raise Conflict(
                f"rebuild: {', '.join(map(repr, begun))} is being activated; one at a time", field="rebuild"
            )
        self._go_on(rebuild)
        return rebuild

    def _go_on(self, rebuild: Rebuild) -> None:
        activator = Activator(self._manager, rebuild, self.owner)
        task = asyncio.create_task(activator.run())
        self._activations[rebuild.id] = (activator, task)
        task.add_done_callback(lambda _: self._activations.pop(rebuild.id, None))

    # What others left behind

    async def _look_around(self) -> None:
        swept_at = float("-inf")
        while True:
            try:
                _ = self._manager.writer
                found = await store.read_in(self._database, (*UNDER_WAY, "activating"))
                self._note_answer()
                for properties, silent in found:
                    if self._is_gone(silent) and properties["id"] not in self._jobs:
                        await self._pick_up(Rebuild.from_properties(properties))
                if time.monotonic() - swept_at > SECONDS_BETWEEN_SWEEPS:
                    await self._sweep()
                    swept_at = time.monotonic()
            except NotReady:
                await asyncio.sleep(0.2)
                continue
            except (Neo4jError, DriverError, OSError):
                pass
            except Exception:
                log.exception("looking for what is left of rebuilds failed")
            await asyncio.sleep(SECONDS_BETWEEN_ROUNDS)

    def _note_answer(self) -> None:
        now = time.monotonic()
        if self._answered_at is not None and now - self._answered_at > SECONDS_WITHOUT_ANSWER:
            self._hears_since = now
        self._answered_at = now

    def _is_gone(self, silent: bool) -> bool:
        """Whether somebody who is silent in Neo4j had the time to be heard since Neo4j answers."""
        return silent and time.monotonic() - self._hears_since >= store.SECONDS_UNTIL_SILENT

    async def _pick_up(self, rebuild: Rebuild) -> None:
        if rebuild.state in UNDER_WAY:
            rebuild.state, rebuild.error = "failed", LOST
            await self._settle(rebuild)
        elif rebuild.id not in self._activations and await store.take_over(
            self._database, rebuild.id, self.owner
        ):
            log.info("activation resumes", id=rebuild.id)
            self._go_on(rebuild)

    async def _sweep(self) -> None:
        """Remove what rebuilds that are over have left behind, and the records of those that are over for long."""
        for links in await store.find_leftovers(self._database, OVER, BEFORE):
            await store.delete_candidates(self._database, links)
        days = self._manager.settings.history_days
        if days:  # 0: for ever, as changes
            await store.forget(self._database, OVER, days, BEFORE)

    def _not_now(self, rebuild: Rebuild, done: str, needed: str) -> Conflict:
        return Conflict(
            f"rebuild: {rebuild.id!r} is {rebuild.state}; only one that is {needed} can be {done}",
            field="rebuild",
        )
