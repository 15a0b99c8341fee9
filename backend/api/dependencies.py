"""What routes ask for, as named aliases."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from backend.manager import Manager
from backend.mirror import Mirror


def _manager(request: Request) -> Manager:
    manager: Manager = request.app.state.manager
    return manager


def _mirror(manager: Annotated[Manager, Depends(_manager)]) -> Mirror:
    return manager.mirror


LiveMirror = Annotated[Mirror, Depends(_mirror)]
"""The mirror of the moment; 503 while there is none."""
