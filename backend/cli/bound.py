"""``bound``: how few links any overlay of some interests can have, and how near given ones come."""

from __future__ import annotations

from pathlib import Path

import click

from algorithms.bound import Bound, lower_bound
from algorithms.files import read_interests, read_links
from backend.cli.forms import AS_JSON, FILE, print_json, progress_bar


@click.command("bound")
@click.argument("interests", type=FILE)
@click.option(
    "--seconds",
    type=float,
    default=10.0,
    metavar="N",
    help="More give a higher bound.  [default: 10]",
)
@click.option(
    "--memory-mb", type=click.IntRange(min=1), default=2048, metavar="N", help="For shares.  [default: 2048]"
)
@click.option("--links", type=FILE, metavar="LINKS", help="Say how far these are above the bound.")
@AS_JSON
def bound(interests: Path, seconds: float, memory_mb: int, links: Path | None, as_json: bool) -> None:
    """A lower bound on the links of any topic-connected overlay."""
    source = read_interests(interests)
    present = None if links is None else read_links(links, source)
    with progress_bar("bound", hidden=as_json) as progress:
        found = lower_bound(source, seconds=seconds, memory_mb=memory_mb, progress=progress)
    # Links that leave topics apart may well be fewer than any overlay needs.
    gap = None if present is None or not present.is_tco() else found.gap(len(present.links))
    if as_json:
        report = found.describe()
        print_json(report if present is None else {**report, "links_present": len(present.links), "gap": gap})
        return
    click.echo(
        f"every overlay has at least {found.links:,} links, degree {found.average_degree:.2f} on average"
        f" ({ground(found)})"
    )
    if present is not None:
        above = "they leave topics apart" if gap is None else f"at most {gap:.1%} above the optimum"
        click.echo(f"{links}: {len(present.links):,} links, {above}")


def ground(found: Bound) -> str:
    """What the bound rests on, for people."""
    if found.kind == "spanning":
        return "all brokers that share topics have to be connected"
    rest = f"{found.topics:,} topics, {found.iterations:,} iterations"
    if found.topics_left_out:
        rest += f"; {found.topics_left_out:,} topics too large for the memory are left out"
    return rest
