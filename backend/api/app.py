"""One place puts the app together: middleware, error answers, routes, and the manager's life."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import Depends, FastAPI

from backend.api import algorithms, health, overlay, topics
from backend.api.access import KeyCheck
from backend.api.paths import RawPaths
from backend.api.problems import answer_problems
from backend.manager import Manager
from backend.settings import Settings


def create_app(settings: Settings, on_failure: Callable[[], None] = lambda: None) -> FastAPI:
    """The app of one installation; ``on_failure`` is called when the overlay cannot be served at all."""
    manager = Manager(settings, on_failure)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        manager.start()
        yield
        await manager.stop()

    app = FastAPI(
        title="TopicWeave",
        version=version("topicweave"),
        summary="One low fan-out, topic-connected overlay for a federation of publish/subscribe brokers",
        lifespan=lifespan,
        openapi_url="/v1/openapi.json",
        docs_url=None,  # both viewers load their scripts from elsewhere; operators may be offline
        redoc_url=None,
    )
    app.state.manager = manager
    app.add_middleware(RawPaths)
    answer_problems(app)
    app.include_router(health.router)
    keyed = [Depends(KeyCheck(settings.find_api_key()))]
    for router in (overlay.router, topics.router, algorithms.router):
        app.include_router(router, prefix="/v1", dependencies=keyed)
    return app
