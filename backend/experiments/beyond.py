"""What no paper tried: any k with far fewer links, real interests, sizes out of their reach, and how near the optimum we are."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from algorithms import Interests
from algorithms.bound import lower_bound
from algorithms.files import read_interests
from algorithms.workloads import generate
from backend import demos
from backend.demos import DEMOS, load_demo
from backend.errors import BadValue
from backend.experiments.measure import (
    SEEDS,
    THREE,
    Build,
    build_timed,
    compare,
    degrees,
    interests_of,
    workload,
)
from backend.experiments.sources import DATA, data_file, data_files, sources_table
from backend.experiments.sweep import Chart, Finding, NotMeasured, Point, Record, Size, Sweep, Table

REAL_TITLE = "Real interests against random ones"
SMALL = 60_000
"""Files of more subscriptions than this are for the full size."""
GM_LIMIT = 200_000
"""Brokers up to which GM is built whole; beyond, DC alone."""
FOR_K: tuple[str, ...] = ("HararyPT", "degree-cover", "weave")
REAL: tuple[Build, ...] = (
    ("GM", "gm", {}),
    ("Low-ODA", "low-oda", {}),
    ("weave", "weave", {}),
    ("GM2", "gm2", {}),
    ("degree-cover, k=2", "degree-cover", {"k": 2}),
)
BOTH: tuple[Build, ...] = (("GM", "gm", {}), ("weave", "weave", {}))


def _k_points(_: Size) -> list[Point]:
    return [workload(1000, 200, 30, d, seed, k=k) for seed in SEEDS for d in THREE for k in range(2, 11)]


def _for_k(point: Point) -> list[Record]:
    interests, k = interests_of(point), point["k"]
    builds: list[Build] = [
        ("HararyPT", "hararypt", {"k": k}),
        ("degree-cover", "degree-cover", {"k": k}),
        ("weave", "weave", {"k": k}),
    ]
    if k == 2:
        builds.insert(0, ("GM2", "gm2", {}))
    return compare(interests, tuple(builds), point["seed"], spans=("GM2", *FOR_K))


def source_file(point: Point) -> Path | None:
    """The file behind a demo or a name of the folder."""
    source = point["source"]
    return Path(demos.__path__[0]) / f"{source}.csv.gz" if source in DEMOS else data_file(source)


@cache
def real_interests(source: str) -> Interests:
    """A demo's interests, or those of a file in the folder."""
    if source in DEMOS:
        return load_demo(source)
    file = data_file(source)
    if file is None:
        raise BadValue(f"{DATA}: must name the folder that holds {source}.csv.gz", field=DATA)
    return read_interests(file)


def _sources(size: Size) -> list[str]:
    found = [name for name in data_files() if not any(demo in name for demo in DEMOS)]
    return [
        *DEMOS,
        *(name for name in found if size == "full" or real_interests(name).subscriptions <= SMALL),
    ]


def _real_points(size: Size) -> list[Point]:
    return [
        {"source": source, "interests": kind, "seed": 1}
        for source in _sources(size)
        for kind in ("real", "uniform", "zipf")
    ]


def _real(point: Point) -> list[Record]:
    """A file, or random interests of as many brokers, topics and subscriptions."""
    interests = real_interests(point["source"])
    if point["interests"] != "real":
        brokers, topics = len(interests.brokers), len(interests.topics)
        each = max(1, round(interests.subscriptions / brokers))
        interests = generate(
            brokers=brokers,
            topics=topics,
            subscriptions=each,
            distribution=point["interests"],
            seed=point["seed"],
        )
    shape = {
        "brokers": len(interests.brokers),
        "topics": len(interests.topics),
        "all_subscriptions": interests.subscriptions,
        "forced_degree": forced_degree(interests),
    }
    return [{**shape, **record} for record in compare(interests, REAL, point["seed"])]


def _origins(table: Table) -> str:
    """Where the files come from: they are not in the repository."""
    return (
        f"The demo is in the repository. The files are not: each is a `NAME.csv.gz` with the columns `broker,topic`, made"
        f" from a public source, in the folder that `{DATA}` names. The quick size takes those of up to {SMALL:,}"
        " subscriptions; without the variable only the demo is measured.\n\n"
        + sources_table(dict.fromkeys(row["source"] for row in table.rows))
    )


