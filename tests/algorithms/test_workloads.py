"""The papers' workloads: exact sizes, the right popularity, the same interests for the same seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from algorithms import BadInput, Interests, build
from algorithms.workloads import SIZE_EXPONENT, Distribution, generate, popularity


def rows(interests: Interests) -> tuple[object, ...]:
    return (
        interests.brokers,
        interests.topics,
        interests.broker_start.tolist(),
        interests.broker_topics.tolist(),
    )


@pytest.mark.parametrize("distribution", ["uniform", "zipf", "exponential"])
def test_fixed_sizes_are_exact(distribution: Any) -> None:
    for wanted in (1, 7, 19, 20):
        interests = generate(brokers=300, topics=20, subscriptions=wanted, distribution=distribution, seed=1)
        assert (interests.broker_sizes() == wanted).all()
        assert interests.duplicates == 0


def test_a_first_draw_follows_the_popularity() -> None:
    """With one subscription a broker, a topic's share of the brokers is its probability."""
    cases: list[tuple[Distribution, float]] = [("uniform", 2), ("zipf", 0.5), ("zipf", 2), ("exponential", 2)]
    for distribution, exponent in cases:
        q = popularity(30, distribution, exponent)
        interests = generate(
            brokers=40_000, topics=30, subscriptions=1, distribution=distribution, exponent=exponent, seed=5
        )
        share = np.zeros(30)
        share[[int(name[1:]) - 1 for name in interests.topics]] = interests.topic_sizes() / 40_000
        assert np.abs(share - q).max() < 5 * np.sqrt(q.max() / 40_000)


def test_later_draws_are_those_of_drawing_until_distinct() -> None:
    """Against the literal rule: draw by popularity, ignore repeats, stop at the size."""
    random = np.random.default_rng(8)
    q = popularity(12, "zipf", 1.0)
    literal = np.zeros(12)
    for _ in range(6_000):
        chosen: set[int] = set()
        while len(chosen) < 5:
            chosen.add(int(random.choice(12, p=q)))
        literal[list(chosen)] += 1
    interests = generate(brokers=6_000, topics=12, subscriptions=5, distribution="zipf", exponent=1.0, seed=9)
    assert np.abs(interests.topic_sizes() - literal).max() / 6_000 < 0.035


def test_independent_draws_have_the_expected_size() -> None:
    for distribution in ("uniform", "exponential"):
        interests = generate(
            brokers=20_000, topics=80, subscriptions=6, distribution=distribution, sizes="independent", seed=3
        )
        sizes = interests.broker_sizes()
        assert sizes.mean() == pytest.approx(6, rel=0.02)
        assert sizes.min() < 3 < 9 < sizes.max()
    # 10 of 12 topics under Zipf 2: the popular ones are certain, and the mean is still what was asked for.
    steep = generate(
        brokers=5_000, topics=12, subscriptions=10, distribution="zipf", sizes="independent", seed=3
    )
    assert steep.broker_sizes().mean() == pytest.approx(10, rel=0.02)
    assert steep.topic_sizes()[0] == 5_000


def test_power_law_sizes_lie_between_their_bounds() -> None:
    interests = generate(brokers=30_000, topics=200, subscriptions=(10, 90), sizes="power-law", seed=4)
    sizes = interests.broker_sizes()
    k = np.arange(10, 91)
    share = k**-SIZE_EXPONENT / (k**-SIZE_EXPONENT).sum()
    assert (sizes.min(), sizes.max()) == (10, 90)
    assert sizes.mean() == pytest.approx((k * share).sum(), rel=0.02)
    assert (sizes == 10).mean() == pytest.approx(share[0], rel=0.06)


def test_the_exponential_popularity_is_the_papers() -> None:
    """gm section 8: the most popular 10% of topics hold 0.55 of the probability."""
    for topics in (10, 100, 200, 1_000):
        q = popularity(topics, "exponential")
        assert q[: topics // 10].sum() == pytest.approx(0.55, abs=1e-9)
        assert (np.diff(q) < 0).all()
    assert popularity(1, "exponential").tolist() == [1.0]


def test_zipf_is_proportional_to_a_power_of_the_rank() -> None:
    q = popularity(50, "zipf", 0.5)
    assert q[0] / q[3] == pytest.approx(2.0)
    assert q.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    "more",
    [
        {"subscriptions": 5},
        {"subscriptions": 5, "sizes": "independent"},
        {"subscriptions": (2, 9), "sizes": "power-law"},
    ],
    ids=["fixed", "independent", "power-law"],
)
def test_the_seed_decides(more: dict[str, Any]) -> None:
    def made(seed: int) -> Interests:
        return generate(brokers=100, topics=30, distribution="zipf", seed=seed, **more)

    assert rows(made(1)) == rows(made(1))
    assert rows(made(1)) != rows(made(2))


