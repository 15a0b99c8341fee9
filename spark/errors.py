"""Every error a job raises on purpose, with its exit code; what Spark raises becomes one of them, in one line.

::

    JobFailed               exit 1: the job did what was asked of it, and could not finish
    ├── PartFailed          raised inside a task: names the part, so that its brokers can be looked at
    └── NotConnected        verified, and not what it should be
    algorithms.BadInput     exit 2: a value the caller can correct
    backend.errors.Problem  its own exit code: no Java, no connector
"""

from __future__ import annotations

import re

from pyspark.errors import PySparkException

_RAISED_IN_A_TASK = re.compile(r"(?:PartFailed|BadInput|NotConnected): (.+)")
_CAUSE = re.compile(r"(?:Caused by: )?[\w.$]+(?:Exception|Error): (.+)")
_WORKER = re.compile(r"^\s*(\w*(?:Error|Exception)\b.*)$", re.MULTILINE)


class JobFailed(Exception):
    """The job ended without its links; the message is one clear line."""

    exit_code = 1


class PartFailed(JobFailed):
    """The work on one part (or group of parts) raised something."""

    def __init__(self, what: str, brokers: int, cause: BaseException | str) -> None:
        reason = cause if isinstance(cause, str) else f"{type(cause).__name__}: {cause}".rstrip(": ")
        super().__init__(f"{what} ({brokers} brokers) failed: {' '.join(reason.split())}")

    def __reduce__(self) -> tuple[type[JobFailed], tuple[str]]:
        # Tasks send errors to the driver as text and as pickles: what arrives is the finished sentence.
        return JobFailed, (str(self),)


class NotConnected(JobFailed):
    """The links do not make every topic (k-)connected."""


def told(error: BaseException) -> str:
    """One line for a person about what Spark raised: our own sentence from inside a task, else the innermost cause."""
    text = _message(error)
    if found := _RAISED_IN_A_TASK.search(text):
        return found[1].strip()
    if "Python worker" in text and (found := _last(_WORKER, text)):
        return found[1].strip()
    if "Neo4j" in text or "neo4j" in text:
        found = _last(_CAUSE, text)
        return f"Neo4j: {found[1].strip()}" if found else text.strip().splitlines()[0]
    found = _last(_CAUSE, text)
    return found[1].strip() if found else (text.strip() or type(error).__name__).splitlines()[0]


def _message(error: BaseException) -> str:
    java = getattr(error, "java_exception", None)
    return f"{error}\n{java}" if java is not None and not isinstance(error, PySparkException) else str(error)


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return next(iter(reversed(list(pattern.finditer(text)))), None)
