"""``simulate``: churn offline, round by round."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from algorithms.churn import Round, Simulation
from algorithms.churn import simulate as run_simulation
from algorithms.churn.simulate import KEEP
from algorithms.files import read_interests
from backend.cli.forms import AS_JSON, FILE, figures_table, print_json, progress_bar

ROUNDS_SHOWN = 20


@click.command("simulate")
@click.argument("interests", type=FILE)
@click.option("--rounds", type=int, required=True, metavar="N", help="How many changes.")
@click.option("--strategy", default="weave", help="shadow, naive, weave or rebuild  [default: weave]")
@click.option(
    "--k", type=int, default=1, metavar="K", help="1, or 2 to survive any one failure  [default: 1]"
)
@click.option(
    "--rho",
    type=float,
    default=3.0,
    metavar="X",
    help="How readily a repair raises the maximum degree  [default: 3]",
)
@click.option(
    "--lambda",
    "lambda_",
    type=int,
    default=3,
    metavar="N",
    help="How often backups cover a topic  [default: 3]",
)
@click.option("--backups", default="primal-dual", help="primal-dual or greedy  [default: primal-dual]")
@click.option(
    "--join-share", type=float, default=0.5, metavar="X", help="Joins among joins and leaves  [default: 0.5]"
)
@click.option(
    "--newcomers",
    default="workload",
    help="workload, or departed: those who left come back  [default: workload]",
)
@click.option(
    "--subscription-churn",
    type=float,
    default=0.0,
    metavar="X",
    help="Share of rounds that change topics  [default: 0]",
)
@click.option(
    "--failures",
    type=float,
    default=0.0,
    metavar="X",
    help="Share of the brokers that fail at once  [default: 0]",
)
@click.option(
    "--failure-every", type=int, default=100, metavar="N", help="Rounds between failures  [default: 100]"
)
@click.option(
    "--rebuild",
    default="fresh",
    help="fresh, or sticky: weave that holds on to links that exist  [default: fresh]",
)
@click.option(
    "--rebuild-every",
    type=int,
    metavar="N",
    help="Rounds between rebuilds, 0 for none  [default: 50 for the strategy rebuild, 0 for others]",
)
@click.option(
    "--keep",
    type=float,
    default=KEEP,
    metavar="X",
    help=f"Sticky: what a link that exists counts more  [default: {KEEP:g}]",
)
@click.option(
    "--drift-every",
    type=int,
    default=50,
    metavar="N",
    help="Rounds between measures of drift, 0 for none  [default: 50]",
)
@click.option("--seed", type=int, default=0, metavar="N", help="The same seed gives the same links.")
@click.option("--csv", "as_csv", is_flag=True, help="Print all rounds as CSV.")
@AS_JSON
def simulate(interests: Path, as_json: bool, as_csv: bool, **options: Any) -> None:
    """Simulate churn on a file of interests: degrees, links opened and closed, planning time, drift."""
    if as_json and as_csv:
        raise click.UsageError("--json and --csv exclude each other")
    source = read_interests(interests)
    with progress_bar("simulate", hidden=as_json or as_csv) as progress:
        done = run_simulation(source, progress=progress, **options)
    if as_json:
        print_json(done.describe())
    elif as_csv:
        click.echo(done.csv(), nl=False)
    else:
        _show(done)


def _show(done: Simulation) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in (
        "round",
        "change",
        "brokers",
        "links",
        "degree",
        "max",
        "opened",
        "closed",
        "ms",
        "fair",
        "drift",
    ):
        table.add_column(name, justify="left" if name == "change" else "right")
    step = max(1, len(done.rounds) // ROUNDS_SHOWN)
    for row in done.rounds[step - 1 :: step]:
        table.add_row(*_cells(row))
    console = Console()
    console.print(table)
    console.print()
    figures = figures_table()
    for name, text in _figures(done).items():
        figures.add_row(name, text)
    console.print(figures)


def _cells(row: Round) -> list[str]:
    return [
        str(row.round),
        row.change,
        f"{row.brokers:,}",
        f"{row.links:,}",
        f"{row.average_degree:.2f}",
        str(row.max_degree),
        str(row.opened),
        str(row.closed),
        f"{row.plan_ms:.2f}",
        f"{row.fairness:.2f}",
        "" if row.drift is None else f"{row.drift:+.1%}",
    ]


def _figures(done: Simulation) -> dict[str, str]:
    found = done.summary()
    average, largest = found["average_degree"], found["max_degree"]
    figures = {
        "degree": f"{average[0]:.2f} -> {average[1]:.2f} on average, {largest[0]} -> {largest[1]} at most",
        "links": f"{found['opened']:,} opened and {found['closed']:,} closed in {found['rounds']:,} rounds",
        "to plan": f"{found['plan_ms_median']:.2f} ms at the median",
    }
    if found["rebuilds"]:
        figures["rebuilds"] = f"{found['rebuilds']:,}, {done.parameters['rebuild']}"
    if found["drift_end"] is not None:
        figures["drift"] = (
            f"{found['drift_end']:+.1%} at the end, {found['drift_mean']:+.1%} on average,"
            f" against a fresh {done.parameters['algorithm']}"
            + (": time for a rebuild" if found["rebuild_due"] else "")
        )
    return figures
