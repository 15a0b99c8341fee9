"""Turns: what takes long is done a few at a time, a few more wait, and whoever comes after those is told to come back.

Requests are answered by few threads: a handful of checks or backups at once would keep all others waiting.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from backend.errors import Busy


class Turns:
    """The turns of one kind of work."""

    def __init__(self, what: str, at_once: int, waiting: int) -> None:
        self._what = what
        self._turn = asyncio.Semaphore(at_once)
        self._most = at_once + waiting
        self._under_way = 0

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Wait for a turn and keep it until the block ends; :class:`Busy` where too many wait already."""
        if self._under_way >= self._most:
            raise Busy(f"{self._what}: {self._under_way} are under way or wait already")
        self._under_way += 1
        try:
            async with self._turn:
                yield
        finally:
            self._under_way -= 1
