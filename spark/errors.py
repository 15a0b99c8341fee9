"""Every error a job raises on purpose, with its exit code; what Spark raises becomes one of them, in one line.

::

    JobFailed               exit 1: the job did what was asked of it, and could not finish
    ├── PartFailed          raised inside a task: names the part (or parts, or topics) it worked on
    └── NotConnected        verified, and not what it should be
    algorithms.BadInput     exit 2: a value the caller can correct
    backend.errors.Problem  its own exit code: no Java, no connector
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np
from pyspark.errors import PySparkException

from algorithms.interests import Ints

_RAISED_IN_A_TASK = tuple(
    re.compile(rf"(?:{names}): (.+)") for names in ("PartFailed", "BadInput|NotConnected")
)
"""What is looked for first: a cause stands before the error that names the part it was raised in."""

_CAUSE = re.compile(r"(?:Caused by: )?[\w.$]+(?:Exception|Error): (.+)")
_WORKER = re.compile(r"^\s*(\w*(?:Error|Exception)\b.*)$", re.MULTILINE)
_WORKER_DIED = re.compile(
    r"Python worker exited unexpectedly|Python worker process .* terminated|ExecutorLostFailure"
)
_TASK = re.compile(r"Task (\d+) in stage")
_NUMBERS_SHOWN = 10


class JobFailed(Exception):
    """The job ended without its links; the message is one clear line."""

    exit_code = 1


class PartFailed(JobFailed):
    """The work of a task raised something; said with what it worked on."""

    def __init__(self, what: str, cause: BaseException | str) -> None:
        reason = cause if isinstance(cause, str) else f"{type(cause).__name__}: {cause}".rstrip(": ")
        super().__init__(f"{what} failed: {' '.join(reason.split())}")

    def __reduce__(self) -> tuple[type[JobFailed], tuple[str]]:
        # Tasks send errors to the driver as text and as pickles: what arrives is the finished sentence.
        return JobFailed, (str(self),)


class NotConnected(JobFailed):
    """The links do not make every topic (k-)connected."""


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Name the work that something raised inside a task was part of."""
    try:
        yield
    except Exception as error:
        raise PartFailed(what, error) from error


def numbers(found: Iterable[int]) -> str:
    """Numbers as a person reads them; of many, the first few."""
    listed = sorted({int(number) for number in found})
    more = len(listed) - _NUMBERS_SHOWN
    shown = ", ".join(map(str, listed[:_NUMBERS_SHOWN]))
    return f"{shown} and {more} more" if more > 0 else shown


def topics_named(topic_of_row: Ints) -> str:
    """Topics of a task, which knows no names: by their places in the order of all topics' ids, from 0 up."""
    return f"topics {numbers(np.unique(topic_of_row))} in the order of ids ({len(topic_of_row)} rows)"


def told(error: BaseException) -> str:
    """One line for a person about what Spark raised: our own sentence from inside a task, else the innermost cause."""
    text = _message(error)
    for pattern in _RAISED_IN_A_TASK:
        if found := pattern.search(text):
            return found[1].strip()
    if _WORKER_DIED.search(text):
        return _death(error, text)
    if "Python worker" in text and (found := _last(_WORKER, text)):
        return found[1].strip()
    if "Neo4j" in text or "neo4j" in text:
        found = _last(_CAUSE, text)
        return f"Neo4j: {found[1].strip()}" if found else text.strip().splitlines()[0]
    found = _last(_CAUSE, text)
    return found[1].strip() if found else (text.strip() or type(error).__name__).splitlines()[0]


def java_ended(error: BaseException) -> str:
    """The same of an error that came of a Java that is gone; a local master's has done all the work."""
    return (
        f"Spark's Java ended{_stage(error)}, most often for lack of memory: give it more (--memory), "
        "or take more parts or a smaller max_part"
    )


def _death(error: BaseException, text: str) -> str:
    """A process that was killed tells nothing: what is known is the stage and the task."""
    task = _TASK.search(text)
    return (
        f"a process of Spark died{_stage(error)}{f' (task {task[1]})' if task else ''}, most often for lack of "
        "memory: take more parts, a smaller max_part or fewer tasks at a time"
    )


def _stage(error: BaseException) -> str:
    """The stage, as it is noted on the error."""
    return "".join(f" {note}" for note in getattr(error, "__notes__", [])[:1])


def _message(error: BaseException) -> str:
    java = getattr(error, "java_exception", None)
    return f"{error}\n{java}" if java is not None and not isinstance(error, PySparkException) else str(error)


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return next(iter(reversed(list(pattern.finditer(text)))), None)
