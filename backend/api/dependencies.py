"""What routes ask for, as named aliases."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from backend.history import History
from backend.live import Mirror, Writer
from backend.manager import Manager


async def _manager(request: Request) -> Manager:
    manager: Manager = request.app.state.manager
    return manager


TheManager = Annotated[Manager, Depends(_manager)]
"""The manager, whether it has loaded the overlay or not."""


async def _writer(manager: TheManager) -> Writer:
    return manager.writer


async def _mirror(manager: TheManager) -> Mirror:
    return manager.mirror


async def _history(manager: TheManager, _: Annotated[Mirror, Depends(_mirror)]) -> History:
    return manager.history


LiveWriter = Annotated[Writer, Depends(_writer)]
"""Who changes the overlay; 503 while it is not loaded."""
LiveMirror = Annotated[Mirror, Depends(_mirror)]
"""The mirror of the moment; 503 while there is none."""
LiveHistory = Annotated[History, Depends(_history)]
"""The past of the overlay; 503 while there is none."""
