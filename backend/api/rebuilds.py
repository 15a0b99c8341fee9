"""Rebuilds: asked for, planned, compared, activated, rolled back, dropped."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from backend.api.access import Operator
from backend.api.answers.rebuilds import Rebuild, RebuildList
from backend.api.answers.shape import answered
from backend.api.paths import RebuildId
from backend.rebuilds.jobs import Rebuilds

router = APIRouter(prefix="/rebuilds", tags=["rebuilds"])


class RebuildRequest(BaseModel):
    """Which algorithm, with which parameters, computed where."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"algorithm": "weave", "params": {"keep": 0.5}, "engine": "local"}]},
    )
    algorithm: str = Field(description="a name of `GET /v1/algorithms`")
    params: dict[str, Any] = Field(
        default_factory=dict, description="its parameters; what is left out has its default"
    )
    engine: Literal["local", "spark"] = "local"
    seed: int = Field(0, ge=0, le=2**31 - 1)


async def _rebuilds(request: Request) -> Rebuilds:
    found: Rebuilds = request.app.state.rebuilds
    return found


AllRebuilds = Annotated[Rebuilds, Depends(_rebuilds)]


@router.post("", status_code=202, responses=answered(Rebuild, 202, location="where to ask how far it is"))
async def request_rebuild(
    caller: Operator, rebuilds: AllRebuilds, wanted: RebuildRequest, response: Response
) -> dict[str, Any]:
    """Queue a rebuild; its plan changes nothing until it is activated."""
    rebuild = await rebuilds.request(wanted.algorithm, wanted.params, wanted.engine, wanted.seed, caller.name)
    response.headers["Location"] = f"/v1/rebuilds/{rebuild.id}"
    return rebuild.as_json()


@router.get("", responses=answered(RebuildList))
async def list_rebuilds(rebuilds: AllRebuilds) -> dict[str, Any]:
    """All rebuilds, the newest first."""
    return {"items": [rebuild.as_json(whole=False) for rebuild in await rebuilds.list()]}


@router.get("/{rebuild:id}", responses=answered(Rebuild))
async def read_rebuild(rebuilds: AllRebuilds, rebuild: RebuildId) -> dict[str, Any]:
    """One rebuild: its state, its plan, how far its activation is."""
    return (await rebuilds.find(rebuild)).as_json()


@router.post("/{rebuild:id}/activate", status_code=202, responses=answered(Rebuild, 202))
async def activate_rebuild(caller: Operator, rebuilds: AllRebuilds, rebuild: RebuildId) -> dict[str, Any]:
    """Go over to its links, make-before-break; 409 while another one is being activated."""
    return (await rebuilds.activate(rebuild, caller.name)).as_json()


@router.post("/{rebuild:id}/rollback", status_code=202, responses=answered(Rebuild, 202))
async def roll_rebuild_back(caller: Operator, rebuilds: AllRebuilds, rebuild: RebuildId) -> dict[str, Any]:
    """Go back to the links of before its activation."""
    return (await rebuilds.roll_back(rebuild, caller.name)).as_json()


@router.post("/{rebuild:id}/pause", responses=answered(Rebuild))
async def pause_rebuild(_: Operator, rebuilds: AllRebuilds, rebuild: RebuildId) -> dict[str, Any]:
    """Hold its activation between two batches."""
    return (await rebuilds.pause(rebuild, paused=True)).as_json()


@router.post("/{rebuild:id}/resume", responses=answered(Rebuild))
async def resume_rebuild(_: Operator, rebuilds: AllRebuilds, rebuild: RebuildId) -> dict[str, Any]:
    """Let its activation go on."""
    return (await rebuilds.pause(rebuild, paused=False)).as_json()


@router.post("/{rebuild:id}/cancel", responses=answered(Rebuild))
async def cancel_rebuild(caller: Operator, rebuilds: AllRebuilds, rebuild: RebuildId) -> dict[str, Any]:
    """Stop computing it; one that is being activated goes back; 409 where it goes back already."""
    return (await rebuilds.cancel(rebuild, caller.name)).as_json()


@router.delete("/{rebuild:id}", responses=answered(Rebuild))
async def drop_rebuild(caller: Operator, rebuilds: AllRebuilds, rebuild: RebuildId) -> dict[str, Any]:
    """A plan that is not wanted; its candidates go."""
    return (await rebuilds.drop(rebuild, caller.name)).as_json()
