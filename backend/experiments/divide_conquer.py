"""dc: Naive and Star Merge, DC against brokers, topics, subscriptions and parts; Table I."""

from __future__ import annotations

import numpy as np

from algorithms import Interests, Overlay
from algorithms.divide_conquer import conquer_parts
from algorithms.interests import Ints
from algorithms.merge import naive_merge, star_merge
from algorithms.order import id_hashes, random_ranks
from algorithms.workloads import generate
from backend.experiments.measure import SEEDS, THREE, build_timed, degrees, interests_of, timed, workload
from backend.experiments.sweep import Chart, Point, Record, Size, Sweep

PART = 100
"""Brokers a part, in the paper."""
DEFAULT_PARTS = 10
"""How many, in the paper, unless it says otherwise."""
TEN = "DC, 10 parts"


def equal_parts(interests: Interests, parts: int, seed: int) -> Ints:
    """Random parts whose sizes differ by at most one, as the paper's."""
    return random_ranks(id_hashes(interests.brokers), seed) % np.int32(parts)


def _divided(interests: Interests, parts: int, seed: int) -> Record:
    """DC with one thread: degrees, what lies inside and across, the seconds of both."""
    _warm()
    part = equal_parts(interests, parts, seed)
    built, seconds = timed(lambda: conquer_parts(interests, part, seed=seed, threads=1))
    inner = np.bincount(built.inner.ravel(), minlength=len(interests.brokers)).astype(np.int32)
    _, across = timed(lambda: star_merge(interests, part, seed=seed, degrees=inner))
    return {
        **degrees(Overlay.from_links(interests, built.links)),
        "seconds": seconds,
        "inner_seconds": max(seconds - across, 0.0),
        "outer_seconds": across,
        "inner_links": len(built.inner),
        "outer_links": len(built.outer),
        "star_set": float(built.star_set_sizes.mean()),
        "star_set_variance": float(built.star_set_sizes.var(ddof=1)) if parts > 1 else None,
        "star_set_min": int(built.star_set_sizes.min()),
        "star_set_max": int(built.star_set_sizes.max()),
        "pn_ratio": built.pn_ratio,
    }


def _warm() -> None:
    if not _WARM:
        small = generate(brokers=60, topics=10, subscriptions=4, seed=1)
        part = equal_parts(small, 3, 1)
        conquer_parts(small, part, threads=1)
        naive_merge(small, part, degrees=np.zeros(60, np.int32))
        star_merge(small, part, degrees=np.zeros(60, np.int32))
        _WARM.append(True)


_WARM: list[bool] = []


