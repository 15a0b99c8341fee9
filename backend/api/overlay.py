"""The overlay as a whole."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import UTC, datetime
from typing import Any

import numpy as np
from fastapi import APIRouter, Request
from neo4j.exceptions import DriverError, Neo4jError

from algorithms import Overlay
from backend.api.answers import overlay as answers
from backend.api.answers.shape import answered
from backend.api.dependencies import LiveHistory, LiveMirror, LiveWriter, TheHeavyWork
from backend.api.history import OldVersion
from backend.api.problems import problems
from backend.failures import SHOWN, reported_since
from backend.history import History
from backend.live import Writer
from backend.policy import Policy
from backend.times import stamp

router = APIRouter(tags=["overlay"])


@router.get("/overlay", responses=answered(answers.Overlay) | problems(404, 410))
async def read_overlay(
    request: Request,
    mirror: LiveMirror,
    writer: LiveWriter,
    history: LiveHistory,
    heavy: TheHeavyWork,
    version: OldVersion = None,
) -> dict[str, Any]:
    """Counts, degrees, policy, and how many topics are not connected; now, or at a version."""
    if version is None or version == mirror.version:
        at, figures = await mirror.derived("figures", _figures)
        if version is None or version == at:
            return {
                "version": at,
                **figures,
                "queue": writer.queue_length,
                "drift": request.app.state.drift.as_json(),
                "activation": request.app.state.rebuilds.activating,
                "alarms": _alarms(request.app.state.agents.alarm, writer),
                "failures": reported_since(mirror, datetime.now(UTC) - SHOWN),
                **(await _past(history, writer, at)),
            }
    # An older version, which the one asked for may have become meanwhile, is judged by the policy of today.
    async with heavy.past.one():
        overlay = await history.overlay_at(version)
        figures = await asyncio.to_thread(_figures, overlay, mirror.policy)
    past = _kept((await history.bounds()).oldest, await history.time_of(version))
    return {"version": version, **figures, "drift": None, **past}


async def _past(history: History, writer: Writer, version: int) -> dict[str, Any]:
    """The same of the live version; while Neo4j is away nobody can go back, and the rest of the answer goes on."""
    if writer.healthy:
        with contextlib.suppress(Neo4jError, DriverError, OSError):
            return _kept((await history.bounds()).oldest, await history.time_of(version))
    return _kept(version, None)


def _alarms(braked: dict[str, Any] | None, writer: Writer) -> list[dict[str, Any]]:
    """What an operator should look at."""
    alarms = [{**braked, "since": stamp(braked["since"])}] if braked else []
    if not writer.healthy:
        alarms.append({"kind": "neo4j-away", "since": None, "detail": "Neo4j does not answer; changes wait"})
    return alarms


def _kept(oldest: int, at: datetime | None) -> dict[str, Any]:
    """When the version was committed (null where nobody knows any more), and how far back one can go."""
    return {"at": stamp(at) if at else None, "oldest_version": oldest}


def _shortfalls(overlay: Overlay, k: int) -> dict[str, int]:
    """How many topics are apart, and how many are less connected than the policy says."""
    apart = len(overlay.topics_apart())
    return {"topics_apart": apart, "topics_below_k": apart if k == 1 else len(overlay.topics_below(k))}


def _figures(overlay: Overlay, policy: Policy) -> dict[str, Any]:
    """Counts and degrees, and what falls short of the policy."""
    degrees, counts = np.unique(overlay.degrees(), return_counts=True)
    return {
        "brokers": len(overlay.interests.brokers),
        "topics": len(overlay.interests.topics),
        "subscriptions": overlay.interests.subscriptions,
        "links": len(overlay.links),
        "average_degree": overlay.average_degree,
        "max_degree": overlay.max_degree,
        "policy": policy.properties(),
        "degree_histogram": list(zip(degrees.tolist(), counts.tolist(), strict=True)),
        **_shortfalls(overlay, policy.k),
    }
