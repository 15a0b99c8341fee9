"""``algorithms``, ``generate`` and ``build``: from files of interests to files of links."""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path
from typing import Any

import click
from rich.console import Console

import algorithms
from algorithms import analysis, workloads
from algorithms.files import check_target, read_interests, read_links, write_interests, write_links
from backend.cli.forms import AS_JSON, FILE, figures_table, print_json, progress_bar

VISITS_AT_A_GLANCE = 200_000_000
"""Neighbours looked at for the topic diameters that a build tells: about a second; beyond that they are sampled."""
SUBSCRIPTIONS_AT_A_GLANCE = 5_000_000
"""With more of them only ``measure`` tells diameters: the topics' own graphs alone take longer than a glance."""


@click.command("algorithms")
@AS_JSON
def list_algorithms(as_json: bool) -> None:
    """List the algorithms: name, parameters, guarantee, paper."""
    known = algorithms.algorithms()
    if as_json:
        print_json([algorithm.describe() for algorithm in known])
        return
    table = figures_table()
    for algorithm in known:
        options = " ".join(f"--{_flag(p.name)}" for p in algorithm.parameters)
        table.add_row(algorithm.name, algorithm.summary, style="bold")
        table.add_row("  guarantee", algorithm.guarantee)
        table.add_row("  paper", algorithm.paper)
        table.add_row("  parameters", options, end_section=True)
    Console().print(table)


@click.command("generate")
@click.option("--brokers", type=int, required=True, metavar="N")
@click.option("--topics", type=int, required=True, metavar="N")
@click.option(
    "--subscriptions", required=True, metavar="N", help="A broker's; LOW..HIGH with --sizes power-law."
)
@click.option("--distribution", default="uniform", help="uniform, zipf or exponential  [default: uniform]")
@click.option("--exponent", type=float, default=2.0, help="Of zipf  [default: 2.0]", metavar="X")
@click.option("--sizes", default="fixed", help="fixed, independent or power-law  [default: fixed]")
@click.option("--seed", type=int, default=0, metavar="N", help="The same seed gives the same interests.")
@click.option("--out", type=FILE, required=True, metavar="FILE", help="Where the interests go.")
def generate(subscriptions: str, out: Path, **options: Any) -> None:
    """Write random interests, a workload of the papers."""
    check_target(out)
    interests = workloads.generate(subscriptions=_one_or_two_numbers(subscriptions), **options)
    write_interests(interests, out)
    click.echo(
        f"{out}: {len(interests.brokers):,} brokers, {len(interests.topics):,} topics,"
        f" {interests.subscriptions:,} subscriptions"
    )


