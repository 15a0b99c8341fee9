"""Interests and links as Parquet: what is read, what is refused, how links appear whole or not at all.

Interests are a frame ``(broker string, topic string)``. A null topic stands for a broker without topics, which a
database can hold and a file cannot.
"""

from __future__ import annotations

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StringType

from algorithms.errors import BadInput
from algorithms.files import INTERESTS, LINKS
from algorithms.ids import LONGEST_ID, why_unfit


def read_interests(session: SparkSession, path: str) -> DataFrame:
    """The columns ``broker`` and ``topic`` of a Parquet file or folder; other columns are ignored."""
    return _read(session, "interests", path, INTERESTS)


def read_links(session: SparkSession, path: str) -> DataFrame:
    """The columns ``broker_a`` and ``broker_b`` of a Parquet file or folder."""
    return _read(session, "links", path, LINKS)


def check_links_path(interests: str, links: str) -> None:
    """Raise :class:`BadInput` for a place where links cannot go: asked before the work, not after."""
    if not links.rstrip("/").endswith(".parquet"):
        raise BadInput("links", links, "the name must end in .parquet")
    if links.rstrip("/") == interests.rstrip("/"):
        raise BadInput("links", links, "these are the interests themselves")


def write_links(links: DataFrame, path: str) -> None:
    """Write ``(broker_a, broker_b)`` as a folder of Parquet files, in place of what was there.

    Written beside it and renamed, so that a job that fails leaves the links of before.
    """
    unfinished = f"{path.rstrip('/')}.unfinished"
    links.write.mode("overwrite").parquet(unfinished)
    session = links.sparkSession
    gateway = session.sparkContext._jvm
    assert gateway is not None
    target, source = gateway.org.apache.hadoop.fs.Path(path), gateway.org.apache.hadoop.fs.Path(unfinished)
    files = target.getFileSystem(session._jsc.hadoopConfiguration())
    files.delete(target, True)
    if not files.rename(source, target):
        raise BadInput("links", path, f"cannot be put in place; the links are in {unfinished}")


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
        missing = error.getCondition() in {"PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA"}
        reason = "there is no such file" if missing else str(error).splitlines()[0]
        raise BadInput(what, path, reason) from None
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    for field in fields:
        if field not in kinds:
            raise BadInput(
                what, ",".join(kinds), f"{path} must have the columns {','.join(fields)}, {field} is missing"
            )
        if not isinstance(kinds[field], StringType):
            raise BadInput(what, kinds[field].simpleString(), f"{path}, column {field}: ids are strings")
    return frame.select(*fields)
