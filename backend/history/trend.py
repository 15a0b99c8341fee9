"""The trend: figures along the versions, cheap however long the history is.

A point stands for ``stride`` versions, a power of two, at fixed places; so once all versions of a point are committed
it never changes. What is known is kept, and the database is asked for the rest only.
"""

from __future__ import annotations

import asyncio
from typing import Any

from backend.record import Figures
from backend.store import Database
from backend.store.history import Bounds, TrendPoint, read_trend
from backend.times import stamp

STRIDES_KEPT = 4


class Trend:
    """Points of the trend, as far as they are known."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._whole: dict[int, list[TrendPoint]] = {}
        """By stride: the points whose versions are all committed."""
        self._turn = asyncio.Lock()

    def restart(self) -> None:
        """Forget all: the overlay was loaded anew."""
        self._whole.clear()

    async def points(self, bounds: Bounds, most: int) -> list[TrendPoint]:
        """At most so many points over all that is kept; the last one is the present."""
        stride = 1
        while -(-bounds.version // stride) - bounds.forgotten // stride > most:
            stride *= 2
        async with self._turn:
            known = self._whole.pop(stride, [])
            known = [point for point in known if bounds.forgotten < point.version <= bounds.version]
            begin = known[-1].version if known else bounds.forgotten
            found = []
            if begin < bounds.version:
                found = await read_trend(self._database, begin, bounds.version, stride)
            self._whole[stride] = known + [point for point in found if point.version % stride == 0]
            while len(self._whole) > STRIDES_KEPT:
                del self._whole[next(iter(self._whole))]
        return known + found


def point_as_json(point: TrendPoint) -> dict[str, Any]:
    """A point as the API tells it."""
    figures = None
    if point.brokers is not None and point.links is not None and point.max_degree is not None:
        figures = Figures(point.brokers, point.links, point.max_degree)
    return {
        "version": point.version,
        "at": stamp(point.at),
        "brokers": point.brokers,
        "links": point.links,
        "average_degree": figures.average_degree if figures else None,
        "max_degree": point.max_degree,
        "opened": point.opened,
        "closed": point.closed,
    }
