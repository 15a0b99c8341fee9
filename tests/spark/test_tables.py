"""Parquet in and out: what is refused, in one line, and links that appear whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from algorithms import BadInput, Interests, build
from algorithms.bulk import parse_bulk
from algorithms.files import read_links
from spark import tables
from spark.errors import JobFailed
from spark.ids import code
from spark.rebuild import rebuild_files
from spark.tables import check_apart, check_links_path, check_writable, read_interests
from tests.spark.jobs import links_frame

TEXT = pyarrow.string()


def written(path: Path, columns: dict[str, Any]) -> Path:
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return path


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"node": ["a"], "topic": ["x"]}, "must have the columns broker,topic, broker is missing"),
        ({"broker": ["a"], "subject": ["x"]}, "topic is missing (got 'broker,subject')"),
        ({"broker": [1], "topic": ["x"]}, "column broker: ids are strings (got 'bigint')"),
        ({"broker": pyarrow.array([], TEXT), "topic": pyarrow.array([], TEXT)}, "the table has no rows"),
        ({"broker": ["a", None], "topic": ["x", "x"]}, "broker: an id cannot be null"),
        ({"broker": ["a", "b"], "topic": ["x", None]}, "topic: an id cannot be null"),
        ({"broker": ["a", ""], "topic": ["x", "x"]}, "broker: an id cannot be empty"),
        ({"broker": ["a"], "topic": ["x\ty"]}, "topic: an id holds no control characters"),
        ({"broker": ["b" * 257], "topic": ["x"]}, "an id has at most 256 characters"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_tables_that_are_no_interests(
    spark: SparkSession, tmp_path: Path, columns: dict[str, Any], said: str
) -> None:
    path = written(tmp_path / "interests.parquet", columns)
    with pytest.raises(BadInput) as raised:
        code(read_interests(spark, str(path)))
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_paths_that_cannot_be(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no such file"):
        read_interests(spark, str(tmp_path / "absent.parquet"))
    with pytest.raises(BadInput, match=r"interests: the name must end in \.parquet"):
        read_interests(spark, str(tmp_path / "interests.csv"))
    with pytest.raises(BadInput, match=r"links: the name must end in \.parquet"):
        check_links_path(str(tmp_path))


def test_files_that_are_no_parquet(spark: SparkSession, tmp_path: Path) -> None:
    empty, text = tmp_path / "empty.parquet", tmp_path / "text.parquet"
    empty.mkdir()
    text.write_text("broker,topic\n")
    with pytest.raises(BadInput, match="interests: there is no Parquet file in this folder"):
        read_interests(spark, str(empty))
    with pytest.raises(BadInput, match=r"interests: .*text\.parquet is not a Parquet file") as raised:
        read_interests(spark, str(text))
    assert "\n" not in str(raised.value)


def test_links_that_could_not_be_written_are_refused_before_the_work(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Whether there are interests is not even asked."""
    (tmp_path / "file").touch()
    links = str(tmp_path / "file" / "links.parquet")
    with pytest.raises(BadInput, match="links: Parent path is not a directory") as raised:
        rebuild_files(spark, "gm", parse_bulk("gm", {}), str(tmp_path / "absent.parquet"), links)
    assert "\n" not in str(raised.value)
    check_writable(spark, str(tmp_path / "links.parquet"))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("interests", "links", "said"),
    [
        ("a.parquet", "a.parquet/", "the interests themselves"),
        ("a.parquet", "./a.parquet", "the interests themselves"),
        ("a.parquet", "b/../a.parquet", "the interests themselves"),
        ("a.parquet", "//a.parquet", "the interests themselves"),
        ("a.parquet", "file:a.parquet", "the interests themselves"),
        ("*.parquet", "a.parquet", "the interests themselves"),
        ("a.parquet", "same/a.parquet", "the interests themselves"),
        ("a.parquet", "a.parquet/part-0.parquet", "this is inside the interests"),
        ("a.parquet/part-0.parquet", "a.parquet", "the interests are in there"),
        ("a.parquet", "a.parquet.links.parquet", None),
        ("a.parquet/../b.parquet", "a.parquet", None),
    ],
)
def test_links_never_take_the_interests_away(
    spark: SparkSession, small_file: Path, tmp_path: Path, interests: str, links: str, said: str | None
) -> None:
    """Whichever way the two are written; nothing is touched where it is refused."""
    for name in ("a.parquet", "b.parquet"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "part-0.parquet").write_bytes(small_file.read_bytes())
    (tmp_path / "same").symlink_to(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.glob("?.parquet/*")}

    def at(name: str) -> str:
        return f"file:{tmp_path}/{name[5:]}" if name.startswith("file:") else f"{tmp_path}/{name}"

    if said is None:
        check_apart(spark, at(interests), at(links))
        return
    with pytest.raises(BadInput, match=f"links: .*{said}"):
        rebuild_files(spark, "gm", parse_bulk("gm", {}), at(interests), at(links))
    assert {path: path.read_bytes() for path in tmp_path.glob("?.parquet/*")} == before


