"""Parquet in and out: what is refused, in one line, and links that appear whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from pyspark.sql import SparkSession

from algorithms import BadInput, Interests, build
from algorithms.bulk import parse_bulk
from algorithms.files import read_links
from spark.ids import code
from spark.rebuild import rebuild_files
from spark.tables import check_links_path, read_interests

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
        check_links_path("a.parquet", str(tmp_path))
    with pytest.raises(BadInput, match="these are the interests themselves"):
        check_links_path("a.parquet", "a.parquet/")


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
