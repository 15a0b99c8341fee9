"""The lower bound: never above the optimum, never above any overlay, near both where it can be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from algorithms import BadInput, Cancelled, Interests, algorithms, build
from algorithms.bound import lower_bound
from algorithms.workloads import generate
from tests.algorithms import instances
from tests.algorithms.strategies import NOTHING_TO_LINK, any_interests, named
from tests.algorithms.twins.optimum import fewest_links


@given(any_interests())
@settings(max_examples=300, deadline=None)
def test_never_above_the_optimum(interests: Interests) -> None:
    assert lower_bound(interests, iterations=30).links <= fewest_links(interests)


def test_equals_the_optimum_of_most_tiny_interests() -> None:
    """The bound is a relaxation, so some instances may stay one below."""
    met = 0
    for seed in range(30):
        interests = generate(brokers=9, topics=8, subscriptions=3, distribution="uniform", seed=seed)
        bound, optimum = lower_bound(interests, iterations=200).links, fewest_links(interests)
        assert bound <= optimum
        met += bound == optimum
    assert met >= 27


@pytest.mark.parametrize("name", [algorithm.name for algorithm in algorithms()])
@pytest.mark.parametrize("distribution", ["uniform", "zipf", "exponential"])
def test_never_above_an_overlay(name: str, distribution: str) -> None:
    interests = generate(brokers=120, topics=30, subscriptions=5, distribution=distribution, seed=3)  # type: ignore[arg-type]
    bound = lower_bound(interests, iterations=60)
    links = len(build(name, interests).links)
    assert bound.links <= links
    assert bound.gap(links) == links / bound.links - 1
    assert bound.average_degree == 2 * bound.links / 120


@pytest.mark.parametrize("name", [algorithm.name for algorithm in algorithms()])
def test_no_algorithm_is_below_the_optimum_nor_far_above_it(name: str) -> None:
    """The exact optimum judges every algorithm; those for k = 1 that merge greedily come within a tenth of it."""
    found = optimum = 0
    for seed in range(12):
        interests = generate(brokers=8, topics=7, subscriptions=3, distribution="uniform", seed=seed)
        fewest = fewest_links(interests)
        for prune in (False, True):
            links = len(build(name, interests, prune=prune).links)
            assert links >= fewest
        found, optimum = found + links, optimum + fewest
    if name in ("gm", "dc", "minmax-oda", "low-oda", "weave"):
        assert found <= 1.1 * optimum


def test_more_iterations_never_lower_it() -> None:
    interests = generate(brokers=200, topics=40, subscriptions=8, distribution="zipf", seed=1)
    few, many = (lower_bound(interests, iterations=n) for n in (0, 150))
    assert few.iterations == 0
    assert many.iterations == 150
    assert few.links < many.links
    assert many.links == lower_bound(interests, iterations=150).links


def test_the_papers_instance() -> None:
    assert lower_bound(instances.tight_for_gm()).links <= 14


def test_topics_that_do_not_fit_are_left_out_and_said_so() -> None:
    """Sixteen million bytes hold topics of two thousand subscribers in all but one case here."""
    everyone = set(range(2500))
    chosen = [{0, 1} if v < 1000 else {0, 2} for v in sorted(everyone)]
    interests = named(chosen)
    part = lower_bound(interests, memory_mb=16, iterations=2)
    assert (part.topics, part.topics_left_out) == (2, 1)
    # What is left, 999 and 1499 links, is less than what connects all 2,500 brokers.
    assert (part.links, part.kind) == (2499, "spanning")
    lonely = named([*chosen, *({3, 4} for _ in range(3)), *({3 + v} for v in range(2))])
    assert lower_bound(lonely, memory_mb=16, iterations=2).links == 2499 + 4


def test_part_of_the_topics_can_be_the_best_bound() -> None:
    random = np.random.default_rng(5)
    chosen = [{0, *random.choice(np.arange(1, 200), 8, replace=False).tolist()} for _ in range(2100)]
    found = lower_bound(named(chosen), memory_mb=16, iterations=1)
    assert (found.kind, found.topics_left_out) == ("part of the topics", 1)
    assert found.links > 2099


@pytest.mark.parametrize("topics", NOTHING_TO_LINK)
def test_nothing_to_link(topics: dict[str, list[str]]) -> None:
    found = lower_bound(Interests.from_mapping(topics))
    assert (found.links, found.average_degree, found.gap(0)) == (0, 0.0, 0.0)


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf")])
def test_bad_seconds(seconds: float) -> None:
    with pytest.raises(BadInput, match="seconds: must be a number, at least 0"):
        lower_bound(named([{1}]), seconds=seconds)


def test_the_callback_sees_progress_and_can_cancel() -> None:
    interests = generate(brokers=50, topics=10, subscriptions=4, distribution="uniform")
    seen: list[float] = []

    def stop(done: float, _stage: str) -> None:
        seen.append(done)
        if len(seen) == 5:
            raise Cancelled

    with pytest.raises(Cancelled):
        lower_bound(interests, iterations=100, progress=stop)
    assert seen == sorted(seen)