@pytest.mark.parametrize("failing", ["write", "move"])
def test_links_that_cannot_be_put_in_place_leave_those_of_before(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    path = tmp_path / "links.parquet"
    tables.write_links(links_frame(spark, [("a", "b")]), str(path))
    new = links_frame(spark, [("c", "d")])
    move = tables._move

    def refuse(files: Any, source: Any, target: Any) -> None:
        if "unfinished" in str(source):
            raise JobFailed("no room")
        move(files, source, target)

    if failing == "move":
        monkeypatch.setattr(tables, "_move", refuse)
    else:
        new = new.select("broker_a", sf.raise_error(sf.lit("no room")).cast("string").alias("broker_b"))
    with pytest.raises((JobFailed, PySparkException), match="no room"):
        tables.write_links(new, str(path))
    assert read_pairs(path) == [("a", "b")]
    monkeypatch.undo()
    tables.write_links(links_frame(spark, [("e", "f")]), str(path))
    assert read_pairs(path) == [("e", "f")]
    assert [left.name for left in tmp_path.iterdir()] == ["links.parquet"]


def test_a_job_that_ended_between_the_two_moves_lost_nothing(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "links.parquet"
    tables.write_links(links_frame(spark, [("a", "b")]), str(path))
    path.rename(tmp_path / "links.parquet.earlier")
    broken = links_frame(spark, [("c", "d")]).select(
        sf.raise_error(sf.lit("no room")).cast("string").alias("broker_a"), "broker_b"
    )
    with pytest.raises(PySparkException):
        tables.write_links(broken, str(path))
    assert read_pairs(path) == [("a", "b")]


def read_pairs(path: Path) -> list[tuple[str, str]]:
    found = pyarrow.parquet.read_table(path).to_pylist()
    return [(row["broker_a"], row["broker_b"]) for row in found]


def test_links_take_the_place_of_earlier_ones(
    spark: SparkSession, small: Interests, small_file: Path, tmp_path: Path
) -> None:
    links = tmp_path / "links.parquet"
    links.mkdir()
    written(links / "part-0.parquet", {"broker_a": [small.brokers[0]], "broker_b": [small.brokers[1]]})
    params = parse_bulk("dc", {"parts": 3, "seed": 1})
    report = rebuild_files(spark, "dc", params, str(small_file), str(links), verified=True)
    assert read_links(links, small).link_names() == build("dc", small, parts=3, seed=1).link_names()
    assert [path.name for path in tmp_path.iterdir()] == ["links.parquet"]
    assert report["verified"]
    assert report["links"] == len(build("dc", small, parts=3, seed=1).links)
    assert {"reading", "dividing", "conquering", "joining, level 1", "verifying", "writing"} <= set(
        report["seconds"]
    )
