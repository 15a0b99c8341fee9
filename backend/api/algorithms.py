"""The registry of algorithms, for forms and scripts."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from algorithms import algorithms

router = APIRouter(tags=["algorithms"])


@router.get("/algorithms")
async def list_algorithms() -> list[dict[str, Any]]:
    """Every algorithm: name, parameters, guarantee, paper."""
    return [algorithm.describe() for algorithm in algorithms()]
