"""The greedy algorithms by name, judged from outside: every link was the right one at its step, every topic connected.

Links are taken from the algorithm itself, in the order it accepted them; an `Overlay` would have sorted them. Names that
are not registered are not asked for.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import Interests, Overlay, algorithms, build, find_algorithm
from algorithms.progress import silent
from algorithms.workloads import generate
from tests.algorithms import instances
from tests.algorithms.strategies import any_interests
from tests.algorithms.twins import greedy
from tests.algorithms.twins.steps import (
    Pair,
    broken_round_step,
    broken_step,
    topic_components,
    topics_by_broker,
)

REGISTERED = {algorithm.name for algorithm in algorithms()}
judged = settings(max_examples=120, deadline=None)


def needs(name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(name not in REGISTERED, reason=f"{name} is not registered")


def in_order(name: str, interests: Interests, **params: object) -> list[Pair]:
    """The links as the algorithm accepted them."""
    chosen = find_algorithm(name)
    return [(int(a), int(b)) for a, b in chosen.run(interests, progress=silent, **chosen.parse(params))]


@needs("gm")
@judged
@given(any_interests(), st.integers(0, 3))
def test_gm_takes_the_largest_contribution_at_every_step(interests: Interests, seed: int) -> None:
    assert broken_step(interests, in_order("gm", interests, seed=seed)) is None


@needs("gm")
@pytest.mark.parametrize("ties", ["degree", "row", "random"])
@settings(max_examples=60, deadline=None)
@given(interests=any_interests())
def test_gm_is_greedy_however_ties_are_broken(ties: str, interests: Interests) -> None:
    """By degree, a link has the lowest larger degree among its equals; at contribution 1 any low tree will do."""
    links = in_order("gm", interests, ties=ties)
    assert broken_step(interests, links, low_degree_ties=ties == "degree", ties_from=2) is None


@needs("gm")
@settings(max_examples=60, deadline=None)
@given(any_interests(), st.integers(2, 3))
def test_each_round_of_repeated_gm_starts_afresh(interests: Interests, rounds: int) -> None:
    assert broken_round_step(interests, in_order("gm", interests, rounds=rounds), rounds) is None


@needs("low-oda")
@judged
@given(any_interests(), st.sampled_from([1, 1.5, 2, 3, 8]))
def test_low_oda_follows_its_rule_at_every_step(interests: Interests, rho: float) -> None:
    assert broken_step(interests, in_order("low-oda", interests, rho=rho), rho=rho) is None


@needs("minmax-oda")
@judged
@given(any_interests())
def test_minmax_oda_follows_its_rule_at_every_step(interests: Interests) -> None:
    assert broken_step(interests, in_order("minmax-oda", interests), rho=math.inf) is None


@needs("dc")
@judged
@given(any_interests(), st.data())
def test_dc_connects_every_topic_and_with_one_part_is_gm(interests: Interests, data: st.DataObject) -> None:
    brokers = len(interests.brokers)
    assert broken_step(interests, in_order("dc", interests, parts=1)) is None
    parts = data.draw(st.integers(1, brokers))
    links = in_order("dc", interests, parts=parts)
    assert len(set(links)) == len(links)
    assert all(len(set(component.values())) <= 1 for component in topic_components(interests, links))


@needs("dc")
@settings(max_examples=40, deadline=None)
@given(any_interests())
def test_dc_with_a_part_a_broker_is_gm_again(interests: Interests) -> None:
    """Parts are equal in size, so with as many parts as brokers each has one."""
    links = in_order("dc", interests, parts=len(interests.brokers))
    assert broken_step(interests, links) is None


STEPWISE: list[tuple[str, dict[str, Any], float | None]] = [
    ("gm", {}, None),
    ("low-oda", {"rho": 3}, 3.0),
    ("minmax-oda", {}, math.inf),
]


@pytest.mark.parametrize(
    ("name", "params", "rho"), [pytest.param(*case, marks=needs(case[0])) for case in STEPWISE]
)
@pytest.mark.parametrize(
    "workload",
    [
        {"subscriptions": 6, "distribution": "zipf", "exponent": 1.0},
        {"subscriptions": (1, 12), "sizes": "power-law", "distribution": "exponential"},
    ],
    ids=["zipf", "power-law"],
)
def test_larger_interests_step_by_step(
    name: str, params: dict[str, Any], rho: float | None, workload: dict[str, Any]
) -> None:
    interests = generate(brokers=34, topics=20, seed=6, **workload)
    assert broken_step(interests, in_order(name, interests, **params), rho=rho) is None


@needs("gm")
def test_gm_on_the_instance_that_is_tight_for_it() -> None:
    """gm 6.3: 2k + km links where 2m + 2k suffice."""
    for k, m in ((3, 4), (4, 5)):
        interests = instances.tight_for_gm(k, m)
        overlay = build("gm", interests)
        assert len(overlay.links) == 2 * k + k * m
        best = [(f"two{i}", other) for i in range(2) for other in interests.brokers if other[:2] != "tw"]
        assert len(best) == 2 * m + 2 * k
        assert Overlay.from_names(interests, best).is_tco()


@needs("gm")
def test_gm_with_and_without_the_broker_that_has_every_topic() -> None:
    """dc IV: n(n-1)/2 links that a join keeps; from scratch n suffice."""
    for n in (5, 9):
        assert len(build("gm", instances.one_topic_a_pair(n)).links) == n * (n - 1) // 2
        assert len(build("gm", instances.one_topic_a_pair(n, with_all=True)).links) == n


@needs("minmax-oda")
def test_minmax_oda_on_lemma_1() -> None:
    """low Lemma 1: quadratically many links where n - 1 suffice; see the instance for what is exact."""
    assert len(build("minmax-oda", instances.lemma_1(4)).links) == 4
    for n in (6, 8, 12):
        interests = instances.lemma_1(n)
        taken = build("minmax-oda", interests)
        assert n * n / 4 <= len(taken.links) <= n * (n - 2) / 2 + 1
        assert len(build("gm", interests).links) == n - 1


@needs("gm")
@settings(max_examples=60, deadline=None)
@given(any_interests())
def test_gm_takes_about_as_many_links_as_its_twin(interests: Interests) -> None:
    """Ties move the number of links a little, never by much on interests this small."""
    twin = len(greedy.gm(topics_by_broker(interests)))
    assert abs(len(build("gm", interests).links) - twin) <= max(2, 0.15 * twin)