def _against_gm(point: Point) -> list[Record]:
    """GM, DC with parts of 100 or as the point says, and rings with an order of their own for each topic."""
    interests, seed = interests_of(point), point["seed"]
    merged, seconds = build_timed(interests, "gm", {}, seed)
    divided = _divided(interests, point.get("parts", max(point["brokers"] // PART, 1)), seed)
    rings, _ = build_timed(interests, "ringpt", {"order": "random"}, seed)
    return [
        {"series": "GM", **degrees(merged), "seconds": seconds, "time_ratio": 1.0},
        {"series": "DC", **divided, "time_ratio": divided["seconds"] / seconds if seconds else None},
        {"series": "RingPT", **degrees(rings)},
    ]


def _two_divisions(point: Point) -> list[Record]:
    """As against GM, with the paper's default of 10 parts too: it does not say which of both these figures have."""
    interests, seed = interests_of(point), point["seed"]
    records = _against_gm(point)
    divided = _divided(interests, DEFAULT_PARTS, seed)
    seconds = records[0]["seconds"]
    return [
        *records,
        {"series": TEN, **divided, "time_ratio": divided["seconds"] / seconds if seconds else None},
    ]


def _merge(point: Point) -> list[Record]:
    """Overlays of 100 brokers each, by GM, joined by Naive and by Star Merge; GM from scratch beside them."""
    interests, seed = interests_of(point), point["seed"]
    merged, seconds = build_timed(interests, "gm", {}, seed)
    _warm()
    part = equal_parts(interests, max(point["brokers"] // PART, 1), seed)
    built = conquer_parts(interests, part, seed=seed, threads=1)
    inner = np.bincount(built.inner.ravel(), minlength=len(interests.brokers)).astype(np.int32)
    records: list[Record] = [{"series": "GM", **degrees(merged), "time_ratio": 1.0, "pn_ratio": 1.0}]
    for series, merge in (("Naive Merge", naive_merge), ("Star Merge", star_merge)):
        joined, spent = timed(lambda merge=merge: merge(interests, part, seed=seed, degrees=inner))  # type: ignore[misc]
        links = np.concatenate([built.inner, joined.outer])
        records.append(
            {
                "series": series,
                **degrees(Overlay.from_links(interests, links)),
                "time_ratio": spent / seconds if seconds else None,
                "pn_ratio": built.pn_ratio if series == "Star Merge" else 1.0,
            }
        )
    return records


def _in_parts(point: Point) -> list[Record]:
    """DC for one number of parts, GM beside it."""
    interests, seed = interests_of(point), point["seed"]
    merged, seconds = build_timed(interests, "gm", {}, seed)
    divided = _divided(interests, point["parts"], seed)
    divided["above_gm"] = divided["average_degree"] - merged.average_degree
    return [
        {"series": "GM", **degrees(merged), "time_ratio": 1.0},
        {"series": "DC", **divided, "time_ratio": divided["seconds"] / seconds if seconds else None},
    ]


def _brokers(size: Size) -> list[Point]:
    many = (1000, 2000, 4000, 8000) if size == "quick" else range(1000, 8001, 1000)
    return [workload(v, 100, 20, d, seed) for seed in SEEDS for v in many for d in THREE]


def _topics(size: Size) -> list[Point]:
    topics = (100, 400, 700, 1000) if size == "quick" else range(100, 1001, 100)
    return [workload(4000, t, 20, d, seed) for seed in SEEDS for t in topics for d in THREE]


def _subscriptions(size: Size) -> list[Point]:
    sizes = (10, 40, 100) if size == "quick" else range(10, 101, 10)
    return [workload(4000, 400, s, d, seed) for seed in SEEDS for s in sizes for d in THREE]


def _parts(size: Size) -> list[Point]:
    quick = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
    parts = quick if size == "quick" else sorted({*quick, 3, 4, 7, 15, 30, 40, 70, 150, 300, 400, 700, 850})
    spread = ("uniform",) if size == "quick" else THREE
    return [workload(1000, 200, 20, d, seed, parts=p) for seed in SEEDS for p in parts for d in spread]


def _table_one(size: Size) -> list[Point]:
    runs = 10 if size == "quick" else 400
    return [
        workload(1000, 100, 20, "uniform", seed, sizes=sizes, parts=10)
        for sizes in ("fixed", "independent")
        for seed in range(1, runs + 1)
    ]


SWEEPS = (
    Sweep(
        "dc-merge",
        "Joining overlays: Naive and Star Merge",
        "dc Figs 4 and 5",
        "Overlays of 100 brokers each by GM, 100 topics, 20 subscriptions, joined into one.",
        _brokers,
        _merge,
        (
            Chart("dc-merge-degree", "Average degree", "brokers", "average_degree"),
            Chart("dc-merge-time", "Time by GM's", "brokers", "time_ratio", log_y=True),
        ),
        series=("GM", "Naive Merge", "Star Merge"),
    ),
    Sweep(
        "dc-table-1",
        "DC with random parts, many runs",
        "dc Table I",
        "1,000 brokers, 100 topics, 20 subscriptions, 10 parts, uniform; fixed sizes and independent draws.",
        _table_one,
        _in_parts,
        series=("GM", "DC"),
        shown=("average_degree", "star_set", "time_ratio"),
        rows_by=("sizes", "series"),
    ),
    Sweep(
        "dc-parts",
        "DC against the number of parts",
        "dc Figs 6 and 7",
        "1,000 brokers, 200 topics, 20 subscriptions.",
        _parts,
        _in_parts,
        (
            Chart("dc-parts-degree", "Average degree", "parts", "average_degree", log_x=True),
            Chart("dc-parts-time", "Time by GM's", "parts", "time_ratio", ("DC",), log_x=True, log_y=True),
        ),
        series=("GM", "DC"),
        shown=("average_degree", "inner_links", "outer_links", "star_set", "pn_ratio", "time_ratio"),
        rows_by=("distribution", "parts"),
        shown_where={"series": "DC"},
    ),
    Sweep(
        "dc-brokers",
        "DC against the number of brokers",
        "dc Figs 8, 9 and 12",
        "100 topics, 20 subscriptions, parts of 100 brokers. The table is DC's on uniform interests.",
        _brokers,
        _against_gm,
        (
            Chart("dc-brokers-degree", "Average degree", "brokers", "average_degree"),
            Chart("dc-brokers-time", "DC's time by GM's", "brokers", "time_ratio", ("DC",), log_y=True),
        ),
        series=("GM", "DC", "RingPT"),
        shown=("inner_links", "outer_links", "inner_seconds", "outer_seconds", "star_set", "pn_ratio"),
        shown_where={"series": "DC", "distribution": "uniform"},
        rows_by=("brokers",),
    ),
    Sweep(
        "dc-topics",
        "DC against the number of topics",
        "dc Fig 10",
        "4,000 brokers, 20 subscriptions; parts of 100 brokers, and 10 parts.",
        _topics,
        _two_divisions,
        (
            Chart("dc-topics-degree", "Average degree", "topics", "average_degree", ("GM", "DC", TEN)),
            Chart("dc-topics-time", "DC's time by GM's", "topics", "time_ratio", ("DC", TEN)),
        ),
        series=("GM", "DC", TEN, "RingPT"),
    ),
    Sweep(
        "dc-subscriptions",
        "DC against subscriptions",
        "dc Fig 11",
        "4,000 brokers, 400 topics; parts of 100 brokers, and 10 parts.",
        _subscriptions,
        _two_divisions,
        (
            Chart(
                "dc-subscriptions-degree",
                "Average degree",
                "subscriptions",
                "average_degree",
                ("GM", "DC", TEN),
            ),
        ),
        series=("GM", "DC", TEN, "RingPT"),
    ),
)
