"""Imports as jobs: queued, one at a time, heard of while they run; what became of them is in Neo4j for a week."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import psutil
import structlog
from neo4j.exceptions import DriverError, Neo4jError

from backend.backup.restore import restore_whole
from backend.errors import BadValue, Busy, Conflict, NotFound, NotReady, Problem, first_line
from backend.imports.bounds import Bounds
from backend.imports.living import LivingImport
from backend.imports.merge import Federation, merge_plan, read_federation, result
from backend.imports.request import Access, ImportRequest, Kind
from backend.imports.whole import import_whole, read_rows
from backend.live import Proposal
from backend.live.proposal import planner
from backend.manager import Manager
from backend.policy import PolicyMoved
from backend.store.importing import wipe_import
from backend.times import stamp
from backend.worker import in_process

log = structlog.get_logger(__name__)

SECONDS_BETWEEN_BEATS = 1.0
SECONDS_UNTIL_LOST = 30
DAYS_KEPT = 7
SECONDS_APART = 2
"""The time at which a process began is told anew each time, from clocks that may be set."""
SECONDS_OF_MERGE = 900.0
"""A whole federation is one transaction."""
SECONDS_TO_FOLLOW = 0.5
"""Another process may have changed the policy: ours hears of it within that time."""
TRIES = 3
"""So often links are found anew, when the policy asks for another k meanwhile."""

State = Literal["queued", "running", "done", "failed"]


@dataclass
class Job:
    """One import, from the request to its end."""

    id: str
    kind: Kind
    actor: str
    created_at: str
    state: State = "queued"
    stage: str = "waiting"
    share: float = 0.0
    result: dict[str, Any] | None = None
    error: str | None = None
    problem: str | None = None
    """What kind of error it was: the slug of a problem."""
    task: asyncio.Task[None] | None = field(default=None, repr=False)

    def report(self, share: float, stage: str) -> None:
        """How far it is."""
        self.share, self.stage = max(self.share, min(share, 1.0)), stage

    def fail(self, problem: Problem, detail: str | None = None) -> None:
        """It met a problem; ``detail`` where that is to be told in other words."""
        self.state, self.error, self.problem = "failed", detail or problem.detail, problem.slug

    def as_json(self) -> dict[str, Any]:
        """The job as the API tells it."""
        return {
            "id": self.id,
            "kind": self.kind,
            "state": self.state,
            "actor": self.actor,
            "created_at": self.created_at,
            "progress": {"stage": self.stage, "share": round(self.share, 4)},
            "result": self.result,
            "error": self.error,
            "problem": self.problem,
        }

    def properties(self) -> dict[str, Any]:
        """The job as properties of its node."""
        plain = asdict(replace(self, task=None))
        del plain["task"]
        return {**plain, "result": json.dumps(self.result) if self.result is not None else None}

    @classmethod
    def from_properties(cls, values: dict[str, Any], *, silent: bool) -> Job:
        """The job that a node holds; one under way that nobody hears of has lost its process."""
        found = cls(
            **{
                name: values.get(name)
                for name in (
                    "id",
                    "kind",
                    "actor",
                    "created_at",
                    "state",
                    "stage",
                    "share",
                    "error",
                    "problem",
                )
            },  # type: ignore[arg-type]
            result=json.loads(values["result"]) if values.get("result") else None,
        )
        if silent and found.state in ("queued", "running"):
            found.fail(NotReady("the API process that ran it ended before it did"))
        return found


class Imports:
    """The imports of one API process."""

    def __init__(self, manager: Manager) -> None:
        self._manager = manager
        self._jobs: dict[str, Job] = {}
        self._turn = asyncio.Lock()

    def new_folder(self) -> Path:
        """Where the files of a request may lie until it is done."""
        owner = psutil.Process()
        folder = self._uploads / f"{owner.pid}.{int(owner.create_time())}.{uuid4()}"
        folder.mkdir(parents=True)
        return folder

    def sweep(self) -> None:
        """Remove the files of processes that were killed; another one may live in the same home."""
        for left in self._uploads.glob("*"):
            if not _has_owner(left):
                if left.is_dir() and not left.is_symlink():
                    shutil.rmtree(left, ignore_errors=True)
                else:
                    with suppress(OSError):
                        left.unlink()

    @property
    def _uploads(self) -> Path:
        return self._manager.settings.home / "uploads"

    def start(self, request: ImportRequest, actor: str) -> Job:
        """Queue an import; what cannot be done to the overlay as it is now is refused at once."""
        self._refuse_unfit(request)
        most = self._manager.settings.max_queued_imports
        if (waiting := sum(job.state in ("queued", "running") for job in self._jobs.values())) >= most:
            raise Busy(f"import: {waiting} wait already, at most {most} may (TOPICWEAVE_MAX_QUEUED_IMPORTS)")
        job = Job(str(uuid4()), request.kind, actor, stamp(datetime.now(UTC)))
        self._jobs[job.id] = job
        job.task = asyncio.create_task(self._run(job, request))
        return job

    async def find(self, job_id: str) -> Job:
        """A job of this process, or of another, or of an earlier one."""
        if job_id in self._jobs:
            return self._jobs[job_id]
        found = await self._manager.database.read(
            "imports/read_import", id=job_id, seconds=SECONDS_UNTIL_LOST
        )
        if not found:
            raise NotFound(f"id: no such import (got {job_id!r})", field="id")
        return Job.from_properties(found[0]["import"], silent=bool(found[0]["silent"]))

    async def stop(self) -> None:
        """End what runs."""
        tasks = [job.task for job in self._jobs.values() if job.task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, job: Job, request: ImportRequest) -> None:
        beats = asyncio.create_task(self._beat(job))
        try:
            async with self._turn:
                job.state = "running"
                await self._manager.database.write("imports/forget_imports", days=DAYS_KEPT)
                log.info("import begins", id=job.id, kind=job.kind, actor=job.actor)
                self._refuse_unfit(request)  # an import before this one may have filled the overlay
                await self._at_one_k(job, request)
                job.state, job.stage, job.share = "done", "done", 1.0
        except asyncio.CancelledError:
            job.fail(NotReady("the API was stopped before it was done"))
            raise
        except Problem as problem:
            job.fail(problem, request.without_folder(problem.detail))
        except (Neo4jError, DriverError, OSError) as error:
            job.fail(NotReady(f"Neo4j does not answer: {first_line(error)}"))
        except Exception as error:
            log.exception("an import failed", id=job.id)
            job.fail(Problem(f"{type(error).__name__}: {error}"))
        finally:
            log.info("import ends", id=job.id, state=job.state, error=job.error)
            beats.cancel()
            await asyncio.gather(beats, return_exceptions=True)
            await asyncio.to_thread(request.discard)
            # Where its end cannot be written, it is remembered here.
            with suppress(Neo4jError, DriverError, OSError):
                await self._write(job)
                del self._jobs[job.id]

    def _refuse_unfit(self, request: ImportRequest) -> None:
        mirror = self._manager.mirror
        brokers = mirror.live.brokers
        if request.kind == "restore" and (brokers or mirror.version):
            raise Conflict(
                f"the overlay lives already ({brokers} brokers, version {mirror.version}); a restore needs an empty one"
            )
        if request.kind == "import" and brokers and request.adopt and "links" in request.files:
            raise Conflict(
                f"links: the overlay has {brokers} brokers already; links are adopted into an empty one, or merged with a "
                "living one (POST /v1/merges)",
                field="links",
            )
        if request.kind == "import" and brokers and request.build and "links" not in request.files:
            raise BadValue(
                f"build: the overlay has {brokers} brokers already; its own repairs link what an import brings (got "
                f"{request.build!r})",
                field="build",
            )

    def _work(self, request: ImportRequest) -> Callable[[Job, ImportRequest], Awaitable[None]]:
        return {"import": self._import, "merge": self._merge, "restore": self._restore}[request.kind]

    async def _at_one_k(self, job: Job, request: ImportRequest) -> None:
        """Do the work, anew where the policy asked for another k while its links were found."""
        for _ in range(TRIES - 1):
            with suppress(PolicyMoved):
                return await self._work(request)(job, request)
            log.warning("an import begins anew: the policy asks for another k", id=job.id)
            await asyncio.sleep(SECONDS_TO_FOLLOW)
        return await self._work(request)(job, request)

    async def _import(self, job: Job, request: ImportRequest) -> None:
        writer, bounds = self._manager.writer, Bounds.of(self._manager.settings)
        interests, links = request.path("interests"), request.path("links")
        assert interests is not None
        living = writer.mirror.live.brokers > 0
        if not living or links is not None:
            policy = writer.mirror.policy
            job.result = await self._whole(
                import_whole,
                job,
                interests,
                links,
                request.build or policy.algorithm,
                policy,
                job.actor,
                bounds,
                store=links is None or request.adopt,
            )
            return
        rows = await in_process(job.report, read_rows, interests, bounds)
        batches = LivingImport(writer, rows, job.actor)
        job.result = batches.done
        await batches.run(job.report)

    async def _merge(self, job: Job, request: ImportRequest) -> None:
        writer = self._manager.writer
        interests, links = request.path("interests"), request.path("links")
        assert interests is not None
        assert links is not None
        _, live = await writer.mirror.snapshot()
        k = writer.mirror.policy.k
        bounds = Bounds.of(self._manager.settings)
        federation: Federation = await in_process(
            job.report, read_federation, live, interests, links, k, bounds
        )
        job.report(0.8, "storing")
        answer = await writer.submit(
            Proposal(
                "merge",
                job.actor,
                planner(lambda overlay: merge_plan(overlay, federation)),
                slow=True,
                ahead=True,
                seconds=SECONDS_OF_MERGE,
            )
        )
        job.result = result(federation, len(answer.opened), answer.version)

    async def _restore(self, job: Job, request: ImportRequest) -> None:
        backup = request.path("backup")
        assert backup is not None
        job.result = await self._whole(restore_whole, job, backup)

    async def _whole(
        self, work: Callable[..., dict[str, Any]], job: Job, *given: Any, **named: Any
    ) -> dict[str, Any]:
        """Fill the overlay in another process; the mirror is loaded anew, or what was written is removed."""
        writer, import_id = self._manager.writer, str(uuid4())
        try:
            answer = await in_process(
                job.report, work, Access.of(self._manager.settings), import_id, *given, **named
            )
        except BaseException:
            # A process that was killed could not clean up itself.
            with suppress(Neo4jError, DriverError, OSError):
                await wipe_import(self._manager.database, import_id)
            raise
        if answer["version"] is not None:
            job.report(0.96, "loading")
            while writer.replica.importing:  # it looks for the end by itself, and then loads
                await asyncio.sleep(0.05)
            if writer.mirror.version != answer["version"]:
                await writer.reload()
        return answer

    async def _beat(self, job: Job) -> None:
        while True:
            with suppress(Neo4jError, DriverError, OSError):
                await self._write(job)
            await asyncio.sleep(SECONDS_BETWEEN_BEATS)

    async def _write(self, job: Job) -> None:
        await self._manager.database.write("imports/write_import", id=job.id, properties=job.properties())


def _has_owner(folder: Path) -> bool:
    """Whether the process that made a folder lives; a number alone may be another process's by now."""
    number, _, rest = folder.name.partition(".")
    began = rest.partition(".")[0]
    if not (number.isdecimal() and began.isdecimal()):
        return False
    try:
        return abs(psutil.Process(int(number)).create_time() - int(began)) <= SECONDS_APART
    except (psutil.Error, OverflowError):
        return False
