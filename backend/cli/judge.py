"""``verify`` and ``measure``: what a file of links is worth for a file of interests."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console

from algorithms import analysis
from algorithms.analysis.k_connectivity import topic_connectivity
from algorithms.bound import Bound, lower_bound
from algorithms.files import read_interests, read_links
from backend.cli.bound import ground
from backend.cli.forms import AS_JSON, FILE, figures_table, print_json

BOUND_MEMORY_MB = 512
"""For the bound beside a measure: what a glance may take; ``bound`` itself takes more."""


@click.command("verify")
@click.argument("interests", type=FILE)
@click.argument("links", type=FILE)
@click.option(
    "--k", type=int, default=1, metavar="K", help="Must every topic survive K - 1 failures?  [default: 1]"
)
@AS_JSON
def verify(interests: Path, links: Path, k: int, as_json: bool) -> int:
    """Is this a topic-connected overlay, or a k-connected one? Names the topics that are not; exit code 1 then."""
    overlay = read_links(links, read_interests(interests))
    weak = overlay.topics_below(k)
    topics = len(overlay.interests.topics)
    wanted = "connected" if k == 1 else f"{k}-connected"
    if as_json:
        print_json(
            {"tco": not weak, "k": k, "topics": topics, "topics_below": [asdict(topic) for topic in weak]}
        )
    elif weak:
        click.echo(f"no: {len(weak):,} of {topics:,} topics are not {wanted}")
        for topic in weak:
            click.echo(str(topic))
    else:
        click.echo(f"yes: all {topics:,} topics are {wanted} by {len(overlay.links):,} links")
    return 1 if weak else 0


@click.command("measure")
@click.argument("interests", type=FILE)
@click.argument("links", type=FILE)
@click.option(
    "--max-k", type=int, default=4, metavar="K", help="Count connectivity up to this.  [default: 4]"
)
@click.option(
    "--bound",
    "seconds",
    type=float,
    default=1.0,
    metavar="SECONDS",
    help="How long to look for a bound on the links of any overlay; 0 for none.  [default: 1]",
)
@AS_JSON
def measure(interests: Path, links: Path, max_k: int, seconds: float, as_json: bool) -> None:
    """Measure an overlay: degrees, topic diameters and connectivity, articulation brokers, gap to the optimum."""
    overlay = read_links(links, read_interests(interests))
    bound = (
        lower_bound(overlay.interests, seconds=seconds, memory_mb=BOUND_MEMORY_MB) if seconds != 0 else None
    )
    by_topic = topic_connectivity(overlay, max_k).tolist()
    connectivity = Counter(by_topic)
    found = analysis.measure(overlay)
    if as_json:
        report = {
            **found.describe(),
            "max_k": max_k,
            "topics_by_connectivity": dict(sorted(connectivity.items())),
            "connectivity_by_topic": dict(zip(overlay.interests.topics, by_topic, strict=True)),
        }
        if bound is not None:
            # Links that leave topics apart may well be fewer than any overlay needs.
            gap = None if found.topics_apart else bound.gap(found.links)
            report |= {"bound": bound.describe(), "gap": gap}
        print_json(report)
        return
    table = figures_table()
    for name, text in _figures(found).items():
        table.add_row(name, text)
    table.add_row(
        "connectivity", ", ".join(_of_connectivity(k, connectivity[k], max_k) for k in sorted(connectivity))
    )
    if bound is not None:
        table.add_row("optimum", _beside(bound, found))
    Console().print(table)


def _beside(bound: Bound, found: analysis.Measures) -> str:
    """How near an overlay is to the fewest links, for people."""
    least = f"at least {bound.links:,} links ({ground(bound)})"
    if found.topics_apart:
        return f"{least}; these leave topics apart"
    return f"at most {bound.gap(found.links):.1%} above it; {least}"


def _of_connectivity(k: int, topics: int, max_k: int) -> str:
    return f"{'at least ' if k == max_k else ''}{k}: {topics:,} topics"


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
        f" ({found.forced_max_degree:,} in any overlay of these interests)",
        "topics": f"{apart}; topic components: {found.topic_components:,}, topic blocks: {found.topic_blocks:,}",
        "topic diameter": diameters,
        "one failure": f"articulation brokers: {found.articulation_brokers:,}, in {found.topics_with_articulation:,}"
        f" of {found.topics:,} topics; bridges: {found.bridges:,}",
    }
