"""ktco: GM2 and HararyPT against brokers, topics and subscriptions; topic diameters."""

from __future__ import annotations

from statistics import fmean

from backend.experiments.measure import SEEDS, THREE, Build, build_timed, compare, interests_of, workload
from backend.experiments.sweep import Chart, Point, Record, Size, Statement, Sweep, Table

SHOWN_K = (2, 4, 6, 8, 10, 12)
MOST_K = 14
"""The paper tried k from 2 to 14."""
BUILDS: tuple[Build, ...] = (
    ("GM", "gm", {}),
    ("GM2", "gm2", {}),
    ("CyclePT", "cyclept", {"order": "random"}),
    *((f"HararyPT k={k}", "hararypt", {"k": k, "even_if_cheaper": False}) for k in SHOWN_K),
)
SERIES = tuple(series for series, _, _ in BUILDS)
DRAWN = ("GM", "GM2", "CyclePT", "HararyPT k=2", "HararyPT k=6", "HararyPT k=10")
_RATE = "supposed: another exponential rate, which the paper does not print; an earlier trial with a steeper one found 12"
_RARE = (
    "it falls from 20 subscriptions on uniform interests; on skewed ones the first 50 bring rare topics in, whose few"
    " subscribers need links of their own"
)
_RANDOM_TIES = "supposed: diameters depend on how ties are broken, which the paper does not say"


def _brokers(size: Size) -> list[Point]:
    many, seeds = (
        ((100, 400, 700, 1000), SEEDS) if size == "quick" else (range(100, 1001, 100), (1, 2, 3, 4, 5))
    )
    return [workload(v, 200, 30, d, seed) for seed in seeds for v in many for d in THREE]


def _topics(size: Size) -> list[Point]:
    topics, seeds = (
        ((100, 400, 700, 1000), SEEDS) if size == "quick" else (range(100, 1001, 100), (1, 2, 3, 4, 5))
    )
    return [workload(800, t, 30, d, seed) for seed in seeds for t in topics for d in THREE]


def _subscriptions(size: Size) -> list[Point]:
    sizes, seeds = ((10, 20, 50, 100), SEEDS) if size == "quick" else (range(10, 101, 10), (1, 2, 3, 4, 5))
    return [workload(800, 200, s, d, seed) for seed in seeds for s in sizes for d in THREE]


def _compare(point: Point) -> list[Record]:
    return compare(interests_of(point), BUILDS, point["seed"])


def _compare_paths(point: Point) -> list[Record]:
    """As the others, with topic diameters, and the largest k that HararyPT gives for no more links than CyclePT."""
    interests, seed = interests_of(point), point["seed"]
    records = compare(interests, BUILDS, seed, spans=("GM", "GM2"))
    cycles = next(record for record in records if record["series"] == "CyclePT")
    within = 1
    for k in range(2, MOST_K + 1):
        overlay, _ = build_timed(interests, "hararypt", {"k": k, "even_if_cheaper": False}, seed)
        if len(overlay.links) <= cycles["links"]:
            within = k
    cycles["k_within"] = within
    return records


def _within(distribution: str, table: Table) -> float:
    """The k that HararyPT reaches within CyclePT's links, 1,000 brokers."""
    return table.where(series="CyclePT", distribution=distribution, brokers=1000).mean("k_within")


def _peak(table: Table) -> float:
    """The subscriptions at which the average degree is highest."""
    sizes = table.by("subscriptions")
    return float(max(sizes, key=lambda s: sizes[s].mean("average_degree")))


def _gap_grows(table: Table) -> float:
    """How much further GM's largest topic diameter is above GM2's at most brokers than at fewest, mean over distributions."""
    found = [
        part.excesses("diameter_max", "GM", "GM2", "brokers") for part in table.by("distribution").values()
    ]
    return fmean(gaps[-1] - gaps[0] for gaps in found)


def _falls(table: Table, series: str, along: str) -> float:
    return max(
        part.where(series=series).steepest("average_degree", along)
        for part in table.by("distribution").values()
    )


SWEEPS = (
    Sweep(
        "ktco-brokers",
        "2TCO and kTCO against the number of brokers",
        "ktco Figs 3, 6 and 8",
        "200 topics, 30 subscriptions.",
        _brokers,
        _compare_paths,
        (
            Chart("ktco-brokers-degree", "Average degree", "brokers", "average_degree", DRAWN, log_y=True),
            Chart("ktco-brokers-diameter", "Mean topic diameter", "brokers", "diameter_mean", ("GM", "GM2")),
            Chart("ktco-brokers-longest", "Largest topic diameter", "brokers", "diameter_max", ("GM", "GM2")),
        ),
        series=SERIES,
    ),
    Sweep(
        "ktco-topics",
        "2TCO and kTCO against the number of topics",
        "ktco Fig 4",
        "800 brokers, 30 subscriptions.",
        _topics,
        _compare,
        (Chart("ktco-topics-degree", "Average degree", "topics", "average_degree", DRAWN, log_y=True),),
        series=SERIES,
    ),
    Sweep(
        "ktco-subscriptions",
        "2TCO and kTCO against subscriptions",
        "ktco Fig 5",
        "800 brokers, 200 topics.",
        _subscriptions,
        _compare,
        (
            Chart(
                "ktco-subscriptions-degree",
                "Average degree",
                "subscriptions",
                "average_degree",
                DRAWN,
                log_y=True,
            ),
        ),
        series=SERIES,
    ),
)

