"""What the commands of this folder share: options of the session, its life, and how each ends.

Whatever goes wrong is one line on stderr and an exit code: 1 the job failed or was called off, 2 bad input.
"""

from __future__ import annotations

import logging
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

import click
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from algorithms.errors import AlgorithmsError, BadInput, Cancelled
from backend.errors import Problem
from backend.settings import Settings
from spark.errors import JobFailed, java_ended, told
from spark.session import SessionOptions, make_session, under_submit

_SESSION = (
    click.option("--master", default=None, metavar="URL", help="Spark's master  [default: local[*]]"),
    click.option("--memory", default=None, metavar="SIZE", help="Of the driver's Java  [default: 3g]"),
    click.option(
        "--jars",
        default=None,
        help="The Neo4j connector, files or a Maven coordinate; else the locked one is fetched.",
    ),
    click.option("--log-level", default=None, metavar="LEVEL", help="Of Spark itself  [default: OFF]"),
    click.option("--ui", is_flag=True, help="Serve Spark's own pages while the job runs."),
    click.option("--json", "as_json", is_flag=True, help="Print JSON for a program."),
)


def session_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of every command that makes a session."""
    for option in reversed(_SESSION):
        command = option(command)
    return command


def chosen_options(
    master: str | None, memory: str | None, jars: str | None, log_level: str | None, ui: bool
) -> SessionOptions:
    """The session asked for: what was not given comes from the settings."""
    if under_submit():
        given = {"master": master, "memory": memory, "jars": jars, "ui": ui or None}
        for name, value in given.items():
            if value is not None:
                raise BadInput(name, value, "is spark-submit's own to say: give it to that, before the file")
    settings = Settings.load()
    connector = jars if jars is not None else settings.spark_connector
    options = SessionOptions(
        master=master or settings.spark_master,
        memory=memory or settings.spark_memory,
        log_level=(log_level or "OFF").upper(),
        jars=None if connector is None else tuple(connector.split(",")),
        ui=ui,
    )
    options.check()
    return options


@contextmanager
def open_session(options: SessionOptions) -> Iterator[SparkSession]:
    """A session that is stopped in the end; a Java that ends before that is told as what it is."""
    session = make_session(options, say)
    # PySpark's own server would print a traceback of a Java that ends; what it comes to is told once.
    vars(session.sparkContext._accumulatorServer)["handle_error"] = lambda request, address: None
    if options.ui:
        say(f"Spark's own pages are at {session.sparkContext.uiWebUrl}")
    try:
        yield session
    except (PySparkException, Py4JError, OSError, EOFError) as error:
        if _answers(session):
            raise
        raise JobFailed(java_ended(error)) from None
    finally:
        with suppress(Py4JError, OSError), warnings.catch_warnings(action="ignore"):
            session.stop()


def _answers(session: SparkSession) -> bool:
    """Whether the session's Java is there: whatever it was doing, it answers at once."""
    java = session.sparkContext._jvm
    assert java is not None
    try:
        java.System.currentTimeMillis()
    except (Py4JError, OSError):
        return False
    return True


def run(command: click.Command) -> NoReturn:
    """Run a command to its exit code."""

    def stop(_number: int, _frame: object) -> NoReturn:
        raise Cancelled("the job was told to stop")

    signal.signal(signal.SIGTERM, stop)
    # Py4J logs every call that Java does not answer, by the root logger; what it comes to is told once.
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        sys.exit(command.main(standalone_mode=False) or 0)
    except click.ClickException as error:
        _end(error.format_message(), 2)
    except (BadInput, Problem) as error:
        _end(str(error), getattr(error, "exit_code", 2))
    except (JobFailed, AlgorithmsError) as error:
        _end(str(error), 1)
    except (PySparkException, Py4JError, OSError) as error:
        _end(told(error), 1)
    except (click.Abort, KeyboardInterrupt):
        _end("the job was interrupted", 1)


def _end(line: str, code: int) -> NoReturn:
    click.echo(f"error: {' '.join(line.split())}", err=True)
    sys.exit(code)


def say(line: str) -> None:
    """Tell a person how it goes."""
    click.echo(line, err=True)
