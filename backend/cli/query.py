"""``query``: the analysts' library on the running system, as a table, CSV or JSON."""

from __future__ import annotations

import csv
import json
import sys
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click
from rich.console import Console
from rich.table import Table

from backend.cli.forms import AS_JSON, print_json
from backend.cli.remote import QUERY_PATIENCE, Remote
from backend.cli.system import home_option
from backend.errors import BadValue


@click.command()
@click.argument("name", required=False)
@click.option("--param", "given", multiple=True, metavar="K=V", help="A parameter of the query; repeatable.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, the columns' names first.")
@AS_JSON
@click.option(
    "--cypher", "as_cypher", is_flag=True, help="Print the statement, to paste into a Neo4j browser."
)
@home_option
def query(
    name: str | None, given: tuple[str, ...], as_csv: bool, as_json: bool, as_cypher: bool, home: Path | None
) -> None:
    """Ask the overlay the question NAME; without NAME, list the questions."""
    if sum((as_csv, as_json, as_cypher)) > 1:
        raise BadValue("--csv, --json and --cypher: only one of them can be given", field="csv")
    if name is None:
        for option, value in (("--param", given), ("--csv", as_csv), ("--cypher", as_cypher)):
            if value:
                raise BadValue(f"NAME: {option} needs the name of a query (got none)", field="name")
    with Remote.of_home(home) as api:
        if name is None:
            _list(api.get("/v1/queries"), as_json)
            return
        path = f"/v1/queries/{quote(name, safe='')}"
        described = api.get(path)
        if as_cypher:
            click.echo(described["cypher"], nl=False)
            return
        params = parse_params(given, {one["name"]: one["type"] for one in described["parameters"]})
        answer = api.post(f"{path}/run", json={"params": params}, timeout=QUERY_PATIENCE)
    if as_json:
        print_json(answer)
    elif as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(answer["columns"])
        writer.writerows([_cell(value) for value in row] for row in answer["rows"])
    else:
        _print(answer)
    if answer["truncated"]:
        click.echo(f"only the first {len(answer['rows']):,} rows: there are more", err=True)


def parse_params(given: tuple[str, ...], types: dict[str, str]) -> dict[str, Any]:
    """Values by the types that the query declares; what it does not know goes to the API, which says so.

    >>> parse_params(("limit=5", "broker=5", "since=a=b"), {"limit": "integer", "broker": "string", "since": "string"})
    {'limit': 5, 'broker': '5', 'since': 'a=b'}
    """
    params: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise BadValue(f"--param: must be a name, =, and a value (got {text!r})", field="param")
        if name in params:
            raise BadValue(f"--param: {name} is given twice (got {text!r})", field=name)
        params[name] = _value(name, value, types.get(name, "string"))
    return params


def _value(name: str, text: str, kind: str) -> Any:
    try:
        if kind == "integer":
            return int(text)
        if kind == "number":
            return float(text)
    except ValueError:
        wanted = "a whole number" if kind == "integer" else "a number"
        raise BadValue(f"{name}: must be {wanted} (got {text!r})", field=name) from None
    if kind == "boolean":
        if text not in ("true", "false"):
            raise BadValue(f"{name}: must be true or false (got {text!r})", field=name)
        return text == "true"
    return text


def _list(answer: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(answer)
        return
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for group, items in groupby(answer["items"], key=lambda item: item["group"]):
        table.add_row(group.upper(), "")
        for item in items:
            asked = " ".join(
                f"{one['name']}=" if one["required"] else f"[{one['name']}={_cell(one['default'])}]"
                for one in item["parameters"]
            )
            table.add_row(f"  {item['name']}", f"{item['title']}  {asked}".rstrip())
    Console(markup=False, highlight=False).print(table)


def _print(answer: dict[str, Any]) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for place, column in enumerate(answer["columns"]):
        values = [row[place] for row in answer["rows"] if row[place] is not None]
        numbers = bool(values) and all(
            isinstance(value, (int, float)) and not isinstance(value, bool) for value in values
        )
        table.add_column(column, justify="right" if numbers else "left", overflow="fold")
    for row in answer["rows"]:
        table.add_row(*(_shown(value) for value in row))
    console = Console(markup=False, highlight=False)
    if not console.is_terminal:
        # A pipe has no right margin.
        wide = console.options.update(max_width=1_000_000)
        console.width = max(console.width, console.measure(table, options=wide).maximum)
    console.print(table)
    rows = len(answer["rows"])
    click.echo(f"{rows:,} row{'' if rows == 1 else 's'} in {answer['seconds']:.2f} s", err=True)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    return _cell(value)


def _cell(value: Any) -> str:
    """A value as one field of text; nothing is lost."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
