"""Results on disk: a file of JSON lines a sweep, one line a point, written as soon as the point is measured.

A line that was cut off by a crash is dropped when the file is read, and its point measured again.
"""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from backend.experiments.sweep import POINT, Point, Record, Sweep, Table

DIGITS = 6


class Measurement(NamedTuple):
    """A point, what was measured at it, and the processor seconds all of that took."""

    point: Point
    records: list[Record]
    cpu: float


Measured = dict[str, Measurement]


def key_of(point: Point) -> str:
    """What tells a point from the others of its sweep."""
    return json.dumps(point, sort_keys=True, ensure_ascii=False)


class Results:
    """The results of all sweeps in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, sweep: Sweep) -> Path:
        """The file of a sweep."""
        return self.folder / f"{sweep.name}.jsonl"

    def read(self, sweep: Sweep) -> Measured:
        """The points that have a record of every series of the sweep."""
        if not self.path(sweep).is_file():
            return {}
        measured: Measured = {}
        for line in self.path(sweep).read_text(encoding="utf-8").splitlines():
            try:
                row = json.loads(line)
                found = Measurement(row["point"], row["records"], float(row["cpu"]))
            except (ValueError, KeyError, TypeError):
                continue
            if set(sweep.series) <= {record.get("series") for record in found.records}:
                measured[key_of(found.point)] = found
        return measured

    def table(self, sweep: Sweep) -> Table:
        """All rows of a sweep."""
        return Table.of((found.point, found.records) for found in self.read(sweep).values())

    def add(self, sweep: Sweep, found: Measurement) -> None:
        """Append a point; on disk when this returns."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.path(sweep).open("a+b") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    file.write(b"\n")
            file.write(_line(found).encode())
            file.flush()
            os.fsync(file.fileno())

    def settle(self, sweep: Sweep) -> None:
        """Sort the file by its points, so that the same results give the same file."""
        measured = self.read(sweep)
        if not measured:
            return
        ordered = sorted(measured.values(), key=lambda found: _sortable(found.point))
        _replace(self.path(sweep), "".join(map(_line, ordered)))

    def forget(self, sweep: Sweep) -> None:
        """Remove what was measured."""
        self.path(sweep).unlink(missing_ok=True)


def as_csv(table: Table) -> str:
    """A table with a header, one row a record."""
    columns: dict[str, None] = {}
    for row in table.rows:
        columns |= dict.fromkeys(name for name in row if name != POINT)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(dict(row) for row in table.rows)
    return text.getvalue()


def _line(found: Measurement) -> str:
    row = {
        "point": found.point,
        "records": [_short(record) for record in found.records],
        "cpu": round(found.cpu, 3),
    }
    return json.dumps(row, ensure_ascii=False) + "\n"


def _short(record: Record) -> Record:
    return {
        name: float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
        for name, value in record.items()
    }


def _sortable(point: Point) -> list[tuple[str, Any]]:
    """Numbers by size and texts by letters, column by column."""
    return [
        (name, (0, value, "") if isinstance(value, (int, float)) else (1, 0, str(value)))
        for name, value in point.items()
    ]


def _replace(path: Path, text: str) -> None:
    unfinished = path.with_name(f".{path.name}.part")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)
