"""Answers of a group whose commit is durable, told to its callers a few at a time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable

from backend.live.proposal import Answer, Proposal

SECONDS_BEFORE_ANSWERS = 0.05
"""The callers of a group may wait so long for the next one to be on its way."""
ANSWERS_AT_ONCE = 4
"""Callers who are answered together come back together: a few at a time, the loop hears Neo4j in between."""


class Answers:
    """Answers that are known and not told yet.

    Where others wait, they are left until those are planned and sent: answering takes this process as long as writing
    takes Neo4j, and so both have something to do.
    """

    def __init__(self) -> None:
        self._known: deque[tuple[Proposal, Answer]] = deque()

    def __len__(self) -> int:
        return len(self._known)

    def add(self, answers: Iterable[tuple[Proposal, Answer]]) -> None:
        """Answers to be told soon, or in a moment by themselves."""
        self._known.extend(answers)
        asyncio.get_running_loop().call_later(SECONDS_BEFORE_ANSWERS, self.tell_all)

    def tell_soon(self) -> None:
        """Tell them all, between other work of the loop."""
        asyncio.get_running_loop().call_soon(self._tell_some)

    def _tell_some(self) -> None:
        self._tell(ANSWERS_AT_ONCE)
        if self._known:
            self.tell_soon()

    def tell_all(self) -> None:
        """Tell them all at once."""
        self._tell(len(self._known))

    def _tell(self, most: int) -> None:
        for _ in range(min(most, len(self._known))):
            proposal, answer = self._known.popleft()
            proposal.answer(answer)
