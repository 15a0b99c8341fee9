"""Every Cypher text the product runs, one statement a file, loaded by name.

``statement("overlay/read_links")`` is the text of ``cypher/overlay/read_links.cypher``. Files start with a comment
that says what the statement is for and what its parameters are.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def statement(name: str) -> str:
    """The statement of that name; the text is part of the product, never made from a user's input."""
    return (files(__package__) / f"{name}.cypher").read_text(encoding="utf-8")


@cache
def schema() -> tuple[str, ...]:
    """The statements of ``cypher/schema/`` in the order of their numbers."""
    names = sorted(
        entry.name for entry in (files(__package__) / "schema").iterdir() if entry.name.endswith(".cypher")
    )
    return tuple(statement(f"schema/{name.removesuffix('.cypher')}") for name in names)