def forced_degree(interests: Interests) -> int:
    """The most links that topics of two subscribers force on one broker: no rule goes below that maximum degree."""
    pairs = {
        tuple(sorted(interests.subscriber_indices(t).tolist()))
        for t in np.flatnonzero(interests.topic_sizes() == 2).tolist()
    }
    if not pairs:
        return 0
    return int(np.bincount(np.array(sorted(pairs)).ravel()).max())


def _size_points(size: Size) -> list[Point]:
    many = (
        (10_000, 20_000, 50_000) if size == "quick" else (10_000, 20_000, 50_000, 100_000, 200_000, 1_000_000)
    )
    return [workload(v, 1000, 20, "uniform", 1) for v in many]


def _large(point: Point) -> list[Record]:
    interests, seed = interests_of(point), point["seed"]
    divided, spent = build_timed(interests, "dc", {"parts": "auto"}, seed)
    fine, fine_spent = build_timed(interests, "dc", {"parts": max(2, point["brokers"] // 5000)}, seed)
    records: list[Record] = [
        {"series": "DC", **degrees(divided), "seconds": spent},
        {"series": "DC, parts of 5,000", **degrees(fine), "seconds": fine_spent},
    ]
    if point["brokers"] <= GM_LIMIT:
        merged, seconds = build_timed(interests, "gm", {}, seed)
        records.insert(0, {"series": "GM", **degrees(merged), "seconds": seconds})
    return records


def _bound_points(size: Size) -> list[Point]:
    iterations = 150 if size == "quick" else 2000
    kinds = (("uniform", 2.0), ("zipf", 0.5), ("zipf", 2.0), ("exponential", 2.0))
    return [
        workload(1000, 200, 30, d, seed, exponent=exponent, iterations=iterations)
        for seed in SEEDS
        for d, exponent in kinds
    ]


def _bounded(point: Point) -> list[Record]:
    interests = interests_of(point)
    found = lower_bound(interests, seconds=36_000, iterations=point["iterations"])
    kind = f"Zipf {point['exponent']:g}" if point["distribution"] == "zipf" else point["distribution"]
    return [
        {"interests": kind, "bound": found.links, **record, "above_bound": found.gap(record["links"])}
        for record in compare(interests, BOTH, point["seed"], spans=("GM", "weave"))
    ]


SWEEPS = (
    Sweep(
        "beyond-k",
        "Any k: degree-cover and weave against GM2 and HararyPT",
        "ours",
        "1,000 brokers, 200 topics, 30 subscriptions. HararyPT takes k + 1 where an odd k costs more.",
        _k_points,
        _for_k,
        (
            Chart("beyond-k-degree", "Average degree", "k", "average_degree", ("GM2", *FOR_K), log_y=True),
            Chart("beyond-k-maximum", "Maximum degree", "k", "max_degree", ("GM2", *FOR_K), log_y=True),
            Chart(
                "beyond-k-diameter", "Mean topic diameter", "k", "diameter_mean", ("GM2", *FOR_K), log_y=True
            ),
        ),
        series=FOR_K,
        shown=("average_degree", "max_degree", "diameter_mean"),
        shown_where={"k": (2, 4, 6, 10)},
        rows_by=("distribution", "k", "series"),
    ),
    Sweep(
        "beyond-real",
        REAL_TITLE,
        f"ours; the demo, and the files of the folder {DATA}",
        "Each file beside random interests of as many brokers, topics and, on average, subscriptions a broker. *Forced*"
        " is the maximum degree that topics of two subscribers leave no way around.",
        _real_points,
        _real,
        (
            Chart(
                "beyond-real-degree",
                "Average degree",
                "source",
                "average_degree",
                ("GM", "weave", "GM2", "degree-cover, k=2"),
                panels="interests",
                bars=True,
            ),
            Chart(
                "beyond-real-maximum",
                "Maximum degree",
                "source",
                "max_degree",
                ("GM", "Low-ODA", "weave", "GM2"),
                panels="interests",
                bars=True,
                log_y=True,
            ),
        ),
        series=tuple(series for series, _, _ in REAL),
        shown=("brokers", "topics", "average_degree", "max_degree", "forced_degree"),
        shown_where={"interests": "real"},
        rows_by=("source", "series"),
        data=source_file,
        remark=_origins,
    ),
    Sweep(
        "beyond-size",
        "Exact GM against DC at sizes the papers could not run",
        "ours",
        "1,000 topics, 20 subscriptions, uniform; the papers end at 10,000 brokers. DC chooses its parts, or has parts of"
        " 5,000 brokers.",
        _size_points,
        _large,
        (
            Chart("beyond-size-degree", "Average degree", "brokers", "average_degree", log_x=True),
            Chart("beyond-size-time", "Processor seconds", "brokers", "seconds", log_x=True, log_y=True),
        ),
        series=("DC", "DC, parts of 5,000"),
        shown=("average_degree", "max_degree", "seconds"),
        rows_by=("brokers", "series"),
    ),
    Sweep(
        "beyond-weave",
        "weave against GM, and a bound below both",
        "ours",
        "1,000 brokers, 200 topics, 30 subscriptions. No overlay has fewer links than the bound, which rises with the"
        " iterations it is given.",
        _bound_points,
        _bounded,
        (
            Chart(
                "beyond-weave-bound",
                "Links above the bound",
                "interests",
                "above_bound",
                panels=None,
                bars=True,
            ),
        ),
        series=("GM", "weave"),
        shown=("links", "bound", "above_bound", "max_degree", "diameter_mean"),
        rows_by=("interests", "series"),
    ),
)


def _saved(table: Table, column: str, ours: str, theirs: str) -> tuple[float, float]:
    """The least and the largest share by which one series is below another."""
    found = [1 - a / b for a, b in table.pairs(column, ours, theirs)]
    return min(found), max(found)


def _real_ratios(table: Table) -> tuple[float, ...]:
    real = table.where(interests="real")
    found: list[float] = []
    for ours, theirs in (("weave", "GM"), ("degree-cover, k=2", "GM2")):
        ratios = [a / b for a, b in real.pairs("links", ours, theirs)]
        found += [min(ratios), max(ratios)]
    return tuple(found)


def _widest(table: Table) -> tuple[float, float]:
    real, even = table.where(interests="real"), table.where(interests="uniform")
    return max(a for a, _ in real.pairs("max_degree", "GM", "GM")), max(
        a for a, _ in even.pairs("max_degree", "GM", "GM")
    )


def _largest(table: Table) -> tuple[float, ...]:
    both = {size: rows for size, rows in table.by("brokers").items() if rows.where(series="GM")}
    if not both:
        raise NotMeasured("GM")
    size = max(both)
    gm, dc, fine = (both[size].where(series=s) for s in ("GM", "DC", "DC, parts of 5,000"))
    return (
        size,
        dc.mean("average_degree") / gm.mean("average_degree") - 1,
        dc.mean("seconds") / gm.mean("seconds"),
        fine.mean("average_degree") / gm.mean("average_degree") - 1,
        fine.mean("seconds") / gm.mean("seconds"),
    )


FINDINGS = (
    Finding(
        "For k = 2, weave needs {:.0%} to {:.0%} fewer links than GM2; its paths are longer: topic diameters are"
        " {:.1f} times GM2's.",
        "beyond-k",
        lambda table: (
            *_saved(table, "links", "weave", "GM2"),
            table.ratio("diameter_mean", "weave", "GM2"),
        ),
    ),
    Finding(
        "For k = 3 to 10, degree-cover needs {:.0%} to {:.0%} fewer links than HararyPT, weave {:.0%} to {:.0%} fewer.",
        "beyond-k",
        lambda table: (
            *_saved(table.where(k=tuple(range(3, 11))), "links", "degree-cover", "HararyPT"),
            *_saved(table.where(k=tuple(range(3, 11))), "links", "weave", "HararyPT"),
        ),
    ),
    Finding(
        "On real interests weave has {:.3f} to {:.3f} times GM's links, degree-cover for k = 2 {:.3f} to {:.3f} times GM2's:"
        " little is gained where most topics have few subscribers.",
        "beyond-real",
        _real_ratios,
    ),
    Finding(
        "Real interests are uneven where random ones are not: GM's maximum degree reaches {:,.0f} on the files and {:,.0f}"
        " on uniform interests of the same size.",
        "beyond-real",
        _widest,
    ),
    Finding(
        "At {:,.0f} brokers DC with its own choice of parts has an average degree {:.1%} above exact GM's, in {:.2f} of its"
        " processor time; with parts of 5,000 brokers {:.1%} above, in {:.2f} of the time.",
        "beyond-size",
        _largest,
    ),
    Finding(
        "Over all interests and seeds, weave is {:.1%} to {:.1%} above the lower bound, GM {:.1%} to {:.1%}.",
        "beyond-weave",
        lambda table: tuple(
            f(table.where(series=series).column("above_bound"))
            for series in ("weave", "GM")
            for f in (min, max)
        ),
    ),
)
