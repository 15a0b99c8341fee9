"""Is the process alive, and does it serve the overlay? No key needed."""

from __future__ import annotations

from fastapi import APIRouter

from backend.api.dependencies import LiveMirror

router = APIRouter(tags=["health"])


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "alive"}


@router.get("/readyz")
async def readyz(mirror: LiveMirror) -> dict[str, str | int]:
    """The overlay is served; 503 with what is being waited for, until then."""
    return {"status": "serving", "version": mirror.version}
