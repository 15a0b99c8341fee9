"""The run: resumed after an interrupt and after a line that was cut off, nothing measured twice."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from backend.experiments.results import Measurement, Results, as_csv
from backend.experiments.run import left_to_do, run
from backend.experiments.sweep import Point, Record, Size, Sweep, Table


def five_points(measure: Callable[[Point], list[Record]]) -> Sweep:
    def points(size: Size) -> list[Point]:
        return [{"brokers": n, "pair": (n, n)} for n in range(5 if size == "quick" else 9)]

    return Sweep("five", "Five", "a test", "", points, measure, series=("GM",))


def counted(seen: list[int]) -> Sweep:
    def measure(point: Point) -> list[Record]:
        seen.append(point["brokers"])
        return [{"series": "GM", "links": point["brokers"] / 3}]

    return five_points(measure)


def test_what_is_measured_is_not_measured_again(tmp_path: Path) -> None:
    seen: list[int] = []
    sweep, results = counted(seen), Results(tmp_path)
    heard: list[tuple[str, int]] = []
    assert run([sweep], "quick", results, finished=lambda s, n, _: heard.append((s.name, n))) == 5
    assert run([sweep], "quick", results, finished=lambda s, n, _: heard.append((s.name, n))) == 0
    assert seen == [0, 1, 2, 3, 4]
    assert heard == [("five", 5)]
    results.forget(sweep)
    assert run([sweep], "quick", results) == 5


def test_an_interrupt_keeps_what_was_measured(tmp_path: Path) -> None:
    seen: list[int] = []
    whole, results = counted(seen), Results(tmp_path)

    def stop_at_three(point: Point) -> list[Record]:
        if point["brokers"] == 3:
            raise KeyboardInterrupt
        return whole.measure(point)

    with pytest.raises(KeyboardInterrupt):
        run([five_points(stop_at_three)], "quick", results)
    (left,) = left_to_do([whole], "quick", results)
    assert ([p["brokers"] for p in left.points], left.wanted) == ([3, 4], 5)
    assert run([whole], "quick", results) == 2
    assert seen == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("cut", [1, 10, 30])
def test_a_line_that_was_cut_off_is_measured_again(cut: int, tmp_path: Path) -> None:
    seen: list[int] = []
    sweep, results = counted(seen), Results(tmp_path)
    run([sweep], "quick", results)
    before = results.path(sweep).read_bytes()
    results.path(sweep).write_bytes(before[: -cut - 1])
    assert run([sweep], "quick", results) == 1
    assert seen[-1] == 4
    lines = [json.loads(line) for line in results.path(sweep).read_text().splitlines()]
    assert [line["point"]["brokers"] for line in lines] == [0, 1, 2, 3, 4]


def test_a_point_that_lacks_a_series_does_not_count(tmp_path: Path) -> None:
    sweep, results = counted([]), Results(tmp_path)
    results.add(sweep, Measurement({"brokers": 0, "pair": [0, 0]}, [{"series": "other"}], 0.0))
    (left,) = left_to_do([sweep], "quick", results)
    assert len(left.points) == 5


def test_a_table_as_csv() -> None:
    table = Table.of([({"brokers": 1}, [{"series": "a, b", "links": 2}, {"series": "c", "max_degree": 3}])])
    rows = list(csv.DictReader(io.StringIO(as_csv(table))))
    assert rows == [
        {"brokers": "1", "series": "a, b", "links": "2", "max_degree": ""},
        {"brokers": "1", "series": "c", "links": "", "max_degree": "3"},
    ]
