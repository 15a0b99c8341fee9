"""``up``, ``status`` and ``down``: the system on this machine; one home directory is one installation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import psutil

from backend.errors import CannotRun
from backend.managed.home import Home, Running
from backend.managed.services import get
from backend.settings import Settings

_DOWN_PATIENCE = 90.0

home_option = click.option(
    "--home",
    type=click.Path(path_type=Path),
    help="The installation's directory (default: the user's data directory).",
)


@click.command()
@home_option
@click.option(
    "--api-host", help="The address the API listens on (127.0.0.1); with another, put TLS in front."
)
@click.option("--api-port", type=int, help="Where the API listens (8080).")
@click.option("--console-port", type=int, help="Where the console listens (8501).")
@click.option("--bolt-port", type=int, help="Where Neo4j listens (7687).")
@click.option("--no-console", is_flag=True, help="Leave the console out.")
@click.option("--demo", metavar="NAME", help="Fill a new installation with a demo overlay.")
def up(no_console: bool, **options: Any) -> None:
    """Start the whole system; Ctrl-C stops it."""
    from backend.managed.supervisor import bring_up

    settings = Settings.load(**options)
    if not bring_up(settings, console=not no_console, say=click.echo):
        # Stopped by a signal before it was up: whoever waits for it must not think it came up.
        raise click.Abort


@click.command()
@home_option
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def status(home: Path | None, as_json: bool) -> int:
    """Say whether the system runs, where, and what it holds (exit 0: it runs, 1: it does not)."""
    settings = Settings.load(home=home)
    place = Home(settings.home)
    running = place.running()
    if running is not None and not running.alive():
        running = None
    overlay = _overlay(settings, running) if running else None
    if as_json:
        click.echo(json.dumps(_facts(place, running, overlay), indent=1))
    else:
        _tell(place, running, overlay)
    return 0 if running is not None and running.state == "running" else 1


@click.command()
@home_option
def down(home: Path | None) -> None:
    """Stop the system, and whatever an `up` that was killed left behind."""
    from backend.managed.supervisor import stop_orphans

    place = Home(Settings.load(home=home).home)
    running = place.running()
    if running is None:
        click.echo(f"nothing runs in {place.path}")
        return
    if process := running.up.find():
        click.echo(f"stopping the system in {place.path} (process {process.pid})")
        try:
            process.terminate()
        except psutil.NoSuchProcess:
            pass
        except psutil.AccessDenied:
            raise CannotRun(
                f"process {process.pid} belongs to someone else: it cannot be stopped from here"
            ) from None
        if not running.up.wait_until_gone(_DOWN_PATIENCE):
            raise CannotRun(f"process {process.pid} is still stopping after {_DOWN_PATIENCE:.0f} s")
    with place.locked():
        stop_orphans(place, click.echo)
    click.echo("all stopped")


def _overlay(settings: Settings, running: Running) -> dict[str, Any] | None:
    """What /v1/overlay answers, if it does."""
    try:
        key = settings.api_key_file.read_text(encoding="utf-8").strip()
    except OSError:
        return None
    answer = get(f"{running.api}/v1/overlay", {"X-API-Key": key})
    if answer is None or answer[0] != 200:
        return None
    try:
        overlay = json.loads(answer[1])
    except ValueError:
        return None
    return overlay if isinstance(overlay, dict) else None


def _facts(place: Home, running: Running | None, overlay: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "home": str(place.path),
        "state": running.state if running else "stopped",
        "pid": running.up.pid if running else None,
        "api": running.api if running else None,
        "console": running.console if running else None,
        "neo4j": running.neo4j if running else None,
        "overlay": overlay,
    }


def _tell(place: Home, running: Running | None, overlay: dict[str, Any] | None) -> None:
    if running is None:
        click.echo(f"not running (home {place.path})")
        return
    click.echo(f"{running.state} (home {place.path}, process {running.up.pid})")
    if running.console:
        click.echo(f"  console  {running.console}")
    click.echo(f"  API      {running.api}")
    click.echo(f"  Neo4j    {running.neo4j}")
    if overlay:
        counted = ", ".join(
            f"{overlay[name]} {name}"
            for name in ("brokers", "topics", "subscriptions", "links")
            if name in overlay
        )
        click.echo(f"  overlay  version {overlay.get('version')}: {counted}")
    else:
        click.echo("  overlay  the API does not answer")
