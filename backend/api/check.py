"""Is what is served what Neo4j holds, and what was promised?"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from backend.api.access import Admin, Operator
from backend.api.answers.shape import Shape, example
from backend.api.dependencies import LiveMirror, LiveWriter, TheHeavyWork, TheManager
from backend.check import check
from backend.imports.request import Access

router = APIRouter(tags=["check"])


class Finding(Shape):
    """One kind of fault."""

    kind: str
    """What it is, in a word that stays."""
    meaning: str
    """What it is, for people."""
    count: int
    """How often it was found."""
    examples: list[str]
    """The first twenty."""


class CheckReport(Shape):
    """What a check came to."""

    model_config = example(
        good=False,
        version=4711,
        compared_at=4711,
        k=1,
        brokers=52,
        subscriptions=1160,
        links=217,
        in_motion=0,
        problems=1,
        findings=[
            {
                "kind": "link-missing",
                "meaning": "in the overlay, but not in Neo4j",
                "count": 1,
                "examples": ["broker-7 - broker-9"],
            }
        ],
        seconds=0.412,
    )
    good: bool
    """Whether nothing is wrong."""
    version: int
    """The overlay's version in Neo4j."""
    compared_at: int
    """The version that this process serves."""
    k: int
    """The policy's k, which every topic was judged by."""
    brokers: int
    """How many brokers Neo4j holds."""
    subscriptions: int
    """How many subscriptions Neo4j holds."""
    links: int
    """How many links Neo4j holds."""
    in_motion: int
    """Brokers that changes touched meanwhile, and that were not compared."""
    problems: int
    """How many faults were found."""
    findings: list[Finding]
    """The faults, by kind."""
    seconds: float
    """How long it took."""


class Reloaded(Shape):
    """The mirror was loaded anew."""

    model_config = example(version=4711)
    version: int
    """The version that this process serves now."""


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
