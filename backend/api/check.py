"""Is what is served what Neo4j holds, and what was promised?"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from backend.api.access import Admin, Operator
from backend.api.dependencies import LiveMirror, LiveWriter, TheHeavyWork, TheManager
from backend.check import check
from backend.imports.request import Access

router = APIRouter(tags=["check"])


class Finding(BaseModel):
    """One kind of fault."""

    kind: str
    meaning: str
    count: int
    examples: list[str] = Field(description="the first twenty")


class CheckReport(BaseModel):
    """What a check came to."""

    good: bool
    version: int = Field(description="the overlay's version in Neo4j")
    compared_at: int = Field(description="the version that this process serves")
    k: int
    brokers: int
    subscriptions: int
    links: int
    in_motion: int = Field(description="brokers that changes touched meanwhile, and that were not compared")
    problems: int
    findings: list[Finding]
    seconds: float


class Reloaded(BaseModel):
    """The mirror was loaded anew."""

    version: int


@router.get("/check", response_model=CheckReport)
async def read_check(
    mirror: LiveMirror, manager: TheManager, heavy: TheHeavyWork, _: Operator
) -> dict[str, Any]:
    """Compare mirror, invariants and database, and name what was edited behind our back; repairs nothing."""
    async with heavy.checks.one():
        return await check(mirror, Access.of(manager.settings))


@router.post("/check/reload", response_model=Reloaded)
async def reload_mirror(writer: LiveWriter, _: Admin) -> dict[str, Any]:
    """Take what Neo4j holds for the truth: the mirror is loaded anew from it."""
    await writer.reload()
    return {"version": writer.mirror.version}
