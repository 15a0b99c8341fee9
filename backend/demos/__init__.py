"""Interests that ship with the product, for a first look; sources and terms are in README.md beside them."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from backend.errors import BadValue

if TYPE_CHECKING:
    from algorithms import Interests

DEMOS = ("autoware",)


def check_demo(name: str) -> str:
    """The name itself, if there is such a demo."""
    if name not in DEMOS:
        raise BadValue(f"demo: no such demo, there is {', '.join(DEMOS)} (got {name!r})", field="demo")
    return name


def load_demo(name: str) -> Interests:
    """The interests of a demo."""
    from algorithms.files import read_interests  # Numba and pyarrow: only for who really loads one

    with as_file(files(__package__) / f"{check_demo(name)}.csv.gz") as path:
        return read_interests(path)
