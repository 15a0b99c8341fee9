"""What routes ask for, as named aliases."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from backend.history import History
from backend.live import Mirror, Writer
from backend.manager import Manager
from backend.turns import Turns


async def _manager(request: Request) -> Manager:
    manager: Manager = request.app.state.manager
    return manager


TheManager = Annotated[Manager, Depends(_manager)]
"""The manager, whether it has loaded the overlay or not."""


async def _writer(manager: TheManager) -> Writer:
    return manager.writer


async def _mirror(manager: TheManager) -> Mirror:
    return manager.mirror


@dataclass
class HeavyWork:
    """Turns of what takes seconds on a large overlay, each kind with its own; so the quick reads keep a thread."""

    checks: Turns = field(default_factory=lambda: Turns("check", 1, 3))
    backups: Turns = field(default_factory=lambda: Turns("backup", 1, 3))
    what_ifs: Turns = field(default_factory=lambda: Turns("what-if", 2, 16))
    past: Turns = field(default_factory=lambda: Turns("version", 2, 16))


async def _heavy(request: Request) -> HeavyWork:
    heavy: HeavyWork = request.app.state.heavy
    return heavy


TheHeavyWork = Annotated[HeavyWork, Depends(_heavy)]
"""Whose turn it is."""


async def _history(manager: TheManager, _: Annotated[Mirror, Depends(_mirror)]) -> History:
    return manager.history


LiveWriter = Annotated[Writer, Depends(_writer)]
"""Who changes the overlay; 503 while it is not loaded."""
LiveMirror = Annotated[Mirror, Depends(_mirror)]
"""The mirror of the moment; 503 while there is none."""
LiveHistory = Annotated[History, Depends(_history)]
"""The past of the overlay; 503 while there is none."""
