"""The figures of the page in docs/, read back from its CSV files as the tables that statements rest on."""

from __future__ import annotations

import csv
import json
from functools import cache
from pathlib import Path
from typing import Any

from backend.experiments.catalogue import SWEEPS
from backend.experiments.sweep import POINT, Table

FIGURES = Path(__file__).parents[3] / "docs" / "images" / "experiments"


@cache
def committed(name: str) -> Table:
    """The table of a sweep as it was when the page was made."""
    point = SWEEPS[name].points("quick")[0].keys()
    with (FIGURES / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = [{column: _value(text) for column, text in row.items()} for row in csv.DictReader(file)]
    numbers: dict[str, int] = {}
    for row in rows:
        row[POINT] = numbers.setdefault(str([row[column] for column in point]), len(numbers))
    return Table(tuple(rows))


def _value(text: str) -> Any:
    """What a cell was before it was written: a number, a text, or nothing."""
    if not text:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text
