"""The manager: brings the overlay from Neo4j into memory, and keeps what works on it: writer, mirror, feed."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable

import structlog
from neo4j.exceptions import DriverError, Neo4jError

from algorithms import Interests, Overlay, build
from algorithms.live import LiveOverlay, join, leave
from backend.demos import load_demo
from backend.errors import CannotRun, NotReady, Problem, first_line
from backend.history import History
from backend.live import Feed, Mirror, Standby, Writer
from backend.metrics import Metrics
from backend.policy import Policy
from backend.settings import Settings
from backend.store import Database, StoredOverlay
from backend.store.bulk import import_overlay
from backend.store.commit import prepare_commits
from backend.store.loading import read_overlay
from backend.store.overlay import create_overlay

log = structlog.get_logger(__name__)

SECONDS_BETWEEN_TRIES = 2.0
"""Between two looks at an overlay that could not be loaded."""
SECONDS_FOR_NEO4J = 120
"""A server started beside us on a slow machine may take that long to answer for the first time."""


class Manager:
    """The live overlay of one installation."""

    def __init__(self, settings: Settings, metrics: Metrics, on_failure: Callable[[], None]) -> None:
        self.settings = settings
        self.metrics = metrics
        self.feed = Feed()
        self.failed = False
        self.database = Database(settings.bolt_uri, settings.neo4j_user, settings.find_neo4j_password())
        self.history = History(self.database, self.feed, settings, lambda: self.mirror)
        self._on_failure = on_failure
        self._writer: Writer | None = None
        self._standby: Standby | None = None
        self._stage = "waiting for Neo4j"
        self._task: asyncio.Task[None] | None = None

    @property
    def writer(self) -> Writer:
        """Who changes the overlay, or :class:`NotReady` with what is being waited for."""
        if self._writer is None:
            raise NotReady(f"the overlay is not loaded yet: {self._stage}")
        if self._writer.replica.importing:
            raise NotReady("an import fills the overlay")
        if self._writer.replica.unfit:
            raise NotReady(self._writer.replica.unfit)
        return self._writer

    @property
    def mirror(self) -> Mirror:
        """The mirror of the moment."""
        return self.writer.mirror

    def start(self) -> None:
        """Begin to load the overlay, without waiting for it."""
        self._task = asyncio.create_task(self._load())

    async def stop(self) -> None:
        """Stop loading and writing, and close the connection."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self.feed.close()
        await self.history.stop()
        if self._standby:
            await self._standby.stop()
        if self._writer:
            await self._writer.stop()
        await self.database.__aexit__()

    async def _load(self) -> None:
        try:
            await asyncio.gather(
                self.database.wait_until_up(SECONDS_FOR_NEO4J), asyncio.to_thread(_warm_kernels)
            )
            await self.database.check_server()
            self._stage = "applying the schema"
            await self.database.apply_schema()
            self._stage = "reading the overlay from Neo4j"
            stored = await self._stored() or await self._first_overlay()
            self._writer = Writer(self.database, stored, self.feed, self.metrics)
            self._writer.replica.on_reload(self.history.restart)
            self._writer.start()
            self.history.start()
            self._standby = Standby(self.database, self._writer)
            self._standby.start()
            _spare_collector()
        except Problem as problem:
            self._give_up(problem.detail)
        except Exception as error:  # whatever it is, the process must not stay up without an overlay
            log.exception("loading the overlay failed")
            self._give_up(f"{type(error).__name__}: {error}")

    async def _stored(self) -> StoredOverlay | None:
        """What Neo4j holds; a connection that is lost meanwhile, or a value put there by hand, is waited for to be mended."""
        while True:
            try:
                read, _ = await asyncio.gather(read_overlay(self.database), prepare_commits(self.database))
            except CannotRun:
                raise
            except Exception as error:  # noqa: BLE001 (a value put there by hand may fail anywhere in reading it)
                away = isinstance(error, (Neo4jError, DriverError, OSError))
                what = "Neo4j does not answer" if away else "what Neo4j holds cannot be loaded"
                self._stage = f"{what}: {first_line(error)}"
                log.warning("the overlay waits to be loaded", reason=self._stage)
                await asyncio.sleep(SECONDS_BETWEEN_TRIES)
            else:
                return read

    async def _first_overlay(self) -> StoredOverlay:
        policy = Policy()
        demo = self.settings.demo
        if demo is None:
            await create_overlay(self.database, policy)
        else:
            self._stage = "building the first overlay"
            overlay = await asyncio.to_thread(lambda: build(policy.algorithm, load_demo(demo)))
            await import_overlay(self.database, overlay, policy, actor="demo", reason="demo")
        stored = await read_overlay(self.database)
        assert stored is not None, "an overlay was just created"
        return stored

    def _give_up(self, reason: str) -> None:
        log.error(self._stage, reason=reason)
        self.failed = True
        self._on_failure()


def _spare_collector() -> None:
    """Keep the garbage collector from the overlay: it is a million objects without a cycle, and would be walked again and
    again while requests wait. What is made later is looked through less often, too: a tenth of a join's time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def _warm_kernels() -> None:
    """Have the kernels compiled, or loaded from their cache, while Neo4j boots: the first start needs seconds for it."""
    policy = Policy()
    tiny: Overlay = build(
        policy.algorithm, Interests.from_mapping({"a": ["x", "y"], "b": ["x", "y"], "c": ["y"]})
    )
    tiny.topics_apart()
    live = LiveOverlay(tiny, policy.repairs())
    live.change(join("d", ["x", "y"]))
    live.change(leave("a"))
    live.undo()
    live.blast_radius("b")
    live.topic_overlay("y").topic_graph("y")
