"""The feed: the newest change records in memory, and a way to wait for the next."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import takewhile

from backend.record import ChangeRecord

RECORDS_KEPT = 10_000
ENTRIES_KEPT = 1_000_000
"""Links and subscriptions of the records kept: a merge or a large batch may have as many as thousands of joins."""


class Feed:
    """The tail of the history, one record a version, without a gap."""

    def __init__(self) -> None:
        self._records: deque[ChangeRecord] = deque()
        self._entries = 0
        self._news = asyncio.Event()
        self.closed = False

    @property
    def first(self) -> int | None:
        """The oldest version that is kept here."""
        return self._records[0].version if self._records else None

    def publish(self, records: Iterable[ChangeRecord]) -> None:
        """Committed records, the oldest first."""
        for record in records:
            self._records.append(record)
            self._entries += record.entries
        # The newest is kept however large it is: its followers wait for it now.
        while len(self._records) > RECORDS_KEPT or (self._entries > ENTRIES_KEPT and len(self._records) > 1):
            self._entries -= self._records.popleft().entries
        self._news.set()
        self._news = asyncio.Event()

    def restart(self) -> None:
        """Forget all: the overlay was loaded anew, and what came between is in the database only."""
        self._records.clear()
        self._entries = 0
        self._news.set()
        self._news = asyncio.Event()

    def after(self, version: int, limit: int = RECORDS_KEPT) -> list[ChangeRecord] | None:
        """The records that follow a version, at most so many; None where some of them are kept no more."""
        if not self._records or version >= self._records[-1].version:
            return []
        if version + 1 < self._records[0].version:
            return None
        # Counted from the end: that is where followers read, and where a deque is quick.
        begin = version - self._records[-1].version
        return [self._records[i] for i in range(begin, min(begin + limit, 0))]

    def since(self, moment: datetime) -> Iterator[ChangeRecord]:
        """The records made since then, as far as they are kept here, the newest first."""
        return takewhile(lambda record: record.at >= moment, reversed(self._records))

    def close(self) -> None:
        """No more will come: whoever waits is let go, so that the process can end."""
        self.closed = True
        self._news.set()

    async def wait(self, seconds: float) -> bool:
        """Until something is published; False when nothing was for so long."""
        try:
            await asyncio.wait_for(self._news.wait(), seconds)
        except TimeoutError:
            return False
        return True
