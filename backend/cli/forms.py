"""What commands share: the type of a file argument, ``--json``, and how figures are printed."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.table import Table

FILE = click.Path(path_type=Path)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON for a program.")


def figures_table() -> Table:
    """A table of names and texts, without lines or headings."""
    return Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))


def print_json(value: object) -> None:
    """A value for a program, still readable by a person."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))
