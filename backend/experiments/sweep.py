"""What an experiment is: a sweep over points, the table of what was measured, a chart of it, a statement about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import fmean, variance
from typing import Any, Literal

Point = dict[str, Any]
Record = dict[str, Any]
Size = Literal["quick", "full"]
Verdict = Literal["agree", "differ", "not applicable", "not measured"]

POINT = "#"
"""The column of a table that tells which rows belong to one point."""


class NotMeasured(Exception):
    """The table lacks what was asked of it."""


@dataclass(frozen=True)
class Table:
    """All rows of a sweep: a point's own columns and one record's, with helpers to sum them up."""

    rows: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(cls, results: Iterable[tuple[Point, list[Record]]]) -> Table:
        """One row a record."""
        return cls(
            tuple(
                {POINT: number, **point, **record}
                for number, (point, records) in enumerate(results)
                for record in records
            )
        )

    def where(self, **wanted: Any) -> Table:
        """The rows whose columns have these values, or one of the values where several are given as a tuple."""
        return Table(
            tuple(
                row
                for row in self.rows
                if all(
                    row.get(name) in value if isinstance(value, tuple) else row.get(name) == value
                    for name, value in wanted.items()
                )
            )
        )

    def column(self, name: str) -> list[float]:
        """The values of a column, without those that were not measured."""
        found = [row[name] for row in self.rows if row.get(name) is not None]
        if not found:
            raise NotMeasured(name)
        return found

    def mean(self, name: str) -> float:
        """The mean of a column."""
        return fmean(self.column(name))

    def variance(self, name: str) -> float:
        """The variance of a column over its population, estimated from these rows."""
        found = self.column(name)
        if len(found) < 2:
            raise NotMeasured(f"variance of {name}")
        return variance(found)

    def by(self, name: str) -> dict[Any, Table]:
        """The rows for each value of a column, values ascending."""
        values = sorted({row[name] for row in self.rows if row.get(name) is not None})
        if not values:
            raise NotMeasured(name)
        return {value: self.where(**{name: value}) for value in values}

    def pairs(self, name: str, one: str, other: str) -> list[tuple[float, float]]:
        """A column's values of two series, for each point that has both."""
        found = []
        for rows in self._points():
            values = {row.get("series"): row.get(name) for row in rows}
            a, b = values.get(one), values.get(other)
            if a is not None and b is not None:
                found.append((a, b))
        if not found:
            raise NotMeasured(f"{one} and {other}")
        return found

    def ratio(self, name: str, one: str, other: str) -> float:
        """The mean over points of one series' value by the other's."""
        return fmean(a / b for a, b in self.pairs(name, one, other))

    def excess(self, name: str, one: str, other: str) -> float:
        """The mean over points of one series' value less the other's."""
        return fmean(a - b for a, b in self.pairs(name, one, other))

    def excesses(self, name: str, one: str, other: str, along: str) -> list[float]:
        """How far one series is above another, mean by mean along a column; two at the least."""
        found = [table.excess(name, one, other) for table in self.by(along).values()]
        if len(found) < 2:
            raise NotMeasured(f"{name} along {along}")
        return found

    def steepest(self, name: str, along: str) -> float:
        """The largest rise of the mean of a column from one value of ``along`` to the next; below 0 when it only falls."""
        return max(self._steps(name, along))

    def gentlest(self, name: str, along: str) -> float:
        """The smallest such rise; below 0 when it falls anywhere."""
        return min(self._steps(name, along))

    def _steps(self, name: str, along: str) -> list[float]:
        means = [table.mean(name) for table in self.by(along).values()]
        if len(means) < 2:
            raise NotMeasured(f"{name} along {along}")
        return [b - a for a, b in pairwise(means)]

    def _points(self) -> Iterator[list[Mapping[str, Any]]]:
        grouped: dict[int, list[Mapping[str, Any]]] = {}
        for row in self.rows:
            grouped.setdefault(row[POINT], []).append(row)
        yield from grouped.values()

    def __bool__(self) -> bool:
        return bool(self.rows)


