"""The analysts' library on the live database: parameters checked, run for reading only, answers as JSON."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import neo4j.graph
import neo4j.time
from neo4j.exceptions import Neo4jError
from neo4j.spatial import Point

from algorithms.errors import shown
from backend.errors import BadValue, NotFound, TooMuchWork, first_line
from backend.store import Database
from backend.times import stamp
from cypher.library import Parameter, Query, queries

_OFFSET = r"Z|[+-](0\d|1[0-7]):[0-5]\d|[+-]18:00"
"""Neo4j knows no offset beyond 18 hours."""
_TIME = re.compile(rf"\d{{4}}-\d\d-\d\d(T([01]\d|2[0-3]):\d\d(:\d\d(\.\d{{1,9}})?)?({_OFFSET})?)?", re.ASCII)
_LARGEST = 2**63
"""Cypher's integers have 64 bits."""


@dataclass(frozen=True)
class Answer:
    """What a query found."""

    columns: list[str]
    rows: list[list[Any]]
    seconds: float
    truncated: bool
    """There are more rows than the installation sends."""


def find_query(name: str) -> Query:
    """The query of that name; :class:`NotFound` if there is none."""
    query = queries().get(name)
    if query is None:
        raise NotFound(f"query: no such query (got {shown(name)})", field="query")
    return query


async def run_query(
    database: Database, query: Query, given: Mapping[str, Any], *, seconds: float, rows: int
) -> Answer:
    """Ask the database; a value that cannot be used is refused before anything is asked."""
    parameters = check_parameters(query, given)
    started = time.perf_counter()
    try:
        columns, found, truncated = await database.ask(query.cypher, parameters, seconds=seconds, rows=rows)
    except Neo4jError as error:
        if problem := _too_much(query, error, seconds) or _unfit(query, error):
            raise problem from None
        raise
    return Answer(
        columns,
        [[to_json(value) for value in row] for row in found],
        time.perf_counter() - started,
        truncated,
    )


def check_parameters(query: Query, given: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter of the query with the value given or its default; BadValue names what cannot be used.

    >>> check_parameters(find_query("hubs"), {})
    {'limit': 20}
    """
    names = [parameter.name for parameter in query.parameters]
    for name, value in given.items():
        if name not in names:
            known = ", ".join(names) or "none"
            raise BadValue(
                f"{name}: {query.name} has no such parameter; it has {known} (got {shown(value)})", field=name
            )
    checked = {}
    for parameter in query.parameters:
        value = given.get(parameter.name)
        if value is None:
            value = parameter.default
        if value is None:
            raise BadValue(
                f"{parameter.name}: {query.name} needs it: {parameter.description} (got None)",
                field=parameter.name,
            )
        checked[parameter.name] = _checked(parameter, value)
    return checked


def _checked(parameter: Parameter, value: Any) -> Any:
    wanted = {
        "string": "a text",
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
    }[parameter.type]
    fits = {
        "string": isinstance(value, str),
        "integer": isinstance(value, int) and not isinstance(value, bool),
        "number": isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value),
        "boolean": isinstance(value, bool),
    }[parameter.type]
    if not fits:
        raise _refusal(parameter, value, f"must be {wanted}")
    if isinstance(value, str):
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise _refusal(parameter, value, "must be a text without lone surrogates")
        if parameter.is_time and not _is_time(value):
            raise _refusal(
                parameter, value, "must be a day or a time like 2026-11-16 or 2026-11-16T19:20:01Z"
            )
        return value
    low = -_LARGEST if parameter.minimum is None else parameter.minimum
    high = _LARGEST - 1 if parameter.maximum is None else parameter.maximum
    if not low <= value <= high:
        raise _refusal(parameter, value, f"must be at least {low} and at most {high}")
    return value


def _is_time(text: str) -> bool:
    if not _TIME.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(re.sub(r"\.\d+", "", text))  # Neo4j knows nanoseconds, Python does not
    except ValueError:
        return False
    return True


def _refusal(parameter: Parameter, value: Any, reason: str) -> BadValue:
    return BadValue(f"{parameter.name}: {reason} (got {shown(value)})", field=parameter.name)


def _too_much(query: Query, error: Neo4jError, seconds: float) -> TooMuchWork | None:
    code = error.code or ""
    if "TransactionTimedOut" in code:
        return TooMuchWork(
            f"{query.name} takes longer than the {seconds:g} s a query is given here (TOPICWEAVE_QUERY_SECONDS)"
        )
    if "OutOfMemory" in code:
        return TooMuchWork(
            f"{query.name} needs more memory than Neo4j gives a query; a smaller limit or another parameter may help"
        )
    return None


def is_refused(error: Neo4jError) -> bool:
    """Whether Neo4j refused a statement or its values; it did not where others deleted what was being read.

    >>> is_refused(Neo4jError())
    False
    """
    code = error.code or ""
    return code.startswith("Neo.ClientError.Statement.") and not code.endswith(".EntityNotFound")


def _unfit(query: Query, error: Neo4jError) -> BadValue | None:
    # The statements themselves are good: even a syntax error is about a text that a value was to be read from.
    if query.parameters and is_refused(error):
        return BadValue(
            f"params: {query.name} cannot be answered with these values: {first_line(error)}", field="params"
        )
    return None


def to_json(value: Any) -> Any:
    """A value of Neo4j as JSON: moments as everywhere in the API, nodes and relationships as their properties.

    >>> to_json([neo4j.time.Date(2026, 11, 16), float("nan"), {"a": (1, None)}])
    ['2026-11-16', None, {'a': [1, None]}]
    """
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (str, int, float)):
        return value
    if type(value) in (list, tuple):  # durations and points are tuples too
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()}
    return _special(value)


def _special(value: Any) -> Any:
    if isinstance(value, neo4j.time.DateTime):
        return stamp(value.to_native()) if value.tzinfo else value.iso_format()
    if isinstance(value, datetime):
        return stamp(value)
    if isinstance(value, (neo4j.time.Date, neo4j.time.Time, neo4j.time.Duration)):
        return value.iso_format()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, neo4j.graph.Node):
        return {"labels": sorted(value.labels), "properties": to_json(dict(value))}
    if isinstance(value, neo4j.graph.Relationship):
        return {"type": value.type, "properties": to_json(dict(value))}
    if isinstance(value, neo4j.graph.Path):
        return {
            "nodes": [to_json(node) for node in value.nodes],
            "relationships": [to_json(relationship) for relationship in value.relationships],
        }
    if isinstance(value, Point):
        return {"srid": value.srid, "coordinates": list(value)}
    return str(value)
