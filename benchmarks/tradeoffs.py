"""What the algorithms trade against each other on the same interests: links, maximum degree, mean topic diameter.

``python -m benchmarks.tradeoffs`` prints the table; ``--svg docs/images/tradeoffs.svg`` also draws the picture of the
algorithms guide. Nothing in it is a time, so the figures are the same on every machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from algorithms import build
from algorithms.analysis import measure
from algorithms.workloads import generate

WORKLOAD: dict[str, Any] = {
    "brokers": 1000,
    "topics": 100,
    "subscriptions": 10,
    "distribution": "zipf",
    "exponent": 0.5,
    "seed": 1,
}
TITLE = "1,000 brokers, 10 of 100 topics each, popularity by Zipf 0.5"
CONNECTED = "every topic connected"
SURVIVES = "and survives any one failure (k = 2)"
TWO_HOPS = "and within two hops"
RUNS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("weave", {}, CONNECTED),
    ("weave", {"shortcuts": 1}, CONNECTED),
    ("weave", {"rho": 1.5}, CONNECTED),
    ("gm", {}, CONNECTED),
    ("low-oda", {}, CONNECTED),
    ("minmax-oda", {}, CONNECTED),
    ("dc", {"parts": 4}, CONNECTED),
    ("treept", {}, CONNECTED),
    ("weave", {"k": 2}, SURVIVES),
    ("degree-cover", {"k": 2}, SURVIVES),
    ("gm2", {"weighted": True}, SURVIVES),
    ("gm2", {}, SURVIVES),
    ("hararypt", {"k": 2, "order": "nearest"}, SURVIVES),
    ("ringpt", {}, SURVIVES),
    ("2d-oda", {}, TWO_HOPS),
    ("cd-oda", {}, TWO_HOPS),
)
COLOURS = {CONNECTED: "#0072B2", SURVIVES: "#B37A00", TWO_HOPS: "#00805C"}
PANELS = (
    ("links", "links", ",d"),
    ("max_degree", "maximum degree", ",d"),
    ("diameter", "mean topic diameter", ".1f"),
)
INK = "#1B2430"


@dataclass(frozen=True)
class Row:
    """One algorithm's overlay in figures."""

    algorithm: str
    promise: str
    links: int
    max_degree: int
    diameter: float


def rows(workload: dict[str, Any] = WORKLOAD) -> Iterator[Row]:
    """Every run's figures."""
    interests = generate(**workload)
    for name, parameters, promise in RUNS:
        found = measure(build(name, interests, **parameters))
        options = "".join(
            f" --{key}" if value is True else f" --{key} {value}" for key, value in parameters.items()
        )
        assert found.topic_diameter_mean is not None
        yield Row(name + options, promise, found.links, found.max_degree, found.topic_diameter_mean)


def chart(found: list[Row], title: str = TITLE) -> alt.HConcatChart:
    """Three panels of bars on a light card, which a dark page may surround."""
    table = pd.DataFrame([asdict(row) for row in found])
    order = [row.algorithm for row in found]
    panels = []
    for place, (column, heading, form) in enumerate(PANELS):
        base = alt.Chart(table).encode(
            y=alt.Y("algorithm:N", sort=order, title=None, axis=alt.Axis() if place == 0 else None),
            x=alt.X(
                f"{column}:Q",
                title=heading,
                axis=alt.Axis(labels=False, ticks=False, grid=False, domain=False, titleFontSize=13),
                scale=alt.Scale(domain=[0, float(table[column].max()) * 1.2]),
            ),
        )
        bars = base.mark_bar(height=13).encode(
            color=alt.Color(
                "promise:N",
                scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())),
                legend=alt.Legend(title=None, orient="bottom", direction="vertical", labelLimit=400),
            )
        )
        figures = base.mark_text(align="left", dx=4, color=INK, fontSize=12).encode(
            text=alt.Text(f"{column}:Q", format=form)
        )
        panels.append((bars + figures).properties(width=190, height=20 * len(found)))
    drawn: alt.HConcatChart = (
        alt.hconcat(*panels, spacing=12)
        .properties(title=title, background="#ffffff", padding=16)
        .configure(font="sans-serif")
        .configure_view(stroke=None)
        .configure_axis(labelFontSize=12, labelColor=INK, titleColor=INK, labelLimit=260)
        .configure_legend(labelFontSize=12, labelColor=INK)
        .configure_title(fontSize=14, color=INK, anchor="start")
    )
    return drawn


def main(arguments: list[str] | None = None) -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--svg", type=Path, metavar="FILE", help="draw the picture, too")
    given = options.parse_args(arguments)
    found = list(rows())
    print(f"{TITLE}\n\n| algorithm | promise | links | maximum degree | mean topic diameter |")
    print("|---|---|---|---|---|")
    for row in found:
        print(
            f"| {row.algorithm} | {row.promise} | {row.links:,} | {row.max_degree:,} | {row.diameter:.1f} |"
        )
    if given.svg:
        chart(found).save(given.svg)


if __name__ == "__main__":
    main()
