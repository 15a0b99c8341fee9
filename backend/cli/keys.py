"""``keys``: who may call the API; thin calls of the running one."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import click
from rich.console import Console
from rich.table import Table

from backend.cli.forms import AS_JSON, print_json
from backend.cli.remote import Remote
from backend.cli.system import home_option


@click.group()
def keys() -> None:
    """Make, list and revoke the keys that the API lets in."""


@keys.command("list")
@home_option
@AS_JSON
def list_keys(home: Path | None, as_json: bool) -> None:
    """Every key that was made, revoked ones too; never the secrets."""
    with Remote.of_home(home) as api:
        answer = api.get("/v1/keys")
    if as_json:
        print_json(answer)
        return
    if not answer["items"]:
        click.echo("no keys but the home's own, called admin")
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("id", "name", "scope", "made", "revoked"):
        table.add_column(heading, overflow="fold")
    for key in answer["items"]:
        table.add_row(key["id"], key["name"], key["scope"], key["created_at"], key["revoked_at"] or "")
    Console(markup=False, highlight=False).print(table)


@keys.command()
@click.argument("name")
@click.option(
    "--scope", type=click.Choice(["read", "operate", "admin"]), required=True, help="How far it reaches."
)
@home_option
@AS_JSON
def add(name: str, scope: str, home: Path | None, as_json: bool) -> None:
    """Make a key for NAME and print it: this once, never again."""
    with Remote.of_home(home) as api:
        made = api.post("/v1/keys", json={"name": name, "scope": scope})
    if as_json:
        print_json(made)
        return
    click.echo(f"key {made['id']} for {name!r}, scope {scope}; it is shown this once:", err=True)
    click.echo(made["key"])


@keys.command()
@click.argument("key_id", metavar="ID")
@home_option
def revoke(key_id: str, home: Path | None) -> None:
    """Make the key ID worthless, within a second wherever the API runs."""
    with Remote.of_home(home) as api:
        revoked = api.delete(f"/v1/keys/{quote(key_id, safe='')}")
    click.echo(f"key {revoked['id']} of {revoked['name']!r} works no more")
