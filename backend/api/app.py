"""One place puts the app together: middleware, error answers, routes, and the manager's life."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import Depends, FastAPI

from backend.agents import Agents
from backend.api import (
    agents,
    algorithms,
    backups,
    brokers,
    changes,
    check,
    events,
    health,
    history,
    imports,
    keys,
    overlay,
    policy,
    queries,
    rebuilds,
    simulations,
    topics,
    what_if,
)
from backend.api.access import UploadAccess, read_access
from backend.api.dependencies import HeavyWork
from backend.api.limits import UPLOADS, BodyLimit, Limits, check_path_ids
from backend.api.openapi import complete_openapi, describe
from backend.api.paths import RawPaths
from backend.api.problems import answer_problems
from backend.api.requests import Requests
from backend.drift import DriftWatch
from backend.errors import NotReady
from backend.imports import Imports
from backend.keyring import Keyring
from backend.manager import Manager
from backend.metrics import Metrics, OverlayFigures
from backend.rebuilds.jobs import Rebuilds
from backend.settings import Settings
from backend.simulations import Simulations

VERSION_1 = (
    overlay,
    brokers,
    changes,
    agents,
    policy,
    history,
    events,
    topics,
    queries,
    algorithms,
    keys,
    imports,
    backups,
    check,
    what_if,
    rebuilds,
    simulations,
)
"""The modules whose ``router`` is served under /v1; none of its routes can be called without a key."""


def create_app(settings: Settings, on_failure: Callable[[], None] = lambda: None) -> FastAPI:
    """The app of one installation; ``on_failure`` is called when the overlay cannot be served at all."""
    metrics = Metrics()
    manager = Manager(settings, metrics, on_failure)
    keyring = Keyring(settings.find_api_key(), manager.database)
    bulk = Imports(manager)
    plans, trials = Rebuilds(manager), Simulations(manager)
    told, drifting = Agents(manager), DriftWatch(manager)
    limits = Limits.of(settings)
    metrics.watch(lambda: _figures(manager, drifting))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await asyncio.to_thread(bulk.sweep)
        manager.start()
        keyring.start()
        plans.start()
        told.start()
        drifting.start()
        yield
        await drifting.stop()
        await told.stop()
        await trials.stop()
        await plans.stop()
        await bulk.stop()
        await keyring.stop()
        await manager.stop()

    app = FastAPI(
        title="TopicWeave",
        version=version("topicweave"),
        summary="One low fan-out, topic-connected overlay for a federation of publish/subscribe brokers",
        description=describe(limits),
        lifespan=lifespan,
        openapi_url="/v1/openapi.json",
        generate_unique_id_function=lambda route: route.name,  # short, and the same from release to release
        docs_url=None,  # both viewers load their scripts from elsewhere; operators may be offline
        redoc_url=None,
    )
    app.state.manager = manager
    app.state.keyring = keyring
    app.state.imports = bulk
    app.state.rebuilds = plans
    app.state.simulations = trials
    app.state.agents = told
    app.state.drift = drifting
    app.state.limits = limits
    app.state.heavy = HeavyWork()
    app.state.metrics = metrics
    answer_problems(app)
    app.include_router(health.router)
    for module in VERSION_1:
        app.include_router(module.router, prefix="/v1", dependencies=[read_access, Depends(check_path_ids)])
    complete_openapi(app, limits)
    # The last one added is the outermost.
    app.add_middleware(BodyLimit, limits=limits)
    app.add_middleware(UploadAccess, keyring=keyring, paths=UPLOADS)
    app.add_middleware(RawPaths)
    app.add_middleware(Requests, metrics=metrics, document=app.openapi)
    return app


def _figures(manager: Manager, drifting: DriftWatch) -> OverlayFigures | None:
    try:
        mirror = manager.mirror
    except NotReady:
        return None
    drift = drifting.newest.drift.share if drifting.newest else None
    return OverlayFigures(**mirror.figures(), drift=drift)
