"""Real interests by parts, from file to file and through Neo4j: those of tests/data always, those of TOPICWEAVE_DATA in the
long run; igraph is the judge."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import neo4j
import pytest
from pyspark.sql import SparkSession

from algorithms import Interests, Overlay, build
from algorithms.bulk import parse_bulk
from algorithms.files import read_interests, read_links, write_interests
from spark import graph
from spark.rebuild import rebuild_files, rebuild_graph
from tests.conftest import Neo4jServer
from tests.spark.judging import connected_by_igraph
from tests.spark.living import access, candidates, make_live

SMALL = Path(__file__).parents[1] / "data"
DEMO = Path(__file__).parents[2] / "backend" / "demos" / "autoware.csv.gz"
DATA = Path(os.environ["TOPICWEAVE_DATA"]) if os.environ.get("TOPICWEAVE_DATA") else None
FILES = [
    "ha_git_authors",
    "lastfm_asia_mutual_follow",
    "twitter_top100",
    "github_mutual_follow",
    "deezer_hu_genres",
]
CODEOWNERS = ["ha_codeowners", "dt_codeowners"]

JOBS: list[tuple[str, dict[str, Any], int]] = [
    ("dc", {"parts": 4}, 1),
    ("gm2", {"parts": 4}, 2),
    ("hararypt", {"k": 4}, 4),
]
MORE_JOBS: list[tuple[str, dict[str, Any], int]] = [("gm", {}, 1), ("degree-cover", {"parts": 3}, 2)]
AS_LOCAL = ("dc", "gm", "hararypt")
"""Their links are those of the local algorithm, parts or not."""
IN_SHORT = [("ha_codeowners", JOBS[0]), ("ha_codeowners", MORE_JOBS[0]), ("dt_codeowners", MORE_JOBS[1])]
"""Of the files of tests/data, those that `make test` runs."""


@cache
def interests_of(path: Path) -> Interests:
    return read_interests(path)


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
    if algorithm in AS_LOCAL:
        assert overlay.link_names() == build(algorithm, interests, **given).link_names()


def check_through_neo4j(
    spark: SparkSession,
    server: Neo4jServer,
    driver: neo4j.Driver,
    path: Path,
    algorithm: str,
    given: dict[str, Any],
    k: int,
) -> None:
    """From a live overlay to the candidates of a rebuild, judged here."""
    interests = interests_of(path)
    make_live(driver, interests)
    with graph.RebuildRecord(access(server), "r1") as record:
        report = rebuild_graph(spark, record, algorithm, parse_bulk(algorithm, given))
    spark.catalog.clearCache()
    overlay = Overlay.from_names(interests, candidates(driver, "r1"))
    assert (report["brokers"], report["topics"]) == (len(interests.brokers), len(interests.topics))
    assert (report["candidates"], report["departed"]) == (len(overlay.links), 0)
    assert connected_by_igraph(overlay, k)
    if algorithm in AS_LOCAL:
        assert overlay.link_names() == build(algorithm, interests, **given).link_names()


@pytest.mark.parametrize(("algorithm", "given", "k"), JOBS[:2], ids=lambda value: str(value))
def test_a_small_file(
    spark: SparkSession, tmp_path: Path, algorithm: str, given: dict[str, Any], k: int
) -> None:
    check(spark, SMALL / "ros_autoware.csv.gz", tmp_path, algorithm, given, k)


@pytest.mark.parametrize(
    ("name", "algorithm", "given", "k"),
    [
        pytest.param(name, *job, marks=() if (name, job) in IN_SHORT else pytest.mark.long)
        for name in CODEOWNERS
        for job in [*JOBS, *MORE_JOBS]
    ],
    ids=str,
)
def test_code_and_its_owners(
    spark: SparkSession, tmp_path: Path, name: str, algorithm: str, given: dict[str, Any], k: int
) -> None:
    """Thousands of topics with one subscriber, and brokers that hold most of them."""
    check(spark, SMALL / f"{name}.csv.gz", tmp_path, algorithm, given, k)


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.skipif(DATA is None, reason="TOPICWEAVE_DATA names no folder")
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(("algorithm", "given", "k"), JOBS, ids=lambda value: str(value))
def test_every_file(
    spark: SparkSession, tmp_path: Path, name: str, algorithm: str, given: dict[str, Any], k: int
) -> None:
    assert DATA is not None
    check(spark, DATA / f"{name}.csv.gz", tmp_path, algorithm, given, k)


@pytest.mark.neo4j
@pytest.mark.parametrize(
    ("algorithm", "given", "k"),
    [
        *[pytest.param(*job, marks=pytest.mark.long) for job in JOBS[:1]],
        JOBS[1],
        pytest.param(*JOBS[2], marks=pytest.mark.long),
    ],
    ids=lambda value: str(value),
)
def test_the_demo_through_neo4j(
    spark: SparkSession,
    neo4j_server: Neo4jServer,
    database: neo4j.Driver,
    algorithm: str,
    given: dict[str, Any],
    k: int,
) -> None:
    check_through_neo4j(spark, neo4j_server, database, DEMO, algorithm, given, k)


@pytest.mark.neo4j
@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    "path", [SMALL / f"{name}.csv.gz" for name in CODEOWNERS], ids=lambda path: path.name
)
@pytest.mark.parametrize(("algorithm", "given", "k"), JOBS, ids=lambda value: str(value))
def test_code_and_its_owners_through_neo4j(
    spark: SparkSession,
    neo4j_server: Neo4jServer,
    database: neo4j.Driver,
    path: Path,
    algorithm: str,
    given: dict[str, Any],
    k: int,
) -> None:
    check_through_neo4j(spark, neo4j_server, database, path, algorithm, given, k)


@pytest.mark.neo4j
@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.skipif(DATA is None, reason="TOPICWEAVE_DATA names no folder")
@pytest.mark.parametrize("name", ["lastfm_asia_mutual_follow"])
@pytest.mark.parametrize(("algorithm", "given", "k"), JOBS, ids=lambda value: str(value))
def test_files_through_neo4j(
    spark: SparkSession,
    neo4j_server: Neo4jServer,
    database: neo4j.Driver,
    name: str,
    algorithm: str,
    given: dict[str, Any],
    k: int,
) -> None:
    assert DATA is not None
    check_through_neo4j(spark, neo4j_server, database, DATA / f"{name}.csv.gz", algorithm, given, k)
