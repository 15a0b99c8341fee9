"""Interests and links as Parquet: what is read, what is refused, how links appear whole or not at all.

Interests are a frame ``(broker string, topic string)``. A null topic stands for a broker without topics, which a
database can hold and a file cannot.
"""

from __future__ import annotations

import contextlib
import os
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StringType

from algorithms.errors import BadInput
from algorithms.files import INTERESTS, LINKS
from algorithms.ids import LONGEST_ID, why_unfit
from spark.errors import JobFailed, told

_UNREADABLE = {
    "PATH_NOT_FOUND": "there is no such file",
    "UNABLE_TO_INFER_SCHEMA": "there is no Parquet file in this folder",
}


def read_interests(session: SparkSession, path: str) -> DataFrame:
    """The columns ``broker`` and ``topic`` of a Parquet file or folder; other columns are ignored."""
    return _read(session, "interests", path, INTERESTS)


def read_links(session: SparkSession, path: str) -> DataFrame:
    """The columns ``broker_a`` and ``broker_b`` of a Parquet file or folder."""
    return _read(session, "links", path, LINKS)


def check_links_path(links: str) -> None:
    """Raise :class:`BadInput` for a name that links cannot have: asked before anything is started."""
    if not links.rstrip("/").endswith(".parquet"):
        raise BadInput("links", links, "the name must end in .parquet")


def check_apart(session: SparkSession, interests: str, links: str) -> None:
    """Raise :class:`BadInput` where writing the links would take the interests away, whatever the two are called."""
    taken = [_place(session, path) for path in (links, _unfinished(links), _earlier(links))]
    for source in _places(session, interests):
        for place in taken:
            if source == place:
                raise BadInput("links", links, "these are the interests themselves")
            if source.startswith(f"{place}/"):
                raise BadInput("links", links, f"the interests are in there ({source})")
            if place.startswith(f"{source}/"):
                raise BadInput("links", links, f"this is inside the interests ({source})")


def check_writable(session: SparkSession, links: str) -> None:
    """Raise :class:`BadInput` where no links can be written: asked before the work rather than after it."""
    unfinished = _path(session, _unfinished(links))
    try:
        files = unfinished.getFileSystem(session._jsc.hadoopConfiguration())
        made = files.mkdirs(unfinished)
        files.delete(unfinished, True)
    except Py4JJavaError as error:
        raise BadInput("links", links, told(error)) from None
    if not made:
        raise BadInput("links", links, "nothing can be written there")


def write_links(links: DataFrame, path: str) -> None:
    """Write ``(broker_a, broker_b)`` as a folder of Parquet files, in place of what was there.

    Written beside it; then what was there is put aside, this in its place, and only then the other taken away: at every
    moment one of the two is there whole, and a job that fails leaves the links of before.
    """
    session = links.sparkSession
    target, unfinished, earlier = (_path(session, name) for name in (path, _unfinished(path), _earlier(path)))
    files = target.getFileSystem(session._jsc.hadoopConfiguration())
    if files.exists(earlier) and not files.exists(target):
        _move(files, earlier, target)  # a job ended between the two moves
    try:
        links.write.mode("overwrite").parquet(_unfinished(path))
    except BaseException:
        with contextlib.suppress(PySparkException, Py4JError, OSError):
            files.delete(unfinished, True)
        raise
    files.delete(earlier, True)
    replaces = files.exists(target)
    if replaces:
        _move(files, target, earlier)
    try:
        _move(files, unfinished, target)
    except BaseException:
        if replaces:
            _move(files, earlier, target)
        raise
    files.delete(earlier, True)


def _unfinished(path: str) -> str:
    return f"{path.rstrip('/')}.unfinished"


def _earlier(path: str) -> str:
    return f"{path.rstrip('/')}.earlier"


def _path(session: SparkSession, name: str) -> Any:
    gateway = session.sparkContext._jvm
    assert gateway is not None
    return gateway.org.apache.hadoop.fs.Path(name)


def _place(session: SparkSession, name: str, path: Any = None) -> str:
    """Where a path leads, by its one whole name: other ways to write it, and links on this machine, make no difference."""
    path = path or _path(session, name)
    whole = path.getFileSystem(session._jsc.hadoopConfiguration()).makeQualified(path).toUri()
    if whole.getScheme() == "file":
        return f"file:{os.path.realpath(whole.getPath())}"
    return str(whole.normalize().toString()).rstrip("/")


def _places(session: SparkSession, name: str) -> list[str]:
    """The same of all that a path with wildcards stands for."""
    path = _path(session, name)
    found = path.getFileSystem(session._jsc.hadoopConfiguration()).globStatus(path)
    return [_place(session, name, status.getPath()) for status in found or ()] or [_place(session, name)]


def _move(files: Any, source: Any, target: Any) -> None:
    if not files.rename(source, target):
        raise JobFailed(f"{source} cannot be renamed to {target}")


def unfit_in(column: str, *, null_is_fine: bool = False) -> Column:
    """An aggregate: a row ``(value)`` that holds some value of a column that cannot be an id, else null."""
    value = sf.col(column)
    odd = _unfit(value) & value.isNotNull() if null_is_fine else _unfit(value)
    return sf.first(sf.when(odd, sf.struct(value.alias("value"))), ignorenulls=True)


def refuse(found: Row | None, field: str) -> None:
    """Raise :class:`BadInput` for what :func:`unfit_in` found."""
    if found is not None:
        value = found["value"]
        reason = "an id cannot be null" if value is None else why_unfit(value)
        raise BadInput(field, value, reason or "an id is valid UTF-8")


def _unfit(value: Column) -> Column:
    return (
        value.isNull()
        | (sf.length(value) == 0)
        | (sf.length(value) > LONGEST_ID)
        | value.isin(".", "..")
        | value.rlike("[\\x00-\\x1f\\x7f-\\x9f]")
        | ~sf.is_valid_utf8(value)
    )


def _read(session: SparkSession, what: str, path: str, fields: tuple[str, str]) -> DataFrame:
    if not path.rstrip("/").endswith(".parquet"):
        raise BadInput(what, path, "the name must end in .parquet")
    try:
        frame = session.read.parquet(path)
    except AnalysisException as error:
        reason = _UNREADABLE.get(error.getCondition() or "", told(error))
        raise BadInput(what, path, reason) from None
    except Py4JJavaError as error:
        if "CANNOT_READ_FILE_FOOTER" not in str(error):
            raise
        raise BadInput(what, path, told(error)) from None
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    for field in fields:
        if field not in kinds:
            raise BadInput(
                what, ",".join(kinds), f"{path} must have the columns {','.join(fields)}, {field} is missing"
            )
        if not isinstance(kinds[field], StringType):
            raise BadInput(what, kinds[field].simpleString(), f"{path}, column {field}: ids are strings")
    return frame.select(*fields)