def test_ids_sort_as_their_numbers() -> None:
    interests = generate(brokers=1_200, topics=15, subscriptions=2, seed=0)
    assert interests.brokers[0] == "b0001"
    assert interests.brokers[-1] == "b1200"
    assert list(interests.brokers) == sorted(interests.brokers)
    assert interests.topics[:2] == ("t01", "t02")


def test_a_topic_nobody_drew_does_not_appear_and_a_broker_without_topics_does() -> None:
    few = generate(brokers=2, topics=50, subscriptions=1, seed=0)
    assert len(few.topics) <= 2
    sparse = generate(brokers=500, topics=3, subscriptions=1, sizes="independent", seed=0)
    assert len(sparse.brokers) == 500
    assert (sparse.broker_sizes() == 0).any()


def test_cyclept_costs_what_the_paper_says() -> None:
    """ktco appendix: CyclePT at V=800, T=200, s=100 has average degree 177.23."""
    degrees = [
        build(
            "cyclept", generate(brokers=800, topics=200, subscriptions=100, distribution=d, seed=1)
        ).average_degree
        for d in ("uniform", "zipf", "exponential")
    ]
    assert sum(degrees) / 3 == pytest.approx(177.23, rel=0.02)


@pytest.mark.parametrize(
    ("workload", "links"),
    [
        ({"topics": 100, "subscriptions": 20}, 2_630),
        ({"topics": 100, "subscriptions": 20, "sizes": "independent"}, 2_550),
        ({"topics": 200, "subscriptions": 30}, 3_664),
        ({"topics": 200, "subscriptions": 30, "distribution": "zipf", "exponent": 0.5}, 3_719),
        ({"topics": 200, "subscriptions": 30, "distribution": "zipf"}, 3_316),
        ({"topics": 200, "subscriptions": 30, "distribution": "exponential"}, 3_018),
    ],
    ids=["uniform", "independent", "uniform-200", "zipf-0.5", "zipf-2", "exponential"],
)
def test_gm_takes_the_links_it_takes_elsewhere(workload: dict[str, Any], links: int) -> None:
    """Other implementations of GM, on their own workloads of these shapes, take this many links at 1,000 brokers."""
    taken = [len(build("gm", generate(brokers=1_000, seed=seed, **workload)).links) for seed in range(2)]
    assert sum(taken) / 2 == pytest.approx(links, rel=0.02)


def test_rings_cost_three_times_gm() -> None:
    """gm Fig 4: RingPT by id has roughly three times the degree of GM, Zipf 0.5, s=10."""
    interests = generate(
        brokers=2_000, topics=100, subscriptions=10, distribution="zipf", exponent=0.5, seed=1
    )
    assert 2.5 <= len(build("ringpt", interests).links) / len(build("gm", interests).links) <= 3.7


BAD: list[tuple[dict[str, Any], str]] = [
    ({"brokers": 0}, "brokers: must be at least 1"),
    ({"brokers": 2.5}, "brokers: must be a whole number"),
    ({"topics": "many"}, "topics: must be a whole number"),
    ({"topics": True}, "topics: must be a whole number"),
    ({"subscriptions": 11}, "subscriptions: must be at least 1 and at most 10"),
    ({"subscriptions": 0}, "subscriptions: must be at least 1"),
    ({"subscriptions": (2, 4)}, "subscriptions: must be a whole number"),
    ({"sizes": "power-law"}, "subscriptions: power-law sizes need the pair"),
    ({"sizes": "power-law", "subscriptions": (5, 4)}, "subscriptions: must be at least 5"),
    ({"sizes": "random"}, "sizes: must be one of fixed, independent, power-law"),
    ({"distribution": "pareto"}, "distribution: must be one of uniform, zipf, exponential"),
    ({"exponent": -1.0}, "exponent: must be a number, at least 0"),
    ({"exponent": float("nan")}, "exponent: must be a number"),
    ({"seed": -1}, "seed: must be at least 0"),
]


@pytest.mark.parametrize(("wrong", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_input_names_the_field(wrong: dict[str, Any], message: str) -> None:
    made: Callable[..., Interests] = generate
    with pytest.raises(BadInput, match=message):
        made(**({"brokers": 20, "topics": 10, "subscriptions": 3} | wrong))
