"""The run: resumed after an interrupt and after a line that was cut off, nothing measured twice."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from backend.experiments import origin
from backend.experiments.catalogue import Chapter
from backend.experiments.origin import Origin, bare, origin_of, sources_of
from backend.experiments.page import write_page
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
    sweep, results = counted(seen), Results(tmp_path, "quick")
    heard: list[tuple[str, int]] = []
    assert run([sweep], results, finished=lambda s, n, _: heard.append((s.name, n))) == 5
    assert run([sweep], results, finished=lambda s, n, _: heard.append((s.name, n))) == 0
    assert seen == [0, 1, 2, 3, 4]
    assert heard == [("five", 5)]
    results.forget(sweep)
    assert run([sweep], results) == 5


def test_an_interrupt_keeps_what_was_measured(tmp_path: Path) -> None:
    seen: list[int] = []
    whole, results = counted(seen), Results(tmp_path, "quick")

    def stop_at_three(point: Point) -> list[Record]:
        if point["brokers"] == 3:
            raise KeyboardInterrupt
        return whole.measure(point)

    with pytest.raises(KeyboardInterrupt):
        run([five_points(stop_at_three)], results)
    (left,) = left_to_do([whole], results)
    assert ([p["brokers"] for p in left.points], left.wanted) == ([3, 4], 5)
    assert run([whole], results) == 2
    assert seen == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("cut", [1, 10, 30])
def test_a_line_that_was_cut_off_is_measured_again(cut: int, tmp_path: Path) -> None:
    seen: list[int] = []
    sweep, results = counted(seen), Results(tmp_path, "quick")
    run([sweep], results)
    before = results.path(sweep).read_bytes()
    results.path(sweep).write_bytes(before[: -cut - 1])
    assert run([sweep], results) == 1
    assert seen[-1] == 4
    lines = [json.loads(line) for line in results.path(sweep).read_text().splitlines()]
    assert [line["point"]["brokers"] for line in lines] == [0, 1, 2, 3, 4]


def test_a_point_that_lacks_a_series_does_not_count(tmp_path: Path) -> None:
    sweep, results = counted([]), Results(tmp_path, "quick")
    point: Point = {"brokers": 0, "pair": [0, 0]}
    results.add(sweep, Measurement(point, [{"series": "other"}], 0.0, origin_of(sweep, point)))
    (left,) = left_to_do([sweep], results)
    assert len(left.points) == 5


def test_a_table_as_csv() -> None:
    table = Table.of([({"brokers": 1}, [{"series": "a, b", "links": 2}, {"series": "c", "max_degree": 3}])])
    rows = list(csv.DictReader(io.StringIO(as_csv(table))))
    assert rows == [
        {"brokers": "1", "series": "a, b", "links": "2", "max_degree": ""},
        {"brokers": "1", "series": "c", "links": "", "max_degree": "3"},
    ]


def of_a_file(path: Path, seen: list[int]) -> Sweep:
    return replace(counted(seen), data=lambda point: path if point["brokers"] == 2 else None)


def test_what_other_code_measured_is_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    sweep, results = counted(seen), Results(tmp_path, "quick")
    run([sweep], results)
    monkeypatch.setattr(origin, "_algorithms", lambda: "an algorithm was changed")
    assert not results.table(sweep)
    assert len(results.missing(sweep)) == 5
    assert run([sweep], results) == 5
    assert len(results.path(sweep).read_text().splitlines()) == 5, "each point once"
    assert run([sweep], results) == 0


def test_a_point_of_a_changed_file_is_measured_again(tmp_path: Path) -> None:
    file, seen = tmp_path / "file", list[int]()
    file.write_text("one")
    sweep, results = of_a_file(file, seen), Results(tmp_path, "quick")
    run([sweep], results)
    (tmp_path / "other").write_text("two")
    assert run([of_a_file(tmp_path / "other", seen)], results) == 1
    assert seen == [0, 1, 2, 3, 4, 2]


def test_points_that_the_sweep_has_no_more_are_in_no_table_and_hide_none_that_is_missing(
    tmp_path: Path,
) -> None:
    sweep, results = counted([]), Results(tmp_path, "quick")
    run([sweep], results)
    other = replace(sweep, points=lambda _: [{"brokers": n, "pair": (n, n)} for n in range(3, 8)])
    assert [row["brokers"] for row in results.table(other).rows] == [3, 4]
    assert [point["brokers"] for point in results.missing(other)] == [5, 6, 7]
    chapter = Chapter("A chapter", "", (other,))
    text = page_of(results, tmp_path, chapter)
    assert "3 points are not measured yet." in text
    assert "2 points took" in text
    run([other], results)
    assert len(results.table(sweep).rows) == 5, "a file that is back has its figures still"


def page_of(results: Results, folder: Path, chapter: Chapter) -> str:
    write_page(results, folder / "page.md", "command", (chapter,))
    return (folder / "page.md").read_text()


def test_the_page_names_the_release_that_measured(tmp_path: Path) -> None:
    sweep, results = counted([]), Results(tmp_path, "quick")
    point = sweep.points("quick")[0]
    made = origin_of(sweep, point)
    results.add(sweep, Measurement(point, sweep.measure(point), 60.0, made._replace(version="9.8.7")))
    assert " 1 processor minutes with TopicWeave 9.8.7, sources `" in page_of(
        results, tmp_path, Chapter("A chapter", "", (sweep,))
    )


def test_what_a_result_depends_on() -> None:
    plain = bare("import numpy\n\ndef f(a):\n    return a + 1\n\nSTATEMENTS = (1,)\n")
    told = bare(
        '"""About."""\nimport numpy\n\ndef f(a):\n    """Adds."""  # one\n    return a + 1\nSTATEMENTS = ()\n'
    )
    assert told == plain
    assert bare("import numpy\n\ndef f(a):\n    return a + 2\n") != plain
    assert Origin("1", "a", None).is_as(Origin("2", "a", None))
    assert not Origin("1", "a", None).is_as(Origin("1", "a", "b"))
    assert sources_of(counted([]).measure) != sources_of(write_page)
