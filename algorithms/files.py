"""Interests and links in files: ``.csv``, ``.csv.gz`` and ``.parquet``, ids as strings.

Interests have the columns ``broker,topic``, links ``broker_a,broker_b``; other columns are ignored. pyarrow reads
whole files fast but says little about a broken row, so a file it refuses is read again row by row, only to name the
line and the field at fault.
"""

from __future__ import annotations

import csv
import gzip
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pyarrow
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet

from algorithms.errors import BadFile
from algorithms.ids import why_unfit
from algorithms.interests import Interests, Ints
from algorithms.overlay import Overlay

INTERESTS = ("broker", "topic")
LINKS = ("broker_a", "broker_b")
KINDS = (".csv", ".csv.gz", ".parquet")
_UNDECODED = re.compile("[\ud800-\udfff]")


def read_interests(path: str | Path) -> Interests:
    """Interests from a file with the columns ``broker,topic``; duplicate rows are collapsed and counted.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "interests.csv"
    ...     _ = file.write_text("broker,topic\\na,x\\nb,x\\nb,x\\n")
    ...     interests = read_interests(file)
    >>> interests, interests.duplicates
    (<Interests: 2 brokers, 1 topics, 2 subscriptions>, 1)
    """
    source = Path(path)
    table = _read(source, INTERESTS)
    brokers, broker_of_row = _ranked(table.column("broker"))
    topics, topic_of_row = _ranked(table.column("topic"))
    return Interests.from_dense(brokers, topics, broker_of_row, topic_of_row)


def read_links(path: str | Path, interests: Interests) -> Overlay:
    """An overlay from a file with the columns ``broker_a,broker_b``, whose brokers the interests know.

    >>> import tempfile
    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "links.csv"
    ...     _ = file.write_text("broker_a,broker_b\\nb,a\\n")
    ...     read_links(file, interests).link_names()
    [('a', 'b')]
    """
    source = Path(path)
    table = _read(source, LINKS)
    rank = {name: v for v, name in enumerate(interests.brokers)}
    ends = np.empty((len(table), 2), np.int32)
    for side, field in enumerate(LINKS):
        names, of_row = _ranked(table.column(field))
        known = np.fromiter((rank.get(name, -1) for name in names), np.int32, len(names))
        ends[:, side] = known[of_row]
        strangers = np.flatnonzero(ends[:, side] < 0)
        if len(strangers):
            row = int(strangers[0])
            raise BadFile(
                source,
                "no broker of this id in the interests",
                line=_line_of_row(source, row),
                field=field,
                value=names[of_row[row]],
            )
    loops = np.flatnonzero(ends[:, 0] == ends[:, 1])
    if len(loops):
        row = int(loops[0])
        raise BadFile(
            source,
            "a broker cannot have a link to itself",
            line=_line_of_row(source, row),
            field=LINKS[1],
            value=interests.brokers[ends[row, 1]],
        )
    return Overlay.from_links(interests, ends)


def write_interests(interests: Interests, path: str | Path) -> None:
    """Write interests, one subscription a row, by broker and topic.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "interests.csv"
    ...     write_interests(Interests.from_mapping({"b": ["x"], "a": ["y", "x"]}), file)
    ...     file.read_text().split()
    ['broker,topic', 'a,x', 'a,y', 'b,x']
    """
    rows = np.repeat(np.arange(len(interests.brokers), dtype=np.int32), interests.broker_sizes())
    _write(Path(path), INTERESTS, (interests.brokers, rows), (interests.topics, interests.broker_topics))


def write_links(overlay: Overlay, path: str | Path) -> None:
    """Write the links of an overlay, the smaller id first.

    >>> import tempfile
    >>> overlay = Overlay.from_names(Interests.from_mapping({"a": ["x"], "b": ["x"]}), [("b", "a")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "links.csv"
    ...     write_links(overlay, file)
    ...     file.read_text().split()
    ['broker_a,broker_b', 'a,b']
    """
    names = overlay.interests.brokers
    _write(Path(path), LINKS, (names, overlay.links[:, 0]), (names, overlay.links[:, 1]))


def check_target(path: str | Path) -> None:
    """Raise :class:`BadFile` if nothing can be written there: asked before the work, not after.

    >>> check_target("no such folder/links.csv")
    Traceback (most recent call last):
    algorithms.errors.BadFile: no such folder/links.csv, file: it cannot be written: its folder is missing or closed to you
    """
    target = Path(path)
    _kind(target)
    if target.is_dir():
        raise BadFile(target, "this is a directory")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise BadFile(target, "it cannot be written: its folder is missing or closed to you")


def _kind(path: Path) -> str:
    for kind in reversed(KINDS):
        if path.name.endswith(kind):
            return kind
    raise BadFile(path, f"the name must end in {', '.join(KINDS[:-1])} or {KINDS[-1]}")


def _read(path: Path, fields: tuple[str, str]) -> pyarrow.Table:
    kind = _kind(path)
    # Spark writes a Parquet table as a folder of files.
    if path.is_dir() and (kind != ".parquet" or not any(path.glob("*.parquet"))):
        raise BadFile(path, "this is a directory")
    if not path.exists():
        raise BadFile(path, "there is no such file")
    try:
        table = _read_parquet(path, fields) if kind == ".parquet" else _read_csv(path, fields)
    except (pyarrow.ArrowException, OSError, EOFError) as error:
        if kind != ".parquet" and not isinstance(error, OSError | EOFError):
            _find_fault(path, fields)
        raise BadFile(path, f"it cannot be read: {str(error).splitlines()[0]}") from None
    for field in fields:
        column = table.column(field)
        if column.null_count or any(why_unfit(name) for name in pyarrow.compute.unique(column).to_pylist()):
            _name_unfit_id(path, column, field)
    return table


