"""``check``: is what is served what Neo4j holds, and what was promised?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from backend.cli.forms import AS_JSON, print_json
from backend.cli.remote import Remote
from backend.cli.system import home_option

PATIENCE = 900.0


@click.command("check")
@home_option
@AS_JSON
def check(home: Path | None, as_json: bool) -> int:
    """Compare the overlay that is served, its invariants and Neo4j; exit code 1 and names where they differ."""
    with Remote.of_home(home) as api:
        report = api.get("/v1/check", timeout=PATIENCE)
    if as_json:
        print_json(report)
    else:
        tell_check(report)
    return 0 if report["good"] else 1


def tell_check(report: dict[str, Any]) -> None:
    """A report for people."""
    moving = f" ({report['in_motion']:,} in motion, not compared)" if report["in_motion"] else ""
    what = (
        f"version {report['version']}: {report['brokers']:,} brokers{moving},"
        f" {report['subscriptions']:,} subscriptions, {report['links']:,} links"
    )
    if report["good"]:
        click.echo(f"good: {what}")
        return
    click.echo(f"not good: {what}; {report['problems']:,} problems")
    for finding in report["findings"]:
        click.echo(f"{finding['kind']}: {finding['count']:,} ({finding['meaning']})")
        for example in finding["examples"]:
            click.echo(f"  {example}")
