"""What an engine asks of Neo4j after a job that took long."""

from __future__ import annotations

import asyncio

import pytest
from neo4j.exceptions import ServiceUnavailable

from backend.rebuilds import engines


def test_a_neo4j_that_is_away_is_waited_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "_SECONDS_BETWEEN_LOOKS", 0.0)
    away = 3

    async def ask() -> str:
        nonlocal away
        away -= 1
        if away >= 0:
            raise ServiceUnavailable("nobody there")
        return "there"

    assert asyncio.run(engines._answered(ask)) == "there"
    monkeypatch.setattr(engines, "_SECONDS_AWAY", -1.0)
    away = 1
    with pytest.raises(ServiceUnavailable):
        asyncio.run(engines._answered(ask))