def _read_csv(path: Path, fields: tuple[str, str]) -> pyarrow.Table:
    with _text(path) as lines:
        header = next(csv.reader(lines), [])
    _check_header(path, header, fields)
    return pyarrow.csv.read_csv(
        path,
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(fields, pyarrow.string()),
            include_columns=fields,
            strings_can_be_null=False,
        ),
    )


def _read_parquet(path: Path, fields: tuple[str, str]) -> pyarrow.Table:
    schema = pyarrow.parquet.ParquetDataset(path).schema
    _check_header(path, schema.names, fields)
    table = pyarrow.parquet.read_table(path, columns=list(fields))
    for field in fields:
        kind = table.schema.field(field).type
        plain = kind.value_type if pyarrow.types.is_dictionary(kind) else kind
        if not (pyarrow.types.is_string(plain) or pyarrow.types.is_large_string(plain)):
            raise BadFile(path, "ids are strings", field=field, value=str(kind))
    return table.cast(pyarrow.schema([(field, pyarrow.string()) for field in fields]))


def _check_header(path: Path, header: list[str], fields: tuple[str, str]) -> None:
    missing = [field for field in fields if field not in header]
    if missing:
        raise BadFile(
            path,
            f"the header must name the columns {','.join(fields)}",
            line=None if _kind(path) == ".parquet" else 1,
            field=missing[0],
            value=",".join(header),
        )


@contextmanager
def _text(path: Path) -> Iterator[TextIO]:
    opened: Any = gzip.open if path.name.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8-sig", errors="surrogateescape", newline="") as lines:
        yield lines


def _find_fault(path: Path, fields: tuple[str, str]) -> None:
    """Raise :class:`BadFile` for the first row that is broken; return if every row can be read."""
    with _text(path) as lines:
        rows = csv.reader(lines, strict=True)
        header: list[str] = []
        try:
            for row in rows:
                header = header or row
                if row and len(row) != len(header):
                    at_fault = header[len(row)] if len(row) < len(header) else header[-1]
                    raise BadFile(
                        path,
                        f"a row has {len(header)} fields",
                        line=rows.line_num,
                        field=at_fault,
                        value=",".join(row),
                    )
                for field, value in zip(header, row, strict=False):
                    if _UNDECODED.search(value):
                        raise BadFile(
                            path, "the text is not UTF-8", line=rows.line_num, field=field, value=value
                        )
        except csv.Error as error:
            raise BadFile(path, str(error), line=rows.line_num, field=fields[0]) from None


def _name_unfit_id(path: Path, column: pyarrow.ChunkedArray, field: str) -> None:
    for row, value in enumerate(column.to_pylist()):
        if reason := why_unfit(value):
            raise BadFile(path, reason, line=_line_of_row(path, row), field=field, value=value)


def _line_of_row(path: Path, wanted: int) -> int | None:
    """The line where a row (counted from 0, header and blank lines left out) stands in a CSV file."""
    if _kind(path) == ".parquet":
        return None
    with _text(path) as lines:
        rows = csv.reader(lines)
        filled = (rows.line_num for row in rows if row)
        return next(line for place, line in enumerate(filled) if place == wanted + 1)


def _ranked(column: pyarrow.ChunkedArray) -> tuple[list[str], Ints]:
    """The distinct ids in code-point order, and the rank of each row's id among them."""
    encoded = pyarrow.chunked_array(column).combine_chunks().dictionary_encode()
    if isinstance(encoded, pyarrow.ChunkedArray):
        encoded = encoded.combine_chunks()
    order = pyarrow.compute.array_sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return encoded.dictionary.take(pyarrow.array(order)).to_pylist(), rank[encoded.indices.to_numpy()]


def _write(path: Path, fields: tuple[str, str], *columns: tuple[tuple[str, ...], Ints]) -> None:
    """Write two columns of ids; the file appears whole or not at all."""
    kind = _kind(path)
    arrays = [
        pyarrow.DictionaryArray.from_arrays(rows, pyarrow.array(names, pyarrow.string())).cast(
            pyarrow.string()
        )
        for names, rows in columns
    ]
    table = pyarrow.table(arrays, names=list(fields))
    try:
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as unfinished:
            finished = Path(unfinished.name)
            try:
                if kind == ".parquet":
                    pyarrow.parquet.write_table(table, unfinished)
                else:
                    _write_csv(table, unfinished, compressed=kind == ".csv.gz")
                unfinished.flush()
                finished.chmod(0o644)
                finished.replace(path)
            except BaseException:
                finished.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise BadFile(path, f"it cannot be written: {error.strerror}") from None


def _write_csv(table: pyarrow.Table, target: Any, *, compressed: bool) -> None:
    header = (",".join(table.column_names) + "\n").encode()
    with (
        gzip.GzipFile(fileobj=target, mode="wb", mtime=0, filename="")
        if compressed
        else nullcontext(target) as out
    ):
        out.write(header)
        pyarrow.csv.write_csv(
            table, out, pyarrow.csv.WriteOptions(include_header=False, quoting_style=_quoting(table))
        )


def _quoting(table: pyarrow.Table) -> str:
    """Quotes only where some id needs them; pyarrow's own "needed" quotes every string."""
    special = any(
        pyarrow.compute.any(pyarrow.compute.match_substring_regex(column, '[",]|^\\s|\\s$')).as_py()
        for column in table.columns
    )
    return "needed" if special else "none"