class AlgorithmCommands(click.Group):
    """One subcommand an algorithm of the registry, with the parameters it declares as options."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every algorithm's name."""
        return [algorithm.name for algorithm in algorithms.algorithms()]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command that runs the algorithm of that name."""
        chosen = algorithms.find_algorithm(name)
        return click.Command(
            name,
            help=f"{chosen.summary}.\n\nGuarantee: {chosen.guarantee}.\n\nPaper: {chosen.paper}.",
            short_help=chosen.summary,
            params=[
                click.Argument(["interests"], type=FILE),
                click.Option(
                    ["--out"], type=FILE, required=True, help="Where the links go.", metavar="LINKS"
                ),
                *(parameter_option(parameter) for parameter in chosen.parameters),
                *([_earlier_option()] if chosen.sticky else []),
                click.Option(["--json", "as_json"], is_flag=True, help="Print JSON for a program."),
            ],
            callback=lambda **given: _build(chosen, **given),
        )


@click.command("build", cls=AlgorithmCommands, subcommand_metavar="NAME INTERESTS --out LINKS [OPTIONS]")
def build() -> None:
    """Run one algorithm on a file of interests and write its links.

    `topicweave build NAME --help` shows the parameters of one algorithm.
    """


def _build(
    chosen: algorithms.Algorithm,
    *,
    interests: Path,
    out: Path,
    as_json: bool,
    earlier: Path | None = None,
    **options: object,
) -> None:
    given = {name: value for name, value in options.items() if value is not None}
    params = chosen.parse(given)
    check_target(out)
    source = read_interests(interests)
    before = None if earlier is None else read_links(earlier, source)
    _warm(chosen.name, params)
    with progress_bar(chosen.name, hidden=as_json) as progress:
        started = time.perf_counter()
        overlay = algorithms.build(chosen.name, source, progress=progress, earlier=before, **given)
        seconds = time.perf_counter() - started
    write_links(overlay, out)
    k, remark = _connectivity(chosen, params, overlay)
    diameters = _diameters(overlay)
    changes = {} if before is None else _changes(before, overlay)
    report = {
        "algorithm": chosen.name,
        "params": params,
        "brokers": len(source.brokers),
        "topics": len(source.topics),
        "subscriptions": source.subscriptions,
        "links": len(overlay.links),
        "average_degree": overlay.average_degree,
        "max_degree": overlay.max_degree,
        "seconds": seconds,
        "peak_rss_mb": _peak_rss_mb(),
        "k": k,
        **diameters,
        **changes,
    }
    if as_json:
        print_json(report)
        return
    repeated = f" ({source.duplicates:,} duplicate rows)" if source.duplicates else ""
    click.echo(
        f"{chosen.name}: {report['links']:,} links for {report['brokers']:,} brokers and {report['topics']:,} topics"
        f"{repeated}, degree {overlay.average_degree:.2f} on average and {overlay.max_degree} at most,"
        f" topics {'connected' if k == 1 else f'{k}-connected'}{remark}{_spans(diameters)}, in {seconds:.2f} s"
    )
    if before is not None:
        click.echo(f"against {earlier}: " + ", ".join(f"{count:,} {what}" for what, count in changes.items()))


def _connectivity(
    chosen: algorithms.Algorithm, params: dict[str, Any], overlay: algorithms.Overlay
) -> tuple[int, str]:
    """The k that the links hold, and what has to be said of it: an algorithm may give more than it was asked for."""
    asked = chosen.promised_k(params)
    if params.get("even_if_cheaper") and not params.get("prune") and asked % 2 and overlay.is_ktco(asked + 1):
        return asked + 1, f" (fewer links than for k = {asked})"
    return asked, ""


def _diameters(overlay: algorithms.Overlay) -> dict[str, float | int | None]:
    """Degree, k and the length of paths trade against each other, so none is told alone; a glance, not a measure."""
    names = ("topic_diameter_mean", "topic_diameter_max", "topic_diameters_sampled")
    if overlay.interests.subscriptions > SUBSCRIPTIONS_AT_A_GLANCE:
        return dict.fromkeys(names)
    found = analysis.overlay_diameters(overlay, VISITS_AT_A_GLANCE // max(len(overlay.interests.topics), 1))
    return dict(zip(names, found, strict=True))


def _spans(diameters: dict[str, float | int | None]) -> str:
    if diameters["topic_diameter_max"] is None:
        return ""
    bound = "at least " if diameters["topic_diameters_sampled"] else ""
    return (
        f", their diameters {bound}{diameters['topic_diameter_mean']:.1f} on average and"
        f" {bound}{diameters['topic_diameter_max']} at most"
    )


def _changes(before: algorithms.Overlay, after: algorithms.Overlay) -> dict[str, int]:
    """How many links a rebuild keeps, opens and closes."""
    kept = len(set(map(tuple, before.links.tolist())) & set(map(tuple, after.links.tolist())))
    return {"kept": kept, "opened": len(after.links) - kept, "closed": len(before.links) - kept}


def _warm(name: str, params: dict[str, Any]) -> None:
    """Compile the kernels on tiny inputs, so that the seconds reported are the algorithm's alone.

    The engine counts pairs by lists or by bitsets, as the shape of the interests makes it cheaper: one input for each.
    """
    sized = {key: value for key, value in params.items() if key not in ("parts", "keep")}
    few = {"a": ["x", "y"], "b": ["x", "y"], "c": ["y"], "d": ["x"]}
    many = {f"b{number}": [f"t{topic}" for topic in range(number % 3, 20)] for number in range(12)}
    for topics_by_broker in (few, many):
        algorithms.build(name, algorithms.Interests.from_mapping(topics_by_broker), **sized)


def parameter_option(parameter: algorithms.Parameter) -> click.Option:
    """The option of one declared parameter."""
    limits = "" if parameter.minimum is None else f", at least {parameter.minimum:g}"
    words = f" ({' or '.join(parameter.words)})" if parameter.words else ""
    default = "" if parameter.default is None else f"  [default: {parameter.default}{limits}]"
    text = f"{parameter.help}{words}{default}"
    if parameter.kind is bool:
        return click.Option(
            [f"--{_flag(parameter.name)}/--no-{_flag(parameter.name)}"], default=None, help=text
        )
    return click.Option(
        [f"--{_flag(parameter.name)}", parameter.name], default=None, help=text, metavar="VALUE"
    )


def _earlier_option() -> click.Option:
    return click.Option(
        ["--from", "earlier"], type=FILE, metavar="LINKS", help="The links of before, for --keep."
    )


def _one_or_two_numbers(text: str) -> int | tuple[int, int]:
    numbers = text.split("..")
    if len(numbers) > 2 or not all(number.strip().isdecimal() for number in numbers):
        raise algorithms.BadInput("subscriptions", text, "must be a whole number, or two as in 10..90")
    return int(text) if len(numbers) == 1 else (int(numbers[0]), int(numbers[1]))


def _flag(name: str) -> str:
    return name.replace("_", "-")


def _peak_rss_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)
