"""The overlay as a whole."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter

from backend.api.dependencies import LiveMirror
from backend.mirror import Mirror

router = APIRouter(tags=["overlay"])


@router.get("/overlay")
async def read_overlay(mirror: LiveMirror) -> dict[str, Any]:
    """Counts, degrees, policy, and how many topics are not connected."""
    return await asyncio.to_thread(_figures, mirror)


def _figures(mirror: Mirror) -> dict[str, Any]:
    overlay, interests = mirror.overlay, mirror.overlay.interests
    return {
        "version": mirror.version,
        "brokers": len(interests.brokers),
        "topics": len(interests.topics),
        "subscriptions": interests.subscriptions,
        "links": len(overlay.links),
        "average_degree": overlay.average_degree,
        "max_degree": overlay.max_degree,
        "policy": mirror.policy.properties(),
        "topics_apart": len(mirror.topics_apart),
        "degree_histogram": mirror.degree_histogram,
    }
