"""Backup and restore: one file out while changes go on, one file into an empty overlay."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, File, Request, Response, UploadFile
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from backend.api.access import Admin
from backend.api.dependencies import LiveMirror, TheHeavyWork, TheManager
from backend.api.imports import QUEUED, TheImports, queue
from backend.api.problems import problems
from backend.backup import take_backup
from backend.imports.request import Access

router = APIRouter(tags=["backups"])


@router.get(
    "/backup",
    response_class=FileResponse,
    responses={200: {"content": {"application/zip": {}}, "description": "the backup"}},
)
async def download_backup(
    request: Request,
    mirror: LiveMirror,
    manager: TheManager,
    imports: TheImports,
    heavy: TheHeavyWork,
    _: Admin,
) -> FileResponse:
    """The overlay at this very version, its history and its keys' hashes, in one file; changes go on meanwhile."""
    # Each call makes another file: parts of two would fit nowhere.
    request.scope["headers"] = [
        header for header in request.scope["headers"] if header[0] not in (b"range", b"if-range")
    ]
    async with heavy.backups.one():
        folder = await asyncio.to_thread(imports.new_folder)
        target = folder / "backup.zip"
        try:
            manifest = await take_backup(mirror, Access.of(manager.settings), target)
        except BaseException:
            _remove(folder)
            raise
    return FileResponse(
        target,
        media_type="application/zip",
        filename=f"topicweave-{manifest['version']}.zip",
        headers={"X-Overlay-Version": str(manifest["version"]), "Accept-Ranges": "none"},
        background=BackgroundTask(_remove, folder),
    )


@router.post("/restores", status_code=202, responses=QUEUED | problems(409))
async def start_restore(
    imports: TheImports,
    caller: Admin,
    response: Response,
    backup: Annotated[UploadFile, File(description="a file that GET /v1/backup gave")],
) -> dict[str, Any]:
    """Restore a backup into an empty overlay; ask /v1/imports/{id} how far it is."""
    return await queue(imports, caller.name, response, {"backup": backup}, kind="restore")


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
