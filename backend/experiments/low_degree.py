"""low, first half: maximum and average degree of GM, MinMax-ODA and Low-ODA."""

from __future__ import annotations

from statistics import fmean

from backend.experiments.greedy_merge import ZIPF
from backend.experiments.measure import SEEDS, Build, compare, interests_of, workload
from backend.experiments.sweep import Chart, Point, Record, Size, Statement, Sweep, Table

ROW_GM = "GM, ties in row order"
BUILDS: tuple[Build, ...] = (
    ("GM", "gm", {}),
    (ROW_GM, "gm", {"ties": "row"}),
    ("MinMax-ODA", "minmax-oda", {}),
    ("Low-ODA", "low-oda", {"rho": 3.0}),
)
RHO = range(1, 9)
_EVEN = "our GM prefers ends of low degree among equal links, and so has nearly MinMax-ODA's maximum degree already"


def _brokers(size: Size) -> list[Point]:
    many, seeds = ((100, 400, 700, 1000), SEEDS) if size == "quick" else (range(100, 1001, 100), range(1, 11))
    return [workload(v, 100, 10, "zipf", seed, exponent=ZIPF) for seed in seeds for v in many]


def _rho(size: Size) -> list[Point]:
    return [
        workload(100, 100, 10, "zipf", seed, exponent=ZIPF)
        for seed in range(1, 11 if size == "quick" else 51)
    ]


def _compare(point: Point) -> list[Record]:
    return compare(interests_of(point), BUILDS, point["seed"])


def _each_rho(point: Point) -> list[Record]:
    interests, seed = interests_of(point), point["seed"]
    records: list[Record] = []
    for rho in RHO:
        (found,) = compare(interests, (("Low-ODA", "low-oda", {"rho": float(rho)}),), seed)
        records.append({**found, "rho": rho})
    for build in BUILDS[:3]:
        (found,) = compare(interests, (build,), seed)
        records += [{**found, "rho": rho} for rho in RHO]
    return records


def _between(table: Table, column: str, low: str, high: str) -> float:
    """The share of numbers of brokers at which Low-ODA's mean lies between the other two's."""
    inside = []
    for rows in table.by("brokers").values():
        least, most = (rows.where(series=s).mean(column) for s in (low, high))
        inside.append(least <= rows.where(series="Low-ODA").mean(column) <= most)
    return fmean(inside)


def _at(table: Table, column: str, rho: int, series: str) -> float:
    """Low-ODA's mean at one rho by the mean of another algorithm."""
    return table.where(series="Low-ODA", rho=rho).mean(column) / table.where(series=series).mean(column)


SWEEPS = (
    Sweep(
        "low-brokers",
        "Low-ODA against the number of brokers",
        "low Figs 1 and 2",
        "100 topics, 10 subscriptions, Zipf 0.5, rho 3.",
        _brokers,
        _compare,
        (
            Chart("low-brokers-maximum", "Maximum degree", "brokers", "max_degree", panels=None, log_y=True),
            Chart("low-brokers-degree", "Average degree", "brokers", "average_degree", panels=None),
        ),
        series=("GM", ROW_GM, "MinMax-ODA", "Low-ODA"),
        shown=("average_degree", "max_degree"),
        rows_by=("brokers", "series"),
    ),
    Sweep(
        "low-rho",
        "Low-ODA against its parameter",
        "low Figs 3 and 4, where it is called k",
        "100 brokers, 100 topics, 10 subscriptions, Zipf 0.5.",
        _rho,
        _each_rho,
        (
            Chart("low-rho-maximum", "Maximum degree", "rho", "max_degree", panels=None),
            Chart("low-rho-degree", "Average degree", "rho", "average_degree", panels=None),
        ),
        series=("Low-ODA", "GM", ROW_GM, "MinMax-ODA"),
    ),
)

STATEMENTS = (
    Statement(
        "low Fig 1",
        "Low-ODA's maximum degree lies between MinMax-ODA's and GM's with ties in row order (share of sizes)",
        1.0,
        "low-brokers",
        lambda table: _between(table, "max_degree", "MinMax-ODA", ROW_GM),
        kind="exactly",
        form="{:.0%}",
        printed_as="always",
        reason="where it is outside, it is by less than one link: Low-ODA and MinMax-ODA nearly coincide",
    ),
    Statement(
        "low Fig 1",
        "Low-ODA's maximum degree lies between MinMax-ODA's and that of GM with ties by low degree (share of sizes)",
        1.0,
        "low-brokers",
        lambda table: _between(table, "max_degree", "MinMax-ODA", "GM"),
        kind="exactly",
        form="{:.0%}",
        printed_as="always",
        reason=_EVEN,
    ),
    Statement(
        "low Fig 2",
        "Low-ODA's average degree lies between GM's and MinMax-ODA's (share of sizes)",
        1.0,
        "low-brokers",
        lambda table: _between(table, "average_degree", "GM", "MinMax-ODA"),
        kind="exactly",
        form="{:.0%}",
        printed_as="always",
    ),
    Statement(
        "low Fig 3",
        "Low-ODA's maximum degree falls as the parameter grows (largest rise between two)",
        0.0,
        "low-rho",
        lambda table: table.where(series="Low-ODA").steepest("max_degree", "rho"),
        kind="at most",
        tolerance=0.0,
        printed_as="falls",
        reason=_EVEN + ": nothing is left to fall",
    ),
    Statement(
        "low Fig 4",
        "Low-ODA's average degree rises with the parameter (largest fall between two)",
        0.0,
        "low-rho",
        lambda table: -table.where(series="Low-ODA").gentlest("average_degree", "rho"),
        kind="at most",
        tolerance=0.0,
        form="{:.4f}",
        printed_as="rises",
        reason="it rises up to 4 and stays there: from 4 to 8 it falls by 0.002 of 7.476",
    ),
    *(
        Statement(
            "low 5.3",
            f"{what} degree of Low-ODA with parameter {rho} by {series}'s",
            1.0,
            "low-rho",
            lambda table, column=column, rho=rho, series=series: _at(table, column, rho, series),  # type: ignore[misc]
            printed_as=f"as {series}",
        )
        for rho, series in ((1, "GM"), (8, "MinMax-ODA"))
        for what, column in (("average", "average_degree"), ("maximum", "max_degree"))
    ),
)
