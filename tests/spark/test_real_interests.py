"""Real interests by parts: a small file always, those of TOPICWEAVE_DATA in the long run; igraph is the judge."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import igraph
import pytest
from pyspark.sql import SparkSession

from algorithms import Interests, Overlay, build
from algorithms.bulk import parse_bulk
from algorithms.files import read_interests, read_links, write_interests
from spark.rebuild import rebuild_files

SMALL = Path(__file__).parents[1] / "data"
DATA = Path(os.environ.get("TOPICWEAVE_DATA", Path(__file__).parents[3] / "shared" / "data"))
FILES = [
    "ros_autoware",
    "ha_codeowners",
    "ha_git_authors",
    "dt_codeowners",
    "lastfm_asia_mutual_follow",
    "twitter_top100",
    "github_mutual_follow",
    "deezer_hu_genres",
]
JOBS: list[tuple[str, dict[str, Any], int]] = [
    ("dc", {"parts": 4}, 1),
    ("gm2", {"parts": 4}, 2),
    ("hararypt", {"k": 2}, 2),
]


@cache
def interests_of(path: Path) -> Interests:
    return read_interests(path)


def connected_by_igraph(overlay: Overlay, k: int) -> bool:
    """Whether igraph finds every topic connected, and for k = 2 without an articulation broker."""
    interests = overlay.interests
    whole = igraph.Graph(n=len(interests.brokers), edges=overlay.links)
    for topic in range(len(interests.topics)):
        members = interests.subscriber_indices(topic).tolist()
        if len(members) < 2:
            continue
        graph = whole.induced_subgraph(members)
        if not graph.is_connected() or (k == 2 and graph.articulation_points()):
            return False
    return True


def check(
    spark: SparkSession, path: Path, folder: Path, algorithm: str, given: dict[str, Any], k: int
) -> None:
    """From Parquet to Parquet, verified in Spark on the way, then judged here."""
    interests = interests_of(path)
    source, links = folder / "interests.parquet", folder / "links.parquet"
    write_interests(interests, source)
    params = parse_bulk(algorithm, given)
    report = rebuild_files(spark, algorithm, params, str(source), str(links), verified=True)
    spark.catalog.clearCache()
    overlay = read_links(links, interests)
    assert (report["brokers"], report["topics"]) == (len(interests.brokers), len(interests.topics))
    assert report["links"] == len(overlay.links)
    assert connected_by_igraph(overlay, k)
    if algorithm != "gm2":
        assert overlay.link_names() == build(algorithm, interests, **given).link_names()


@pytest.mark.parametrize(("algorithm", "given", "k"), JOBS[:2], ids=lambda value: str(value))
def test_a_small_file(
    spark: SparkSession, tmp_path: Path, algorithm: str, given: dict[str, Any], k: int
) -> None:
    check(spark, SMALL / "ros_autoware.csv.gz", tmp_path, algorithm, given, k)


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.skipif(not DATA.is_dir(), reason="TOPICWEAVE_DATA names no folder")
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(("algorithm", "given", "k"), JOBS, ids=lambda value: str(value))
def test_every_file(
    spark: SparkSession, tmp_path: Path, name: str, algorithm: str, given: dict[str, Any], k: int
) -> None:
    check(spark, DATA / f"{name}.csv.gz", tmp_path, algorithm, given, k)
