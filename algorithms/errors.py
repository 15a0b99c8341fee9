"""What the algorithms refuse, and how they say so.

::

    AlgorithmsError
    ├── BadInput              a value the caller can correct; names the field and the value
    │   ├── UnknownAlgorithm
    │   ├── UnknownParameter
    │   └── BadFile           names file, line and field
    └── Cancelled             raised by a progress callback to stop a build
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path


class AlgorithmsError(Exception):
    """Root of everything this package raises on purpose.

    >>> issubclass(BadInput, AlgorithmsError), issubclass(Cancelled, AlgorithmsError)
    (True, True)
    """


class BadInput(AlgorithmsError, ValueError):
    """A value that cannot be used: ``field`` says where it stood, ``value`` what it was.

    >>> error = BadInput("rho", 0.5, "must be at least 1")
    >>> str(error), error.field, error.value
    ('rho: must be at least 1 (got 0.5)', 'rho', 0.5)
    """

    def __init__(self, field: str, value: object, reason: str) -> None:
        self.field = field
        self.value = value
        self.reason = reason
        super().__init__(f"{field}: {reason} (got {shown(value)})")


class UnknownAlgorithm(BadInput):
    """No algorithm of that name is registered.

    >>> str(UnknownAlgorithm("waeve", ["gm", "weave"]))
    "algorithm: no such algorithm, did you mean 'weave'? (got 'waeve')"
    """

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__("algorithm", name, f"no such algorithm{nearest(name, known)}")


class UnknownParameter(BadInput):
    """The algorithm takes no parameter of that name.

    >>> str(UnknownParameter("gm", "round", 2, ["seed", "rounds"]))
    "round: gm takes no such parameter, did you mean 'rounds'? (got 2)"
    """

    def __init__(self, algorithm: str, name: str, value: object, known: Iterable[str]) -> None:
        super().__init__(name, value, f"{algorithm} takes no such parameter{nearest(name, known)}")


class BadFile(BadInput):
    """A file that cannot be read as interests or links.

    >>> str(BadFile(Path("interests.csv"), "is empty", line=7, field="topic", value=""))
    "interests.csv, line 7, topic: is empty (got '')"
    """

    def __init__(
        self, path: Path, reason: str, *, line: int | None = None, field: str = "file", value: object = None
    ) -> None:
        self.path = path
        self.line = line
        place = str(path) if line is None else f"{path}, line {line}"
        super().__init__(field, path if value is None else value, reason)
        self.args = (f"{place}, {field}: {reason}" + ("" if value is None else f" (got {shown(value)})"),)


class Cancelled(AlgorithmsError):
    """A progress callback raises this to stop a build; nothing is returned.

    >>> from algorithms import Interests, build
    >>> def stop(share: float, stage: str) -> None:
    ...     raise Cancelled("enough")
    >>> build("gm", Interests.from_mapping({"a": ["x"], "b": ["x"]}), progress=stop)
    Traceback (most recent call last):
    algorithms.errors.Cancelled: enough
    """


def nearest(name: str, known: Iterable[str]) -> str:
    """``, did you mean 'gm'?`` where something known is close, else nothing."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f", did you mean {close[0]!r}?" if close else ""


def shown(value: object) -> str:
    """A value short enough for one line of an error message."""
    text = str(value) if isinstance(value, Path) else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
