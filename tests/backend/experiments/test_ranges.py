"""The full size is the papers' own: every range that a figure of theirs was drawn over, spelled out."""

from __future__ import annotations

from typing import Any

import pytest

from backend.experiments.catalogue import SWEEPS
from backend.experiments.low_degree import RHO

THREE = ["exponential", "uniform", "zipf"]
TO_8000 = list(range(1000, 8001, 1000))
TO_10000 = list(range(1000, 10_001, 1000))
TENTHS = list(range(100, 1001, 100))
TENS = list(range(10, 101, 10))
SHADOW: dict[str, list[Any]] = {
    "brokers": [2000],
    "topics": [200],
    "subscriptions": [[10, 90]],
    "sizes": ["power-law"],
}
FULL: dict[str, dict[str, list[Any]]] = {
    "gm-brokers": {
        "brokers": TO_10000,
        "topics": [100, 200],
        "subscriptions": [10],
        "exponent": [0.5],
        "distribution": THREE,
    },
    "gm-subscriptions": {
        "brokers": [1000],
        "topics": list(range(100, 201, 20)),
        "subscriptions": [10, 20],
        "exponent": [0.5],
    },
    "gm-rounds": {"brokers": [1000], "topics": [100], "subscriptions": [10], "distribution": THREE},
    "dc-merge": {"brokers": TO_8000, "topics": [100], "subscriptions": [20], "distribution": THREE},
    "dc-table-1": {
        "brokers": [1000],
        "topics": [100],
        "subscriptions": [20],
        "parts": [10],
        "seed": list(range(1, 401)),
    },
    "dc-parts": {
        "brokers": [1000],
        "topics": [200],
        "subscriptions": [20],
        "distribution": THREE,
        "parts": [1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100, 150, 200, 300, 400, 500, 700, 850, 1000],
    },
    "dc-brokers": {"brokers": TO_8000, "topics": [100], "subscriptions": [20], "distribution": THREE},
    "dc-topics": {"brokers": [4000], "topics": TENTHS, "subscriptions": [20], "distribution": THREE},
    "dc-subscriptions": {
        "brokers": [4000],
        "topics": [400],
        "subscriptions": TENS,
        "distribution": THREE,
    },
    "low-brokers": {"brokers": TENTHS, "topics": [100], "subscriptions": [10], "exponent": [0.5]},
    "low-rho": {"brokers": [100], "topics": [100], "subscriptions": [10], "exponent": [0.5]},
    "low-2d-brokers": {"brokers": TENTHS, "topics": [100], "subscriptions": [10]},
    "low-2d-topics": {"brokers": [100], "topics": list(range(100, 501, 50)), "subscriptions": [20]},
    "low-2d-subscriptions": {"brokers": [100], "topics": [100], "subscriptions": list(range(10, 51, 5))},
    "ktco-brokers": {"brokers": TENTHS, "topics": [200], "subscriptions": [30], "distribution": THREE},
    "ktco-topics": {"brokers": [800], "topics": TENTHS, "subscriptions": [30], "distribution": THREE},
    "ktco-subscriptions": {
        "brokers": [800],
        "topics": [200],
        "subscriptions": TENS,
        "distribution": THREE,
    },
    "shadow-backups": {**SHADOW, "distribution": THREE},
    "shadow-churn": {**SHADOW, "rounds": [1000], "distribution": THREE},
    "shadow-lambda": {**SHADOW, "rounds": [1000], "distribution": THREE},
    "beyond-k": {"brokers": [1000], "k": list(range(2, 11)), "distribution": THREE},
    "beyond-size": {"brokers": [10_000, 20_000, 50_000, 100_000, 200_000, 1_000_000]},
}
SERIES = {
    "ktco-brokers": {"GM", "GM2", "CyclePT", *(f"HararyPT k={k}" for k in (2, 4, 6, 8, 10, 12))},
    "low-brokers": {"GM", "GM, ties in row order", "MinMax-ODA", "Low-ODA"},
    "low-2d-brokers": {"GM", "CD-ODA", "CD-ODA-I", "CD-ODA-II", "2D-ODA"},
    "shadow-backups": {"greedy", "primal-dual"},
    "shadow-churn": {"Shadow", "Shadow, greedy backups", "Naive", "Low-ODA"},
    "shadow-lambda": {f"lambda {coverage}" for coverage in (1, 2, 3, 4)},
    "dc-merge": {"GM", "Naive Merge", "Star Merge"},
    "dc-brokers": {"GM", "DC", "RingPT"},
}


@pytest.mark.parametrize("name", FULL)
def test_the_full_size_has_the_papers_ranges(name: str) -> None:
    points = SWEEPS[name].points("full")
    for column, expected in FULL[name].items():
        found = [point[column] for point in points]
        assert sorted({str(value) for value in found}) == sorted(map(str, expected)), column
        assert {type(value) for value in found} == {type(value) for value in expected}, column


def test_no_sweep_of_a_paper_is_left_out() -> None:
    assert set(SWEEPS) - set(FULL) == {"examples", "beyond-real", "beyond-weave"}


@pytest.mark.parametrize("name", [name for name, wanted in FULL.items() if len(wanted) > 1])
def test_every_combination_is_a_point(name: str) -> None:
    """No value is tried at one end of another range only."""
    points = SWEEPS[name].points("full")
    seeds = {point["seed"] for point in points}
    sizes = {point.get("sizes", "fixed") for point in points}
    whole = len(seeds) * len(sizes)
    for column, values in FULL[name].items():
        whole *= len(values) if column not in ("seed", "sizes") else 1
    assert len(points) == whole


@pytest.mark.parametrize("name", SERIES)
def test_what_a_paper_compares_is_compared(name: str) -> None:
    assert set(SWEEPS[name].series) == SERIES[name]


def test_the_parameter_of_low_oda_goes_from_1_to_8() -> None:
    assert list(RHO) == [1, 2, 3, 4, 5, 6, 7, 8]


def test_the_quick_size_has_points_of_the_full_one() -> None:
    """So that a figure of the quick size is one of the papers' own; churn is looked at less often."""
    for name in FULL:
        full = [{**point, "every": None} for point in SWEEPS[name].points("full")]
        for point in SWEEPS[name].points("quick"):
            assert {**point, "every": None} in full, name
