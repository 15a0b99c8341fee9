"""An API process that tells what its activations do, and stays in the midst of one phase of them until it is killed."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from typing import Any

from backend.api.__main__ import main
from backend.rebuilds import activation, jobs
from backend.rebuilds.activation import Activator
from backend.store import rebuilds as store

NOTE = "noted: "
PHASES = ("preparing", "opening", "settling", "closing", "opening again", "closing again")
"""Preparing: half of the links of before are kept. Again: on the way back."""
Tell = Callable[..., None]
Replace = Callable[[Any, str, Any], None]


def note_ends(replace: Replace, tell: Tell) -> None:
    """Tell for which version a target is made, and at which one the live links are those of the target."""
    prepare, finish = Activator._prepare, Activator._finish

    async def prepared(self: Activator) -> None:
        await prepare(self)
        assert self._target is not None
        tell(prepared=self._target.version)

    async def finished(self: Activator, version: int) -> bool:
        tell(ended=version)  # first: others may see its state before we go on
        return await finish(self, version)

    replace(Activator, "_prepare", prepared)
    replace(Activator, "_finish", finished)


def hold(phase: str, tell: Tell) -> None:
    """Stay in the midst of a phase: of opening and closing after a batch, of preparing after half of the links."""
    step, write = Activator._step, store.write_candidates

    async def stay() -> None:
        tell(held=phase)
        await asyncio.Event().wait()

    async def stepped(self: Activator) -> bool:
        now = self._activation
        done = {"opening": now.opened, "settling": 1, "closing": now.closed}.get(now.phase)
        if done and phase == now.phase + " again" * now.rollback:
            await stay()
        return await step(self)

    async def written(
        database: Any, rebuild: str, links: list[tuple[str, str]], *more: Any, under: str | None = None
    ) -> None:
        if under is not None:
            tell(kept=sorted(links))
            if phase == "preparing":
                await write(database, rebuild, sorted(links)[: len(links) // 2], *more, under=under)
                await stay()
        await write(database, rebuild, links, *more, under=under)

    activation.LINKS_A_BATCH = 4
    activation.SECONDS_BETWEEN_LOOKS = 0.05
    jobs.SECONDS_BETWEEN_ROUNDS = 0.2
    Activator._step = stepped  # type: ignore[method-assign]
    store.write_candidates = written  # type: ignore[assignment]


def run(phase: str) -> None:
    """Serve until a signal comes; where there is no such phase, nothing is held."""

    def tell(**what: Any) -> None:
        sys.stdout.write(f"\n{NOTE}{json.dumps(what)}\n")
        sys.stdout.flush()

    note_ends(setattr, tell)
    hold(phase, tell)
    sys.exit(main())
