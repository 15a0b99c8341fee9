"""The manager: brings the overlay from Neo4j into the mirror, and hands the mirror to whoever reads."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from algorithms import Interests, Overlay, build
from backend.demos import load_demo
from backend.errors import NotReady, Problem
from backend.mirror import Mirror
from backend.settings import Settings
from backend.store import Database, Policy, StoredOverlay
from backend.store.overlay import import_overlay, read_overlay

log = logging.getLogger(__name__)

SECONDS_FOR_NEO4J = 120
"""A server started beside us on a slow machine may take that long to answer for the first time."""


class Manager:
    """The live overlay of one installation."""

    def __init__(self, settings: Settings, on_failure: Callable[[], None]) -> None:
        self._settings = settings
        self._on_failure = on_failure
        self._mirror: Mirror | None = None
        self._stage = "waiting for Neo4j"
        self._task: asyncio.Task[None] | None = None
        self.failed = False
        self.database = Database(settings.bolt_uri, settings.neo4j_user, settings.find_neo4j_password())

    @property
    def mirror(self) -> Mirror:
        """The mirror of the moment, or :class:`NotReady` with what is being waited for."""
        if self._mirror is None:
            raise NotReady(f"the overlay is not loaded yet: {self._stage}")
        return self._mirror

    def start(self) -> None:
        """Begin to load the overlay, without waiting for it."""
        self._task = asyncio.create_task(self._load())

    async def stop(self) -> None:
        """Stop loading and close the connection."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
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
            stored = await read_overlay(self.database)
            if stored is None:
                self._stage = "building the first overlay"
                stored = await self._first_overlay()
            self._mirror = Mirror(stored)
        except Problem as problem:
            self._give_up(problem.detail)
        except Exception as error:  # whatever it is, the process must not stay up without an overlay
            log.exception("loading the overlay failed")
            self._give_up(f"{type(error).__name__}: {error}")

    async def _first_overlay(self) -> StoredOverlay:
        policy = Policy()
        demo = self._settings.demo
        if demo is None:
            return StoredOverlay(0, policy, Overlay.from_names(Interests.from_mapping({}), []))
        overlay = await asyncio.to_thread(lambda: build(policy.algorithm, load_demo(demo)))
        return await import_overlay(self.database, overlay, policy, actor="demo")

    def _give_up(self, reason: str) -> None:
        log.error("%s: %s", self._stage, reason)
        self.failed = True
        self._on_failure()


def _warm_kernels() -> None:
    """Have the kernels compiled, or loaded from their cache, while Neo4j boots: the first start needs seconds for it."""
    tiny = build(Policy().algorithm, Interests.from_mapping({"a": ["x", "y"], "b": ["x", "y"], "c": ["y"]}))
    Mirror(StoredOverlay(0, Policy(), tiny)).topic("y")
    tiny.topics_apart()
