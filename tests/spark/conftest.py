"""One Spark session for all tests of this folder, on the master that TOPICWEAVE_SPARK_MASTER names."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import neo4j
import pytest
from pyspark.sql import SparkSession

from algorithms import Interests
from algorithms.files import write_interests
from algorithms.workloads import generate
from spark.ids import Coded, code
from spark.session import SessionOptions, make_session
from spark.tables import read_interests
from tests.backend.conftest import database as database
from tests.conftest import Neo4jServer
from tests.spark.living import make_live

MASTER = os.environ.get("TOPICWEAVE_SPARK_MASTER", "local[2]")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test here is one of Spark's."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.spark)
            # PySpark leaves sockets that it has read to the end to the garbage collector.
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))


@pytest.fixture(scope="session")
def session() -> Iterator[SparkSession]:
    """A session as jobs make it, with few partitions: tables here are small."""
    # Tables are tiny, so what starts fast beats what runs fast: no optimising compiler, no generated code.
    made = make_session(
        SessionOptions(
            master=MASTER,
            memory="1g",
            partitions=2,
            java_options="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            settings=(
                ("spark.sql.codegen.wholeStage", "false"),
                ("spark.sql.codegen.factoryMode", "NO_CODEGEN"),
            ),
        )
    )
    yield made
    made.stop()


@pytest.fixture
def spark(session: SparkSession) -> Iterator[SparkSession]:
    """The session; sockets that a test left are closed while that is still the test's own affair."""
    yield session
    gc.collect()


@pytest.fixture(scope="session")
def small() -> Interests:
    """Interests of the papers' kind, small enough for everything."""
    return generate(brokers=300, topics=40, subscriptions=8, seed=3)


@pytest.fixture(scope="session")
def small_file(small: Interests, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as Parquet."""
    path = tmp_path_factory.mktemp("interests") / "small.parquet"
    write_interests(small, path)
    return path


@pytest.fixture(scope="session")
def small_coded(session: SparkSession, small_file: Path) -> Coded:
    """The same with dense ids: made once, since that is half of a job."""
    return code(read_interests(session, str(small_file)))


@pytest.fixture
def live(neo4j_server: Neo4jServer, database: neo4j.Driver, small: Interests) -> neo4j.Driver:
    """The small interests as a live overlay, with a rebuild that runs and one broker without topics."""
    make_live(database, small, {"id": "lonely", "topics": []})
    return database


@pytest.fixture(scope="session")
def with_lonely(small: Interests) -> Interests:
    """The interests of that overlay."""
    return Interests.from_mapping({**{name: small.topics_of(name) for name in small.brokers}, "lonely": []})
