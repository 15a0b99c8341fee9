"""Results on disk: a file of JSON lines a sweep, one line a point, written as soon as the point is measured.

A line says by what code and from what data it was measured. One that a crash cut off, or that today's code would not have
written, does not count: its point is measured again. Points that a sweep has no more, or of files that are not there today,
stay in the file and out of every table.
"""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from backend.experiments.origin import Origin, origin_of
from backend.experiments.sweep import POINT, Point, Record, Size, Sweep, Table

DIGITS = 6


class Measurement(NamedTuple):
    """A point, what was measured at it, the processor seconds all of that took, and where the figures come from."""

    point: Point
    records: list[Record]
    cpu: float
    origin: Origin


Measured = dict[str, Measurement]


def key_of(point: Point) -> str:
    """What tells a point from the others of its sweep."""
    return json.dumps(point, sort_keys=True, ensure_ascii=False)


class Results:
    """The results of all sweeps in one folder, for one size of them."""

    def __init__(self, folder: Path, size: Size) -> None:
        self.folder = folder
        self.size: Size = size

    def path(self, sweep: Sweep) -> Path:
        """The file of a sweep."""
        return self.folder / f"{sweep.name}.jsonl"

    def wanted(self, sweep: Sweep) -> dict[str, Point]:
        """The points of a sweep by their keys."""
        return {key_of(point): point for point in sweep.points(self.size)}

    def read(self, sweep: Sweep) -> Measured:
        """The points of the sweep that were measured by today's code and data, with a record of every series."""
        lines = self._lines(sweep)
        return {
            key: lines[key]
            for key, point in self.wanted(sweep).items()
            if key in lines
            and lines[key].origin.is_as(origin_of(sweep, point))
            and set(sweep.series) <= {record.get("series") for record in lines[key].records}
        }

    def missing(self, sweep: Sweep) -> list[Point]:
        """The points of the sweep that are still to be measured."""
        there = self.read(sweep)
        return [point for key, point in self.wanted(sweep).items() if key not in there]

    def outdated(self, sweep: Sweep) -> int:
        """How many points of the sweep have a result of other code or data than today's."""
        lines = self._lines(sweep)
        return sum(
            key in lines and not lines[key].origin.is_as(origin_of(sweep, point))
            for key, point in self.wanted(sweep).items()
        )

    def _lines(self, sweep: Sweep) -> Measured:
        """The last whole line of every point in the file, whoever wrote it."""
        if not self.path(sweep).is_file():
            return {}
        found: Measured = {}
        for line in self.path(sweep).read_text(encoding="utf-8").splitlines():
            try:
                row = json.loads(line)
                origin = Origin(row["version"], row["sources"], row["data"])
                found[key_of(row["point"])] = Measurement(
                    row["point"], row["records"], float(row["cpu"]), origin
                )
            except (ValueError, KeyError, TypeError):
                continue
        return found

    def table(self, sweep: Sweep) -> Table:
        """All rows of a sweep."""
        return table_of(self.read(sweep))

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
        """Sort the file by its points, each once, so that the same results give the same file."""
        measured = self._lines(sweep)
        if not measured:
            return
        ordered = sorted(measured.values(), key=lambda found: _sortable(found.point))
        _replace(self.path(sweep), "".join(map(_line, ordered)))

    def forget(self, sweep: Sweep) -> None:
        """Remove what was measured."""
        self.path(sweep).unlink(missing_ok=True)


def table_of(measured: Measured) -> Table:
    """All rows of what was measured."""
    return Table.of((found.point, found.records) for found in measured.values())


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
        **found.origin._asdict(),
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
