"""Simulations as jobs: churn on a copy of the live overlay or on a generated workload, in a process of its own.

They are kept in the memory of the API process that runs them, the newest ones only: a simulation changes nothing, so
nothing is lost with it. One of the live overlay can be applied to it afterwards, round by round, as ordinary changes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import uuid4

import structlog
from neo4j.exceptions import DriverError, Neo4jError

from algorithms import BadInput, Cancelled, Interests, Overlay
from algorithms.churn import Round, simulate
from algorithms.completion import completed
from algorithms.live import Change
from algorithms.workloads import generate
from backend.errors import BadValue, Busy, Conflict, NotFound, NotReady, Problem, first_line
from backend.live import Proposal
from backend.live.proposal import Repeatable, planner
from backend.manager import Manager
from backend.times import stamp
from backend.worker import Report, in_process

log = structlog.get_logger(__name__)

SIMULATIONS_KEPT = 50
ROUNDS_KEPT = 500_000
"""Of all that are over; the oldest are forgotten with all their rounds."""
MOST_WAITING = 10
MOST_SUBSCRIPTIONS = 5_000_000
"""Of a generated workload: more than the largest overlay that was measured holds."""
ROUNDS_AT_MOST = 100_000
AT_ONCE = 2
CHANGES_AT_ONCE = 50
"""A round with more (a failure of many brokers) is planned by a thread."""
SECONDS_BETWEEN_TRIES = 0.5
"""Of a round that is applied while Neo4j is away."""
SECONDS_OF_TRIES = 300.0
"""Whoever applies one is told then that it does not go on."""

UNDER_WAY = ("queued", "running", "applying")
State = Literal["queued", "running", "done", "failed", "cancelled", "applying", "applied"]


@dataclass
class Simulation:
    """One simulation, from the request on."""

    id: str
    request: dict[str, Any]
    actor: str
    created_at: datetime
    base_version: int
    state: State = "queued"
    stage: str = "waiting"
    share: float = 0.0
    error: str | None = None
    rounds: list[dict[str, Any]] = field(default_factory=list)
    changes: list[tuple[Change, ...]] = field(default_factory=list, repr=False)
    summary: dict[str, Any] | None = None
    applied: dict[str, int] | None = None
    task: asyncio.Task[None] | None = field(default=None, repr=False)

    def as_json(self, after: int | None = None, limit: int = ROUNDS_AT_MOST) -> dict[str, Any]:
        """As the API tells it; some rounds after one that is known already, none of them in a list."""
        rounds = [] if after is None else self.rounds[after : after + limit]
        return {
            "id": self.id,
            "state": self.state,
            "request": self.request,
            "actor": self.actor,
            "created_at": stamp(self.created_at),
            "base_version": self.base_version,
            "progress": {"stage": self.stage, "share": round(self.share, 4)},
            "error": self.error,
            "rounds": rounds,
            "next": len(self.rounds),
            "summary": self.summary,
            "applied": self.applied,
        }


class Simulations:
    """The simulations of one API process."""

    def __init__(self, manager: Manager) -> None:
        self._manager = manager
        self._all: dict[str, Simulation] = {}
        self._turn = asyncio.Semaphore(AT_ONCE)

    def list(self) -> list[Simulation]:
        """The newest first."""
        return list(reversed(self._all.values()))

    def find(self, simulation_id: str) -> Simulation:
        """One that this process ran."""
        if simulation_id not in self._all:
            raise NotFound(f"simulation: no such simulation (got {simulation_id!r})", field="simulation")
        return self._all[simulation_id]

    def request(
        self,
        source: Literal["live", "workload"],
        workload: Mapping[str, Any] | None,
        options: dict[str, Any],
        actor: str,
    ) -> Simulation:
        """Queue a simulation."""
        if (source == "workload") != (workload is not None):
            wanted = "needs a workload" if workload is None else "takes no workload"
            raise BadValue(f"workload: source {source!r} {wanted}", field="workload")
        if options["rounds"] > ROUNDS_AT_MOST:
            raise BadValue(f"rounds: at most {ROUNDS_AT_MOST} (got {options['rounds']})", field="rounds")
        check_options(workload, options)
        waiting = sum(one.state == "queued" for one in self._all.values())
        if waiting >= MOST_WAITING:
            raise Busy(f"simulation: {waiting} wait already")
        mirror = self._manager.mirror
        simulation = Simulation(
            str(uuid4()),
            {"source": source, "workload": workload, **options},
            actor,
            datetime.now(UTC),
            mirror.version,
        )
        self._all[simulation.id] = simulation
        self._forget()
        simulation.task = asyncio.create_task(self._run(simulation, workload, options))
        return simulation

    def _forget(self) -> None:
        """The oldest that are over go, where there are too many, or where they keep too many rounds."""
        over = [one for one in self._all.values() if one.state not in UNDER_WAY]
        rounds = sum(len(one.rounds) for one in over)
        for one in over:
            if len(self._all) <= SIMULATIONS_KEPT and rounds <= ROUNDS_KEPT:
                break
            rounds -= len(one.rounds)
            del self._all[one.id]

    async def _run(
        self, simulation: Simulation, workload: Mapping[str, Any] | None, options: dict[str, Any]
    ) -> None:
        try:
            async with self._turn:
                simulation.state = "running"
                overlay: Overlay | None = None
                if workload is None:
                    simulation.base_version, overlay = await self._manager.mirror.snapshot()

                def report(share: float, stage: Any) -> None:
                    if isinstance(stage, tuple):
                        done, changes = stage
                        simulation.rounds.append(done)
                        simulation.changes.append(changes)
                    else:
                        simulation.stage, simulation.share = stage, share

                simulation.summary = await in_process(report, _simulate, overlay, workload, options)
                simulation.state, simulation.stage, simulation.share = "done", "done", 1.0
        except asyncio.CancelledError:
            simulation.state, simulation.error = "cancelled", "cancelled"
        except Problem as problem:
            simulation.state, simulation.error = "failed", problem.detail
        except Exception as error:
            log.exception("a simulation failed", id=simulation.id)
            simulation.state, simulation.error = "failed", f"{type(error).__name__}: {error}"

    async def cancel(self, simulation_id: str) -> Simulation:
        """Stop one that runs, or that is being applied; what it did so far stays."""
        simulation = self.find(simulation_id)
        if simulation.task and not simulation.task.done():
            simulation.task.cancel()
            await asyncio.gather(simulation.task, return_exceptions=True)
        return simulation

    def apply(self, simulation_id: str, actor: str) -> Simulation:
        """Do to the live overlay what was simulated, round by round."""
        simulation = self.find(simulation_id)
        if simulation.request["source"] != "live":
            raise Conflict(
                "simulation: only one of the live overlay can be applied to it", field="simulation"
            )
        if simulation.state != "done":
            raise Conflict(
                f"simulation: it is {simulation.state}; only one that is done can be applied",
                field="simulation",
            )
        simulation.state = simulation.stage = "applying"
        simulation.applied = {"done": 0, "total": len(simulation.changes), "skipped": 0}
        simulation.task = asyncio.create_task(self._apply(simulation, actor))
        return simulation

    async def _apply(self, simulation: Simulation, actor: str) -> None:
        """A round that does not fit any more (its broker has gone meanwhile) is skipped and counted."""
        assert simulation.applied is not None
        try:
            for i, changes in enumerate(simulation.changes):
                if not await self._apply_round(simulation, changes, f"{simulation.id} {i}", actor):
                    simulation.applied["skipped"] += 1
                simulation.applied["done"] += 1
            simulation.state = simulation.stage = "applied"
        except asyncio.CancelledError:
            simulation.state, simulation.error = "cancelled", "stopped while it was applied"
        except Problem as problem:
            simulation.state, simulation.error = "failed", problem.detail
        except Exception as error:
            log.exception("applying a simulation failed", id=simulation.id)
            simulation.state, simulation.error = "failed", f"{type(error).__name__}: {error}"

    async def _apply_round(
        self, simulation: Simulation, changes: tuple[Change, ...], name: str, actor: str
    ) -> bool:
        """Whether a round fitted; while Neo4j is away it is asked for again, and done once however often that is."""
        ending = time.monotonic() + SECONDS_OF_TRIES
        once = Repeatable.of_request(actor, f"simulation {name}", "APPLY", name, None)
        plan = planner(lambda live: live.plan(changes))
        while True:
            try:
                await self._manager.writer.submit(
                    Proposal(
                        "batch", actor, plan, repeatable=once, ahead=True, slow=len(changes) > CHANGES_AT_ONCE
                    )
                )
            except (NotReady, Neo4jError, DriverError, OSError) as error:
                if time.monotonic() > ending:
                    raise
                simulation.stage = f"waiting: {first_line(error)}"
                await asyncio.sleep(SECONDS_BETWEEN_TRIES)
            except Problem as problem:
                if problem.status >= 500:
                    raise
                return False
            else:
                simulation.stage = "applying"
                return True

    async def stop(self) -> None:
        """End what runs."""
        for simulation in self._all.values():
            await self.cancel(simulation.id)


def check_options(workload: Mapping[str, Any] | None, options: Mapping[str, Any]) -> None:
    """What the simulator and the workload would refuse is refused before anything is queued."""

    def begun(_share: float, _stage: str) -> None:
        raise Cancelled("the options are good")

    try:
        with suppress(Cancelled):
            simulate(Interests.from_mapping({}), progress=begun, **options)
        if workload is None:
            return
        subscriptions = workload["brokers"] * workload["subscriptions"]
        if subscriptions > MOST_SUBSCRIPTIONS:
            raise BadInput(
                "workload.subscriptions",
                workload["subscriptions"],
                f"at most {MOST_SUBSCRIPTIONS} in all, with {workload['brokers']} brokers",
            )
        with prefixed("workload."):
            generate(
                **{**workload, "brokers": 1}
            )  # that many brokers take long, and are checked by their number
    except BadInput as error:
        raise BadValue(str(error), field=error.field) from None


@contextmanager
def prefixed(where: str) -> Iterator[None]:
    """Name the fields of a part as its whole does."""
    try:
        yield
    except BadInput as error:
        raise BadInput(f"{where}{error.field}", error.value, error.reason) from None


def _simulate(
    report: Report, overlay: Overlay | None, workload: Mapping[str, Any] | None, options: dict[str, Any]
) -> dict[str, Any]:
    """In a process of its own."""
    if overlay is None:
        interests = generate(**(workload or {}))
    else:
        # The simulated k may be more than the policy promises.
        interests, overlay = overlay.interests, completed(overlay, options["k"])

    def watch(done: Round, changes: tuple[Change, ...]) -> None:
        report(0.0, (asdict(done), changes))

    try:
        return simulate(interests, overlay=overlay, progress=report, watch=watch, **options).summary()
    except BadInput as error:
        raise BadValue(str(error), field=error.field) from None
