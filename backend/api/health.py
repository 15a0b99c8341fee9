"""Is the process alive, does it serve the overlay, and what do its figures say? No key needed."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request, Response
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from backend.api.answers.shape import Shape, example
from backend.api.dependencies import LiveMirror
from backend.api.problems import problems
from backend.metrics import Metrics

router = APIRouter(tags=["health"])


class Alive(Shape):
    """The process answers."""

    model_config = example(status="alive")
    status: Literal["alive"] = "alive"
    """Always this word."""


class Serving(Shape):
    """The overlay is served, at that version."""

    model_config = example(status="serving", version=4711)
    status: Literal["serving"] = "serving"
    """Always this word."""
    version: int
    """The version that this process serves."""


@router.get("/healthz")
async def healthz() -> Alive:
    """The process answers."""
    return Alive()


@router.get("/readyz", responses=problems(503))
async def readyz(mirror: LiveMirror) -> Serving:
    """The overlay is served; 503 with what is being waited for, until then."""
    return Serving(version=mirror.version)


class Scrape(Response):
    """Prometheus' text format."""

    media_type = CONTENT_TYPE_PLAIN_0_0_4


@router.get("/metrics", response_class=Scrape)
async def metrics(request: Request) -> Scrape:
    """Figures for Prometheus: changes, commits, the queue, the overlay, requests; nothing per broker or topic."""
    figures: Metrics = request.app.state.metrics
    return Scrape(figures.text())