@dataclass(frozen=True)
class Chart:
    """One plot: a column against another, a line a series, a panel for each value of ``panels``."""

    name: str
    title: str
    x: str
    y: str
    series: tuple[str, ...] = ()
    """Which ones, in this order; all when empty."""
    panels: str | None = "distribution"
    where: Mapping[str, Any] = field(default_factory=dict)
    log_x: bool = False
    log_y: bool = False
    bars: bool = False
    dots: bool = False
    """A dot for each row, no means and no lines."""


@dataclass(frozen=True)
class Sweep:
    """A list of points and how each is measured."""

    name: str
    title: str
    source: str
    """Where it comes from: the paper's figures, or ours."""
    about: str
    points: Callable[[Size], list[Point]]
    measure: Callable[[Point], list[Record]]
    charts: tuple[Chart, ...] = ()
    series: tuple[str, ...] = ()
    """What a point must have records of to count as measured."""
    shown: tuple[str, ...] = ()
    """Columns of the table on the page; no table when empty."""
    shown_where: Mapping[str, Any] = field(default_factory=dict)
    """Which rows that table sums up."""
    rows_by: tuple[str, ...] = ("series",)
    """What the rows of that table are told apart by; the other columns are means over the rest."""
    data: Callable[[Point], Path | None] = lambda _: None
    """The file of real interests that a point reads, if any."""
    remark: Callable[[Table], str] = lambda _: ""
    """What else the page says below its figures, told by what was measured."""


Kind = Literal["about", "at most", "at least", "exactly"]


@dataclass(frozen=True)
class Statement:
    """A number that a paper prints, where ours comes from, and how near it must be to agree."""

    paper: str
    text: str
    printed: float
    sweep: str
    ours: Callable[[Table], float]
    kind: Kind = "about"
    tolerance: float = 0.05
    """Share of the printed number; for a printed 0, the number itself."""
    reason: str = ""
    """Why ours differs, where that is known."""
    note: str = ""
    """What to know about the comparison in any case."""
    form: str = "{:.2f}"
    """Of our figure; the printed one has the digits it was given with."""
    printed_as: str = ""
    """The paper's own word, where it prints no number."""
    applies: Callable[[Table], bool] = lambda _: True
    """Whether our figure, where there is one, can tell for or against the printed one."""

    def measured(self, tables: Mapping[str, Table]) -> float | None:
        """Our figure, or None when the sweep was not run that far."""
        try:
            return self.ours(tables.get(self.sweep, Table(())))
        except NotMeasured:
            return None

    def judge(self, tables: Mapping[str, Table]) -> tuple[float | None, Verdict]:
        """Our figure, and what it says of the printed one."""
        value = self.measured(tables)
        if value is not None and not self.applies(tables[self.sweep]):
            return value, "not applicable"
        return value, self.verdict(value)

    def verdict(self, value: float | None) -> Verdict:
        """Whether a figure of ours agrees with the printed one."""
        if value is None:
            return "not measured"
        held = {
            "about": abs(value - self.printed) <= self.room,
            "at most": value <= self.printed + self.room,
            "at least": value >= self.printed - self.room,
            "exactly": value == self.printed,
        }[self.kind]
        return "agree" if held else "differ"

    @property
    def room(self) -> float:
        """How far from the printed number ours may be."""
        return self.tolerance * abs(self.printed) if self.printed else self.tolerance


def never(_: Table) -> float:
    """For a printed figure that no sweep of ours measures."""
    raise NotMeasured("no sweep has it")


@dataclass(frozen=True)
class Finding:
    """A sentence about what no paper printed, its figures taken from a sweep."""

    text: str
    """With a place in braces for each figure."""
    sweep: str
    figures: Callable[[Table], tuple[Any, ...]]

    def sentence(self, tables: Mapping[str, Table]) -> str | None:
        """The sentence with its figures, or None when the sweep was not run that far."""
        try:
            return self.text.format(*self.figures(tables.get(self.sweep, Table(()))))
        except NotMeasured:
            return None
