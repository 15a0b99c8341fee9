"""``backup`` and ``restore``: the whole installation as one file, and back."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import click

from algorithms.errors import BadFile
from backend.cli.check import PATIENCE, tell_check
from backend.cli.forms import AS_JSON, FILE, print_json
from backend.cli.imports import send_files
from backend.cli.remote import Remote
from backend.cli.system import home_option


@click.command("backup")
@click.argument("file", type=FILE)
@home_option
def backup(file: Path, home: Path | None) -> None:
    """Write the overlay of this moment, its history and its keys to FILE (.zip), while the system goes on."""
    if not file.name.endswith(".zip"):
        raise BadFile(file, "the name must end in .zip")
    if file.is_dir() or not os.access(file.parent, os.W_OK | os.X_OK):
        raise BadFile(file, "it cannot be written: its folder is missing or closed to you")
    # Whole or not at all: a backup that was there before stays until the new one is complete.
    with (
        Remote.of_home(home) as api,
        tempfile.NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.", delete=False) as unfinished,
    ):
        partial = Path(unfinished.name)
        try:
            version = api.download("/v1/backup", unfinished, timeout=PATIENCE)["X-Overlay-Version"]
            unfinished.flush()
            os.fsync(unfinished.fileno())
            partial.replace(file)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
    click.echo(f"{file}: version {version}, {file.stat().st_size / 1e6:,.1f} MB")


@click.command("restore")
@click.argument("file", type=FILE)
@home_option
@AS_JSON
def restore(file: Path, home: Path | None, as_json: bool) -> int:
    """Restore FILE into a running system whose overlay is empty, and check it."""
    if not file.name.endswith(".zip"):
        raise BadFile(file, "the name must end in .zip")
    with Remote.of_home(home) as api:
        job = send_files(api, "/v1/restores", {"backup": file}, {}, as_json=as_json)
        report = api.get("/v1/check", timeout=PATIENCE)
    result = job["result"]
    if as_json:
        print_json({"restore": result, "check": report})
        return 0 if report["good"] else 1
    click.echo(
        f"version {result['version']}: {result['brokers']:,} brokers, {result['subscriptions']:,} subscriptions,"
        f" {result['links']:,} links, {result['changes']:,} changes, {result['keys']:,} keys"
    )
    if result["keys_left_out"]:
        click.echo(f"keys left out, their names work here already: {', '.join(result['keys_left_out'])}")
    tell_check(report)
    return 0 if report["good"] else 1
