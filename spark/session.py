"""The one place that makes a Spark session: which Java, which connector, which Python, how loud.

Started by ``python -m``, a job brings all of it along. Under ``spark-submit`` the Java process is there already, with
the memory, master and jars it was given: then only the settings that a running Spark takes are made.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.sql import SparkSession

from backend.managed.jars import Say, spark_jars
from backend.managed.java import Java, find_java
from backend.settings import Settings

ROWS_A_BATCH = 100_000
"""Rows handed to Python at a time: few enough for memory, many enough that the handing over costs little."""

BROADCAST_MB = 96
"""A table up to this size is sent to every task rather than shuffled: the ids of a few million brokers."""

_COORDINATE = re.compile(r"[\w.-]+:[\w.-]+:[\w.-]+")

WRAPPER = """#!/bin/sh
# Made by TopicWeave: Java without --add-modules=jdk.incubator.vector"""


@dataclass(frozen=True)
class SessionOptions:
    """What a caller may choose."""

    master: str = "local[*]"
    memory: str = "3g"
    log_level: str = "OFF"
    jars: tuple[str, ...] | None = None
    """The Neo4j connector, as files, addresses or Maven coordinates; None: the one of the lock, fetched if missing."""
    partitions: int | None = None
    """Of a shuffle; None: four for each core."""
    java_options: str = ""
    """For the driver's Java."""
    settings: tuple[tuple[str, str], ...] = ()
    """More of Spark's own settings, by name."""

    def for_files(self) -> SessionOptions:
        """The same for a job that speaks to no database: nothing has to be fetched for it."""
        return self if self.jars is not None else replace(self, jars=())


def make_session(options: SessionOptions, say: Say = lambda line: None) -> SparkSession:
    """A session with the connector, Arrow and our settings; one a process."""
    builder = SparkSession.builder.appName("topicweave")
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        settings = Settings.load()
        jars = options.jars if options.jars is not None else tuple(map(str, spark_jars(settings, say)))
        _prepare_environment(options.master, find_java(say), settings.cache)
        quiet = Path(__file__).with_name("log4j2.properties")
        for name, value in {
            "spark.master": options.master,
            "spark.driver.memory": options.memory,
            "spark.driver.extraJavaOptions": (
                f"-Dlog4j2.configurationFile={quiet.as_uri()} -Dlog4j2.disable.jmx=true {options.java_options}"
            ),
            "spark.python.daemon.module": "spark.worker_daemon",
            "spark.driver.bindAddress": "127.0.0.1" if options.master.startswith("local") else None,
            "spark.jars": ",".join(jar for jar in jars if not _COORDINATE.fullmatch(jar)),
            "spark.jars.packages": ",".join(jar for jar in jars if _COORDINATE.fullmatch(jar)),
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
        }.items():
            if value:
                builder = builder.config(name, value)
    for name, setting in {
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(ROWS_A_BATCH),
        "spark.sql.autoBroadcastJoinThreshold": f"{BROADCAST_MB}m",
        "spark.sql.session.timeZone": "UTC",
    }.items():
        builder = builder.config(name, setting)
    for name, setting in options.settings:
        builder = builder.config(name, setting)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel(options.log_level)
    if "spark.sql.shuffle.partitions" not in _given_by_submit(session):
        partitions = options.partitions or 4 * session.sparkContext.defaultParallelism
        session.conf.set("spark.sql.shuffle.partitions", partitions)
    return session


def _given_by_submit(session: SparkSession) -> set[str]:
    return {name for name, _ in session.sparkContext.getConf().getAll()}


def _prepare_environment(master: str, java: Java, cache: Path) -> None:
    import pyspark

    os.environ["JAVA_HOME"] = str(_java_home(java, cache))
    # Tasks must import what this process imports.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


def _java_home(java: Java, cache: Path) -> Path:
    """A home whose ``java`` leaves out the vector module that Spark asks for.

    The bundled runtime lacks that module and would not start; any other prints a warning about it with every start.
    Nothing of ours uses what it speeds up.
    """
    if java.executable.read_bytes().startswith(WRAPPER.encode()):
        return (
            java.home
        )  # a process that we started finds it in JAVA_HOME; wrapped again it would call itself for ever
    home = cache / "java-for-spark" / f"{java.version}-{'bundled' if java.bundled else 'system'}"
    script = f"""{WRAPPER}
for argument do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec {shlex.quote(str(java.executable))} "$@"
"""
    wrapper = home / "bin" / "java"
    if not wrapper.exists() or wrapper.read_text(encoding="utf-8") != script:
        wrapper.parent.mkdir(parents=True, exist_ok=True)
        fresh = wrapper.with_name(f"java.{os.getpid()}")
        fresh.write_text(script, encoding="utf-8")
        fresh.chmod(0o755)
        fresh.replace(wrapper)
    return home
