"""``verify`` and ``measure``: what a file of links is worth for a file of interests."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console

from algorithms import analysis
from algorithms.files import read_interests, read_links
from backend.cli.forms import AS_JSON, FILE, figures_table, print_json


@click.command("verify")
@click.argument("interests", type=FILE)
@click.argument("links", type=FILE)
@AS_JSON
def verify(interests: Path, links: Path, as_json: bool) -> int:
    """Is this a topic-connected overlay? Names the topics that are not connected; exit code 1 then."""
    overlay = read_links(links, read_interests(interests))
    apart = overlay.topics_apart()
    if as_json:
        print_json({"tco": not apart, "topics": len(overlay.interests.topics), "topics_apart": apart})
    elif apart:
        click.echo(f"no: {len(apart)} of {len(overlay.interests.topics):,} topics are apart")
        for topic in apart:
            click.echo(topic)
    else:
        click.echo(
            f"yes: all {len(overlay.interests.topics):,} topics are connected by {len(overlay.links):,} links"
        )
    return 1 if apart else 0


@click.command("measure")
@click.argument("interests", type=FILE)
@click.argument("links", type=FILE)
@AS_JSON
def measure(interests: Path, links: Path, as_json: bool) -> None:
    """Measure an overlay: degrees, topic diameters, components, articulation brokers."""
    found = analysis.measure(read_links(links, read_interests(interests)))
    if as_json:
        print_json(found.describe())
        return
    table = figures_table()
    for name, text in _figures(found).items():
        table.add_row(name, text)
    Console().print(table)


def _figures(found: analysis.Measures) -> dict[str, str]:
    apart = f"{found.topics_apart:,} apart" if found.topics_apart else "all connected"
    sampled = (
        f" ({found.topic_diameters_sampled:,} sampled: at least that)"
        if found.topic_diameters_sampled
        else ""
    )
    diameters = (
        "no topic has two connected subscribers"
        if found.topic_diameter_max is None
        else f"{found.topic_diameter_mean:.2f} on average, {found.topic_diameter_max} at most{sampled}"
    )
    return {
        "interests": f"{found.brokers:,} brokers, {found.topics:,} topics, {found.subscriptions:,} subscriptions",
        "links": f"{found.links:,}",
        "degree": f"{found.average_degree:.2f} on average, {found.max_degree:,} at most"
        f" (these interests force {found.forced_max_degree:,})",
        "topics": f"{apart}; topic components: {found.topic_components:,}, topic blocks: {found.topic_blocks:,}",
        "topic diameter": diameters,
        "one failure": f"articulation brokers: {found.articulation_brokers:,}, in {found.topics_with_articulation:,}"
        f" of {found.topics:,} topics; bridges: {found.bridges:,}",
    }
