"""The registry of algorithms, for forms and scripts."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from algorithms import Algorithm, algorithms
from algorithms.bulk import BULK
from backend.api.answers.algorithms import AlgorithmList
from backend.api.answers.shape import answered

router = APIRouter(tags=["algorithms"])


@router.get("/algorithms", responses=answered(AlgorithmList))
async def list_algorithms() -> list[dict[str, Any]]:
    """Every algorithm: name, parameters, guarantee, paper; and the engines that run it, each with its parameters."""
    return [_described(algorithm) for algorithm in algorithms()]


def _described(algorithm: Algorithm) -> dict[str, Any]:
    engines = {"local": algorithm.parameters}
    if algorithm.name in BULK:
        engines["spark"] = BULK[algorithm.name]
    return {
        **algorithm.describe(),
        "engines": {
            engine: [parameter.describe() for parameter in parameters]
            for engine, parameters in engines.items()
        },
    }
