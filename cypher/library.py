"""The analysts' library: ``cypher/analysis/``, one question a file, described by the comment at its head.

A file can be pasted into any Neo4j browser as it stands; the same comment tells people, the API, the command line and
the console what is asked::

    // Which brokers keep the most links?            the question, one line
    //
    // What to know about the answer.                any number of lines, or none
    //
    // Group: degrees
    // Parameters:
    //   $limit (integer, default 20, at least 1): so many rows at the most
    // Columns:
    //   broker: the broker's id
    //   degree: its links
    // Example:
    //   :param limit => 20
    MATCH ...

A parameter is a string, integer, number or boolean. ``default`` is followed by a JSON value; without one the parameter
has to be given. ``at least N`` and ``at most N`` bound a number, ``ISO time`` asks a string for a day or a time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

Type = Literal["string", "integer", "number", "boolean"]
Value = str | int | float | bool

_PARAMETER = re.compile(r"\$(\w+) \((string|integer|number|boolean)(?:, ([^)]*))?\): (.+)")
_COLUMN = re.compile(r"(\w+): (.+)")
_EXAMPLE = re.compile(r":param (\w+) => (.+)")
_SECTIONS = ("Parameters:", "Columns:", "Example:")


class BadHead(ValueError):
    """The comment at the head of a query cannot be read; the text names the file and the line."""


@dataclass(frozen=True)
class Parameter:
    """What a query is told."""

    name: str
    type: Type
    description: str
    default: Value | None = None
    """None: it has to be given."""
    minimum: int | None = None
    maximum: int | None = None
    is_time: bool = False
    example: Value | None = None


@dataclass(frozen=True)
class Column:
    """What a query answers, row by row."""

    name: str
    description: str


@dataclass(frozen=True)
class Query:
    """One question with its statement."""

    name: str
    group: str
    title: str
    notes: str
    parameters: tuple[Parameter, ...]
    columns: tuple[Column, ...]
    example: str
    """The parameters as a Neo4j browser wants them, a line each."""
    cypher: str
    """The whole file."""

    def describe(self) -> dict[str, Any]:
        """The question without its statement, as JSON."""
        return {
            "name": self.name,
            "group": self.group,
            "title": self.title,
            "notes": self.notes,
            "parameters": [_describe(parameter) for parameter in self.parameters],
            "columns": [{"name": column.name, "description": column.description} for column in self.columns],
            "example": self.example,
        }


@cache
def queries() -> dict[str, Query]:
    """Every query of the library by its name, in the order of groups and names."""
    folder = files(__package__) / "analysis"
    found = [
        parse(entry.name.removesuffix(".cypher"), entry.read_text(encoding="utf-8"))
        for entry in folder.iterdir()
        if entry.name.endswith(".cypher")
    ]
    return {query.name: query for query in sorted(found, key=lambda query: (query.group, query.name))}


def parse(name: str, text: str) -> Query:
    """The query of one file's text; :class:`BadHead` where its head is not as described above.

    >>> parse("hubs", "// Who?\\n//\\n// Group: degrees\\n// Columns:\\n//   broker: its id\\nRETURN 1 AS broker").columns
    (Column(name='broker', description='its id'),)
    """
    head = list(_head(text))
    if not head or not head[0].endswith("?"):
        raise BadHead(f"{name}.cypher: the first line must be the question, and end with a question mark")
    groups = [line for line in head if line.startswith("Group: ")]
    if len(groups) != 1:
        raise BadHead(f"{name}.cypher: one line must begin with 'Group: ' (found {len(groups)})")
    start = head.index(groups[0])
    lines = _sections(name, head[start + 1 :])
    example = {key: _literal(name, value) for key, value in _matches(name, _EXAMPLE, lines["Example:"])}
    parameters = tuple(
        _parameter(name, found, example) for found in _matches(name, _PARAMETER, lines["Parameters:"])
    )
    columns = tuple(Column(*found) for found in _matches(name, _COLUMN, lines["Columns:"]))
    if not columns:
        raise BadHead(f"{name}.cypher: no column is described")
    if list(example) != [parameter.name for parameter in parameters]:
        raise BadHead(f"{name}.cypher: the example must give every parameter, in their order")
    notes = " ".join(line for line in head[1:start] if line)
    return Query(
        name, groups[0].removeprefix("Group: "), head[0], notes, parameters, columns,
        "\n".join(lines["Example:"]), text,
    )  # fmt: skip


def _head(text: str) -> Iterator[str]:
    """The lines of the comment a text begins with, without their slashes."""
    for line in text.splitlines():
        if not line.startswith("//"):
            return
        yield line[2:].strip()


def _sections(name: str, head: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {title: [] for title in _SECTIONS}
    current: list[str] | None = None
    for line in head:
        if line in found:
            current = found[line]
        elif current is None:
            raise BadHead(f"{name}.cypher: no section begins with {line!r}; there are {', '.join(_SECTIONS)}")
        else:
            current.append(line)
    return found


def _matches(name: str, pattern: re.Pattern[str], lines: list[str]) -> Iterator[tuple[str, ...]]:
    for line in lines:
        match = pattern.fullmatch(line)
        if match is None:
            raise BadHead(f"{name}.cypher: cannot be read: {line!r}")
        yield match.groups(default="")


def _parameter(query: str, found: tuple[str, ...], example: dict[str, Any]) -> Parameter:
    name, type_, traits, description = found
    more: dict[str, Any] = {}
    for trait in filter(None, traits.split(", ")):
        if trait.startswith("default "):
            more["default"] = _json(query, trait.removeprefix("default "))
        elif trait.startswith("at least "):
            more["minimum"] = _json(query, trait.removeprefix("at least "))
        elif trait.startswith("at most "):
            more["maximum"] = _json(query, trait.removeprefix("at most "))
        elif trait == "ISO time":
            more["is_time"] = True
        else:
            raise BadHead(f"{query}.cypher: ${name} is told something unknown: {trait!r}")
    return Parameter(name, type_, description, example=example.get(name), **more)  # type: ignore[arg-type]


def _literal(name: str, text: str) -> Value:
    """A literal of Cypher: a quoted string, or what JSON writes the same way."""
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1]
    return _json(name, text)


def _json(name: str, text: str) -> Value:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, (str, int, float, bool)):
        raise BadHead(f"{name}.cypher: neither a number, nor a text, nor true or false: {text!r}")
    return value


def _describe(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "type": parameter.type,
        "default": parameter.default,
        "required": parameter.default is None,
        "description": parameter.description,
        "minimum": parameter.minimum,
        "maximum": parameter.maximum,
        "example": parameter.example,
    }
