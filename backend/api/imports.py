"""Imports and merges: files come in by multipart, streamed to disk; the work is a job to be asked about."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, Form, Request, Response, UploadFile

from algorithms import find_algorithm
from algorithms.files import KINDS
from backend.api.access import Admin
from backend.api.answers.imports import ImportJob
from backend.api.answers.shape import answered
from backend.api.paths import ImportId
from backend.api.problems import problems
from backend.errors import BadValue
from backend.imports import ImportRequest, Imports, Job

router = APIRouter(tags=["imports"])

LONGEST_NAME = 100
QUEUED = answered(ImportJob, 202, location="where to ask how far it is")


async def _imports(request: Request) -> Imports:
    imports: Imports = request.app.state.imports
    return imports


TheImports = Annotated[Imports, Depends(_imports)]

Interests = Annotated[
    UploadFile,
    File(
        description="`broker,topic` as .csv, .csv.gz or .parquet",
        examples=["broker,topic\nbroker-7,/tf\nbroker-9,/tf\n"],
    ),
]
Links = Annotated[
    UploadFile,
    File(
        description="`broker_a,broker_b` as .csv, .csv.gz or .parquet",
        examples=["broker_a,broker_b\nbroker-7,broker-9\n"],
    ),
]


async def keep_upload(folder: Path, field: str, upload: UploadFile, kinds: tuple[str, ...]) -> str:
    """Put an uploaded file into a folder, and tell the name it has there."""
    sent = Path((upload.filename or "").replace("\\", "/")).name
    if not sent.endswith(kinds) or len(sent) > LONGEST_NAME or not sent.isprintable():
        raise BadValue(
            f"{field}: the file's name must end in {', '.join(kinds[:-1]) + ' or ' if kinds[1:] else ''}{kinds[-1]}"
            f" (got {upload.filename!r})",
            field=field,
        )
    place = folder / field
    await asyncio.to_thread(place.mkdir)

    def copy() -> None:
        with (place / sent).open("wb") as out:
            shutil.copyfileobj(upload.file, out, 1 << 20)

    await asyncio.to_thread(copy)
    return f"{field}/{sent}"


async def queue(
    imports: Imports, actor: str, response: Response, uploads: dict[str, UploadFile | None], **asked: Any
) -> dict[str, Any]:
    """Keep the files and queue the job; nothing stays on disk when a file is refused."""
    folder = await asyncio.to_thread(imports.new_folder)
    kinds = (".zip",) if "backup" in uploads else KINDS
    try:
        files = {
            field: await keep_upload(folder, field, upload, kinds)
            for field, upload in uploads.items()
            if upload is not None
        }
        job: Job = imports.start(ImportRequest(folder=folder, files=files, **asked), actor)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    response.headers["Location"] = f"/v1/imports/{job.id}"
    return job.as_json()


@router.post("/imports", status_code=202, responses=QUEUED | problems(409))
async def start_import(
    imports: TheImports,
    caller: Admin,
    response: Response,
    interests: Interests,
    links: Annotated[
        UploadFile | None, File(description="links that exist already, to be adopted into an empty overlay")
    ] = None,
    build: Annotated[
        str | None,
        Form(description="the algorithm of the links, and of the build that links are scored against"),
    ] = None,
    adopt: Annotated[
        bool,
        Form(description="false: only say what the links are worth and what they lack; nothing is stored"),
    ] = True,
) -> dict[str, Any]:
    """Interests in bulk. Into an empty overlay all at once, with links built or adopted; into a living one as batches
    of joins and sets of topics."""
    if build is not None:
        find_algorithm(build)
    if not adopt and links is None:
        raise BadValue("links: adopt=false asks what links are worth; send them too", field="links")
    uploads = {"interests": interests, "links": links}
    return await queue(imports, caller.name, response, uploads, kind="import", build=build, adopt=adopt)


@router.get("/imports/{id:id}", responses=answered(ImportJob))
async def read_import(id: ImportId, imports: TheImports, _: Admin) -> dict[str, Any]:  # noqa: A002 (the word of the API)
    """How far an import, a merge or a restore is, and what it came to."""
    return (await imports.find(id)).as_json()


@router.post("/merges", status_code=202, responses=QUEUED)
async def start_merge(
    imports: TheImports,
    caller: Admin,
    response: Response,
    interests: Interests,
    links: Links,
) -> dict[str, Any]:
    """A second federation, with its links, joined to this one by Star Merge; no link of either is closed."""
    return await queue(imports, caller.name, response, {"interests": interests, "links": links}, kind="merge")
