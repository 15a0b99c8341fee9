"""The overlay as a whole."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import datetime
from typing import Any

import numpy as np
from fastapi import APIRouter, Request
from neo4j.exceptions import DriverError, Neo4jError

from algorithms import Overlay
from backend.api.dependencies import LiveHistory, LiveMirror, LiveWriter, TheHeavyWork
from backend.api.history import OldVersion
from backend.api.problems import problems
from backend.history import History
from backend.live import Writer
from backend.policy import Policy
from backend.times import stamp

router = APIRouter(tags=["overlay"])


@router.get("/overlay", responses=problems(404, 410))
async def read_overlay(
    request: Request,
    mirror: LiveMirror,
    writer: LiveWriter,
    history: LiveHistory,
    heavy: TheHeavyWork,
    version: OldVersion = None,
) -> dict[str, Any]:
    """Counts, degrees, policy, and how many topics are not connected; now, or at a version."""
    if version is not None and version != mirror.version:
        async with heavy.past.one():
            overlay = await history.overlay_at(version)
            figures = await asyncio.to_thread(_figures_at, overlay, version, mirror.policy)
        return {**figures, **_kept((await history.bounds()).oldest, await history.time_of(version))}
    answer = {
        **mirror.figures(),
        "policy": mirror.policy.properties(),
        "degree_histogram": mirror.degree_histogram(),
        "queue": writer.queue_length,
        "drift": request.app.state.drift.as_json(),
        "activation": request.app.state.rebuilds.activating,
        "alarms": _alarms(request.app.state.agents.alarm, writer),
    }
    k = mirror.policy.k
    answer |= await mirror.derived(f"topics below {k}", lambda overlay: _shortfalls(overlay, k))
    return {**answer, **(await _past(history, writer, answer["version"]))}


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


def _figures_at(overlay: Overlay, version: int, policy: Policy) -> dict[str, Any]:
    """An older version, judged by the policy of today."""
    degrees, counts = np.unique(overlay.degrees(), return_counts=True)
    return {
        "version": version,
        "brokers": len(overlay.interests.brokers),
        "topics": len(overlay.interests.topics),
        "subscriptions": overlay.interests.subscriptions,
        "links": len(overlay.links),
        "average_degree": overlay.average_degree,
        "max_degree": overlay.max_degree,
        "policy": policy.properties(),
        "degree_histogram": list(zip(degrees.tolist(), counts.tolist(), strict=True)),
        **_shortfalls(overlay, policy.k),
        "drift": None,
    }