STATEMENTS = (
    *(
        Statement(
            f"ktco {figure}",
            "GM2's average degree by GM's, mean",
            1.66,
            sweep,
            lambda table: table.ratio("average_degree", "GM2", "GM"),
            kind="at most",
            tolerance=0.02,
        )
        for figure, sweep in (("Fig 3", "ktco-brokers"), ("Fig 4", "ktco-topics"))
    ),
    Statement(
        "ktco Fig 3",
        "CyclePT's average degree by GM2's, mean",
        5.0,
        "ktco-brokers",
        lambda table: table.ratio("average_degree", "CyclePT", "GM2"),
        tolerance=0.1,
        note='printed as "about"',
    ),
    Statement(
        "ktco Fig 3",
        "CyclePT's average degree by twice the subscriptions, 1,000 brokers",
        1.0,
        "ktco-brokers",
        lambda table: table.where(series="CyclePT", brokers=1000).mean("average_degree") / 60,
        tolerance=0.15,
        note='printed as "roughly"',
    ),
    Statement(
        "ktco Fig 3",
        "GM2's average degree falls as brokers are added (largest rise between two sizes)",
        0.0,
        "ktco-brokers",
        lambda table: _falls(table, "GM2", "brokers"),
        kind="at most",
        tolerance=0.0,
        form="{:.3f}",
        printed_as="falls",
        reason="on Zipf interests it is the same for 100 and 200 brokers (10.672 and 10.674), and falls from there; on others it falls all along",
    ),
    *(
        Statement(
            "ktco Fig 3",
            f"k of HararyPT within CyclePT's links, {distribution}, 1,000 brokers",
            printed,
            "ktco-brokers",
            lambda table, d=distribution: _within(d, table),  # type: ignore[misc]
            tolerance=0.1,
            form="{:.1f}",
            reason=reason,
        )
        for distribution, printed, reason in (
            ("exponential", 12, _RATE),
            (
                "zipf",
                7,
                "odd k cost more links than the next even k: the links across the circle do not line up between topics",
            ),
            ("uniform", 5, "as for Zipf: k = 4 fits, k = 5 does not"),
        )
    ),
    Statement(
        "ktco Fig 4",
        "CyclePT's average degree above GM2's, mean",
        43.1,
        "ktco-topics",
        lambda table: table.excess("average_degree", "CyclePT", "GM2"),
        kind="at least",
        form="{:.1f}",
    ),
    *(
        Statement(
            "ktco App. D-A",
            f"HararyPT's average degree, k=10, uniform, {topics:,} topics",
            printed,
            "ktco-topics",
            lambda table, t=topics: table.where(  # type: ignore[misc]
                series="HararyPT k=10", distribution="uniform", topics=t
            ).mean("average_degree"),
            tolerance=0.01,
        )
        for topics, printed in ((100, 54.22), (1000, 222.84))
    ),
    Statement(
        "ktco App. D-A",
        "HararyPT's links for k=2 by CyclePT's, the worst",
        1.0,
        "ktco-topics",
        lambda table: max(a / b for a, b in table.pairs("links", "HararyPT k=2", "CyclePT")),
        kind="at most",
        tolerance=0.0,
        printed_as="always fewer",
    ),
    Statement(
        "ktco App. D-A",
        "HararyPT's average degree for k=6 by CyclePT's, exponential and Zipf",
        1.0,
        "ktco-topics",
        lambda table: table.where(distribution=("exponential", "zipf")).ratio(
            "average_degree", "HararyPT k=6", "CyclePT"
        ),
        tolerance=0.15,
        printed_as="almost the same",
    ),
    *(
        Statement(
            "ktco Fig 5",
            f"{series}'s average degree falls with subscriptions (largest rise between two sizes)",
            0.0,
            "ktco-subscriptions",
            lambda table, series=series: _falls(table, series, "subscriptions"),  # type: ignore[misc]
            kind="at most",
            tolerance=0.0,
            printed_as="falls",
            reason=_RARE,
        )
        for series in ("GM2", "GM")
    ),
    Statement(
        "ktco Fig 5",
        "what GM2's average degree is above GM's shrinks with subscriptions (at most of them less that at fewest, the worst of the distributions)",
        0.0,
        "ktco-subscriptions",
        lambda table: max(
            (gaps := part.excesses("average_degree", "GM2", "GM", "subscriptions"))[-1] - gaps[0]
            for part in table.by("distribution").values()
        ),
        kind="at most",
        tolerance=0.0,
        printed_as="shrinks",
        reason="it does on uniform interests; on skewed ones the first 50 subscriptions bring rare topics in, as above",
    ),
    *(
        Statement(
            "ktco App. D-B",
            f"subscriptions at which HararyPT's average degree peaks, k=10, {distribution}",
            printed,
            "ktco-subscriptions",
            lambda table, d=distribution: _peak(table.where(series="HararyPT k=10", distribution=d)),  # type: ignore[misc]
            tolerance=0.25,
            form="{:.0f}",
            note='printed as "around"',
        )
        for distribution, printed in (("uniform", 20), ("zipf", 50))
    ),
    Statement(
        "ktco App. D-B",
        "CyclePT's average degree at 100 subscriptions, mean over distributions",
        177.23,
        "ktco-subscriptions",
        lambda table: table.where(series="CyclePT", subscriptions=100).mean("average_degree"),
        tolerance=0.01,
    ),
    Statement(
        "ktco App. D-B",
        "HararyPT's average degree for k=12 at 100 subscriptions, mean over distributions",
        60.20,
        "ktco-subscriptions",
        lambda table: table.where(series="HararyPT k=12", subscriptions=100).mean("average_degree"),
        reason="supposed: the exponential rate again",
    ),
    Statement(
        "ktco Fig 6",
        "GM2's largest topic diameter by GM's, uniform",
        0.40,
        "ktco-brokers",
        lambda table: table.where(distribution="uniform").ratio("diameter_max", "GM2", "GM"),
        tolerance=0.1,
        reason=_RANDOM_TIES,
    ),
    Statement(
        "ktco Fig 6",
        "GM2's mean topic diameter by GM's, uniform",
        0.50,
        "ktco-brokers",
        lambda table: table.where(distribution="uniform").ratio("diameter_mean", "GM2", "GM"),
        tolerance=0.1,
        reason=_RANDOM_TIES,
    ),
    *(
        Statement(
            "ktco Fig 6",
            f"{what} topic diameter of GM less GM2's, uniform, 1,000 brokers",
            printed,
            "ktco-brokers",
            lambda table, column=column: table.where(distribution="uniform", brokers=1000).excess(  # type: ignore[misc]
                column, "GM", "GM2"
            ),
            tolerance=0.15,
            form="{:.1f}",
            reason=_RANDOM_TIES,
        )
        for what, column, printed in (
            ("largest", "diameter_max", 17.5),
            ("mean", "diameter_mean", 10.0),
        )
    ),
    *(
        Statement(
            "ktco Fig 8",
            f"GM2's {what} topic diameter by GM's, mean over distributions",
            printed,
            "ktco-brokers",
            lambda table, column=column: fmean(  # type: ignore[misc]
                part.ratio(column, "GM2", "GM") for part in table.by("distribution").values()
            ),
            tolerance=0.1,
            reason=_RANDOM_TIES,
        )
        for what, column, printed in (("largest", "diameter_max", 0.45), ("mean", "diameter_mean", 0.51))
    ),
    *(
        Statement(
            "ktco Fig 8",
            f"largest topic diameter of GM less GM2's, {distribution}, 1,000 brokers",
            printed,
            "ktco-brokers",
            lambda table, d=distribution: table.where(distribution=d, brokers=1000).excess(  # type: ignore[misc]
                "diameter_max", "GM", "GM2"
            ),
            tolerance=0.15,
            form="{:.1f}",
            reason=_RANDOM_TIES,
        )
        for distribution, printed in (("exponential", 16.75), ("zipf", 10.5))
    ),
    Statement(
        "ktco Fig 8",
        "that gap grows with the brokers (at most of them less that at fewest, mean over distributions)",
        0.0,
        "ktco-brokers",
        _gap_grows,
        kind="at least",
        tolerance=0.0,
        printed_as="grows",
        form="{:.1f}",
    ),
    *(
        Statement(
            f"ktco {section}",
            "GM2's average degree by GM's, mean over distributions",
            printed,
            "ktco-brokers",
            lambda table: fmean(
                part.ratio("average_degree", "GM2", "GM") for part in table.by("distribution").values()
            ),
            tolerance=0.03,
            note=f'printed as "{word}"; the paper has both figures, in sections I and IX',
            reason="ties by low degree are a part of it (in one trial 4 to 6% of GM2's links on skewed interests, 1% on uniform ones); the rest is not known",
        )
        for section, printed, word in (("I", 1.5, "around"), ("IX", 1.65, "about"))
    ),
)
