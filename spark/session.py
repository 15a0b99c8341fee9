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

from algorithms.errors import BadInput
from backend.managed.jars import Say, spark_jars
from backend.managed.java import Java, find_java
from backend.settings import Settings

ROWS_A_BATCH = 100_000
"""Rows handed to Python at a time: few enough for memory, many enough that the handing over costs little."""

BROADCAST_MB = 96
"""A table up to this size is sent to every task, through the driver, rather than shuffled: the ids of a few million
brokers."""

PARTITIONS_ON_A_CLUSTER = 200

_MASTER = re.compile(
    r"local(\[(\*|[1-9]\d*)(, *[1-9]\d*)?\])?|local-cluster\[ *\d+ *, *\d+ *, *\d+ *\]|yarn|\w+://.+"
)
_MEMORY = re.compile(r"([1-9]\d{0,8})([mg])", re.IGNORECASE)
LEAST_MEGABYTES = 512
"""Spark itself starts with no less than 450 MB."""
LOG_LEVELS = ("ALL", "DEBUG", "ERROR", "FATAL", "INFO", "OFF", "TRACE", "WARN")

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
    """Of a shuffle; None: what :func:`partitions_of` says."""
    java_options: str = ""
    """For the driver's Java."""
    ui: bool = False
    """Whether Spark's own pages are served while the job runs."""
    settings: tuple[tuple[str, str], ...] = ()
    """More of Spark's own settings, by name."""

    def check(self) -> None:
        """Raise :class:`BadInput` for what Spark would fail on once it has started.

        >>> SessionOptions(memory="much").check()
        Traceback (most recent call last):
        algorithms.errors.BadInput: memory: must be a size like 3g or 800m, at least 512m (got 'much')
        """
        if not _MASTER.fullmatch(self.master):
            reason = "must be local, local[N], local[*], spark://HOST:PORT or another master that Spark knows"
            raise BadInput("master", self.master, reason)
        size = _MEMORY.fullmatch(self.memory)
        if not size or int(size[1]) * (1024 if size[2] in "gG" else 1) < LEAST_MEGABYTES:
            raise BadInput(
                "memory", self.memory, f"must be a size like 3g or 800m, at least {LEAST_MEGABYTES}m"
            )
        if self.log_level not in LOG_LEVELS:
            raise BadInput("log-level", self.log_level, f"must be one of {', '.join(LOG_LEVELS)}")

    def for_files(self) -> SessionOptions:
        """The same for a job that speaks to no database: nothing has to be fetched for it."""
        return self if self.jars is not None else replace(self, jars=())


def make_session(options: SessionOptions, say: Say = lambda line: None) -> SparkSession:
    """A session with the connector, Arrow and our settings; one a process."""
    builder = SparkSession.builder.appName("topicweave")
    if not under_submit():
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
            "spark.ui.enabled": str(options.ui).lower(),
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
        context = session.sparkContext
        partitions = options.partitions or partitions_of(context.master or "", context.defaultParallelism)
        session.conf.set("spark.sql.shuffle.partitions", partitions)
    return session


def partitions_of(master: str, cores: int) -> int:
    """Partitions of a shuffle: four for each core; elsewhere than here no fewer than Spark's own number.

    A cluster's executors come after the session, one by one: ``cores`` are those there by now, few or none. What is too
    many for small tables Spark merges as it runs.
    """
    here = master.startswith("local") and not master.startswith("local-cluster")
    return 4 * cores if here else max(PARTITIONS_ON_A_CLUSTER, 4 * cores)


def under_submit() -> bool:
    """Whether ``spark-submit`` started this process, with a Java of its own."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def _given_by_submit(session: SparkSession) -> set[str]:
    return {name for name, _ in session.sparkContext.getConf().getAll()}


def _prepare_environment(master: str, java: Java, cache: Path) -> None:
    import pyspark

    os.environ["JAVA_HOME"] = str(_java_home(java, cache))
    # Tasks must import what this process imports.
    ours = {
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
    }
    if master.startswith("local"):
        # What a shell names for other work fits neither this Python nor this PySpark.
        os.environ.update(ours)
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    else:
        for name, value in ours.items():
            os.environ.setdefault(name, value)


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
