"""``rebuild`` and ``plan``: new links for the live overlay, looked at before anything happens, as calls of the API."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click
from rich.console import Console
from rich.markup import escape

import algorithms
from algorithms.bulk import BULK, parse_bulk
from algorithms.registry import Parameter
from backend.cli.build import parameter_option
from backend.cli.forms import AS_JSON, figures_table, print_json, progress_bar
from backend.cli.imports import SECONDS_WITHOUT_ANSWER
from backend.cli.remote import Remote
from backend.cli.system import home_option
from backend.errors import BadValue, NotReady, Problem

SECONDS_BETWEEN_LOOKS = 0.3
MOST_CHANGED_SHOWN = 5
ENDED = ("planned", "active", "failed", "cancelled", "dropped")


class RebuildCommands(click.Group):
    """One subcommand an algorithm of the registry, with the parameters it declares as options."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every algorithm's name."""
        return [algorithm.name for algorithm in algorithms.algorithms()]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command that asks for a rebuild by the algorithm of that name."""
        chosen = algorithms.find_algorithm(name)
        command = click.Command(
            name,
            help=f"{chosen.summary}.\n\nGuarantee: {chosen.guarantee}.\n\nPaper: {chosen.paper}.",
            short_help=chosen.summary,
            params=[
                click.Option(
                    ["--engine"], type=click.Choice(["local", "spark"]), default="local", show_default=True
                ),
                click.Option(["--activate"], is_flag=True, help="Activate the plan as soon as it is there."),
                *(parameter_option(parameter) for parameter in _parameters(chosen)),
            ],
            callback=lambda **given: _rebuild(chosen, **given),
        )
        return AS_JSON(home_option(command))


@click.command("rebuild", cls=RebuildCommands, subcommand_metavar="NAME [OPTIONS]")
def rebuild() -> None:
    """Compute new links for all brokers of the running system and show the plan; nothing changes before --activate.

    `topicweave rebuild NAME --help` shows the parameters of one algorithm.
    """


def _rebuild(
    chosen: algorithms.Algorithm,
    *,
    engine: str,
    activate: bool,
    home: Path | None,
    as_json: bool,
    seed: int | None = None,
    **options: object,
) -> int:
    params = {name: value for name, value in options.items() if value is not None}
    on_spark = engine == "spark" and chosen.name in BULK
    parsed = parse_bulk(chosen.name, params) if on_spark else chosen.parse(params)
    request = {
        "algorithm": chosen.name,
        "params": {name: parsed[name] for name in params},
        "engine": engine,
        "seed": chosen.parse({"seed": seed})["seed"] if seed is not None else 0,
    }
    with Remote.of_home(home) as api:
        found = _follow(api, api.post("/v1/rebuilds", json=request), hidden=as_json)
        wanted = "planned"
        if activate and found["state"] == wanted:
            found = _follow(api, api.post(f"/v1/rebuilds/{found['id']}/activate"), hidden=as_json)
            wanted = "active"
        _tell(api, found, as_json=as_json)
    return _ended(found, wanted)


def _parameters(chosen: algorithms.Algorithm) -> list[Parameter]:
    """Those of the registry, and those that only Spark takes."""
    known = {parameter.name for parameter in chosen.parameters}
    return [*chosen.parameters, *(p for p in BULK.get(chosen.name, ()) if p.name not in known)]


@click.group("plan")
def plan() -> None:
    """Plans of rebuilds: list, show, activate, pause, resume, cancel, roll back, drop."""


@plan.command("list")
@home_option
@AS_JSON
def list_plans(home: Path | None, as_json: bool) -> None:
    """Every rebuild, the newest first."""
    with Remote.of_home(home) as api:
        items = api.get("/v1/rebuilds")["items"]
    if as_json:
        print_json(items)
        return
    table = figures_table()
    table.add_column(no_wrap=True, min_width=36)  # an id that is cut cannot be used
    table.add_row("id", "state", "algorithm", "links", "kept", "opened", "closed", style="bold")
    for item in items:
        figures = item["plan"] or {}
        counts = [f"{figures[name]:,}" if figures else "" for name in ("links", "kept", "opened", "closed")]
        table.add_row(item["id"], item["state"], item["algorithm"], *counts)
    Console().print(table)


def _command(name: str, method: str, step: str, text: str, *, wanted: str | None = None) -> None:
    """A step of a plan; ``wanted``: the state that is waited for, where the step takes long."""

    @plan.command(name, help=text)
    @click.argument("rebuild_id", metavar="ID")
    @home_option
    @AS_JSON
    def run(rebuild_id: str, home: Path | None, as_json: bool) -> int:
        if rebuild_id in ("", ".", ".."):
            raise BadValue(f"ID: names no rebuild (got {rebuild_id!r})", field="ID")
        with Remote.of_home(home) as api:
            found = api.call(method, f"/v1/rebuilds/{quote(rebuild_id, safe='')}{step}")
            back = bool(found["activation"] and found["activation"]["rollback"])
            if wanted:
                found = _follow(api, found, hidden=as_json)
            _tell(api, found, as_json=as_json)
        # One that goes back already, as it is resumed, is planned again when all is well.
        return _ended(found, "planned" if wanted and back else wanted)


_command("show", "GET", "", "One plan: what it would change.")
_command("activate", "POST", "/activate", "Go over to its links, make-before-break.", wanted="active")
_command("rollback", "POST", "/rollback", "Go back to the links of before its activation.", wanted="planned")
_command("pause", "POST", "/pause", "Hold its activation between two batches.")
_command("resume", "POST", "/resume", "Let its activation go on.", wanted="active")
_command("cancel", "POST", "/cancel", "Stop computing it, or roll its activation back.")
_command("drop", "DELETE", "", "A plan that is not wanted; its candidates go.")


def _follow(api: Remote, found: dict[str, Any], *, hidden: bool) -> dict[str, Any]:
    """Wait until a rebuild is planned, or its activation has ended; one that failed is a problem."""
    silent_since: float | None = None
    told: str | None = None
    with progress_bar(found["algorithm"], hidden=hidden) as progress:
        while found["state"] not in ENDED:
            progress(*_share(found))
            if (hindrance := _hindrance(found)) != told and hindrance:
                click.echo(f"topicweave: {hindrance}", err=True)
            told = hindrance
            time.sleep(SECONDS_BETWEEN_LOOKS)
            try:
                found = api.get(f"/v1/rebuilds/{found['id']}")
                silent_since = None
            except NotReady:  # Neo4j is busy, or away; the rebuild goes on without us
                silent_since = silent_since or time.monotonic()
                if time.monotonic() - silent_since > SECONDS_WITHOUT_ANSWER:
                    raise
    if found["state"] == "failed":
        raise Problem(f"rebuild {found['id']}: {found['error']}")
    return found


def _ended(found: dict[str, Any], wanted: str | None) -> int:
    """The exit code: 1, with a line that says why, where somebody wanted it otherwise meanwhile."""
    if wanted is None or found["state"] == wanted:
        return 0
    click.echo(f"topicweave: rebuild {found['id']} is {found['state']}, not {wanted}", err=True)
    return 1


def _share(found: dict[str, Any]) -> tuple[float, str]:
    activation = found["activation"]
    if found["state"] != "activating" or activation is None:
        return found["progress"]["share"], found["progress"]["stage"]
    total = activation["to_open"] + activation["to_close"]
    done = activation["opened"] + activation["closed"]
    return done / total if total else 0.0, activation["phase"]


def _hindrance(found: dict[str, Any]) -> str | None:
    """What keeps an activation from going on, so that nobody waits for it without a word."""
    activation = found["activation"]
    if found["state"] != "activating" or activation is None:
        return None
    if activation["paused"]:
        return f"rebuild {found['id']} is paused: `topicweave plan resume {found['id']}` lets it go on"
    return f"rebuild {found['id']}: {found['error']}" if found["error"] else None


def _tell(api: Remote, found: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    click.echo(f"{found['id']}: {found['algorithm']} ({found['engine']}), {found['state']}")
    activation = found["activation"]
    if found["state"] == "activating" and activation:
        click.echo(
            f"{'going back' if activation['rollback'] else 'going over'}, {activation['phase']}:"
            f" {activation['opened']:,} of {activation['to_open']:,} opened,"
            f" {activation['closed']:,} of {activation['to_close']:,} closed"
        )
        if hindrance := _hindrance(found):
            click.echo(hindrance)
    figures = found["plan"]
    if figures is None:
        click.echo(found["error"] or found["progress"]["stage"])
        return
    if found["state"] == "planned":
        now = api.get("/v1/overlay")["version"]
        click.echo(f"made at version {found['base_version']:,}, the overlay is at {now:,}")
    click.echo(
        f"{figures['links']:,} links: {figures['kept']:,} kept, {figures['opened']:,} opened,"
        f" {figures['closed']:,} closed"
    )
    table = figures_table()
    table.add_row("", "before", "peak", "after", style="bold")
    for name, label, form in (
        ("links", "links", "{:,}"),
        ("average_degree", "average degree", "{:.2f}"),
        ("max_degree", "maximum degree", "{:,}"),
        ("mean_diameter", "mean topic diameter", "{:.2f}"),
        ("max_diameter", "largest topic diameter", "{:,}"),
    ):
        values = [figures[when][name] for when in ("before", "peak", "after")]
        table.add_row(label, *("" if value is None else form.format(value) for value in values))
    Console().print(table)
    _tell_table(
        "brokers that change most",
        ("broker", "opened", "closed", "degree_before", "degree_after"),
        (figures["most_changed"] or [])[:MOST_CHANGED_SHOWN],
    )
    _tell_table(
        "what other values of keep would give",
        ("keep", "links", "opened", "closed", "average_degree", "max_degree"),
        figures["keep_curve"] or [],
    )


def _tell_table(title: str, columns: tuple[str, ...], items: list[dict[str, Any]]) -> None:
    """Some fields of each item, a row an item; nothing where there is none."""
    if not items:
        return
    click.echo(f"{title}:")
    table = figures_table()
    table.add_row(*(column.replace("_", " ") for column in columns), style="bold")
    for item in items:
        values = (item[column] for column in columns)
        table.add_row(
            *(f"{value:.2f}" if isinstance(value, float) else escape(f"{value}") for value in values)
        )
    Console().print(table)
