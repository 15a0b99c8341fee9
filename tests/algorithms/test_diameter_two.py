"""CD-ODA, CD-ODA-I, CD-ODA-II and 2D-ODA: equal to their twins, diameter 2, and the papers' own answers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings

from algorithms import Interests, build, find_algorithm
from algorithms.analysis import measure
from algorithms.progress import silent
from algorithms.workloads import generate
from tests.algorithms import instances
from tests.algorithms.strategies import NOTHING_TO_LINK, any_interests
from tests.algorithms.twins import diameter_two
from tests.algorithms.twins.greedy import Topics
from tests.algorithms.twins.steps import Pair, topics_by_broker

TWINS = {
    "cd-oda": diameter_two.cd_oda,
    "cd-oda-i": diameter_two.cd_oda_i,
    "cd-oda-ii": diameter_two.cd_oda_ii,
    "2d-oda": diameter_two.two_d_oda,
}
every = pytest.mark.parametrize(("name", "twin"), TWINS.items(), ids=list(TWINS))


@every
@settings(max_examples=150, deadline=None)
@given(interests=any_interests())
def test_links_are_those_of_the_twin(
    name: str, twin: Callable[[Topics], set[Pair]], interests: Interests
) -> None:
    overlay = build(name, interests)
    assert {(a, b) for a, b in overlay.links.tolist()} == twin(topics_by_broker(interests))


@every
def test_larger_interests_too(name: str, twin: Callable[[Topics], set[Pair]]) -> None:
    """Large enough that topics are held as bitsets and the hash table of links grows."""
    interests = generate(
        brokers=130, topics=40, subscriptions=(1, 25), sizes="power-law", distribution="zipf", seed=4
    )
    overlay = build(name, interests)
    assert {(a, b) for a, b in overlay.links.tolist()} == twin(topics_by_broker(interests))


@pytest.mark.parametrize("name", TWINS)
def test_every_topic_has_diameter_two(name: str) -> None:
    interests = generate(brokers=1_500, topics=100, subscriptions=10, distribution="exponential", seed=1)
    found = measure(build(name, interests))
    assert found.topics_apart == 0
    assert found.topic_diameter_max is not None
    assert found.topic_diameter_max <= 2


@pytest.mark.parametrize("n", [7, 20])
def test_case_vii(n: int) -> None:
    """low 6.4: the best possible is n links; a centre that serves all its topics costs nearly twice."""
    links = {name: len(build(name, instances.case_vii(n)).links) for name in TWINS}
    assert links == {"cd-oda": 2 * n - 5, "cd-oda-i": 2 * n - 5, "cd-oda-ii": 2 * n - 5, "2d-oda": n}


def test_lemma_5_cd_oda_ends_in_the_complete_graph() -> None:
    assert len(build("cd-oda", instances.lemma_5(9)).links) == 9 * 8 // 2


@pytest.mark.parametrize("n", [3, 5])
def test_lemma_6_cd_oda_i_and_ii_link_every_pair_of_centres(n: int) -> None:
    for name in ("cd-oda-i", "cd-oda-ii"):
        assert len(build(name, instances.lemma_6(n)).links) == n * (n - 1) // 2 + n


@pytest.mark.parametrize("name", TWINS)
def test_nothing_to_link(name: str) -> None:
    for nothing in NOTHING_TO_LINK:
        assert build(name, Interests.from_mapping(nothing)).links.shape == (0, 2)


@pytest.mark.parametrize("name", TWINS)
def test_one_broker_with_ten_thousand_topics(name: str) -> None:
    hub = [f"t{t:05d}" for t in range(10_000)]
    interests = Interests.from_mapping(
        {"hub": hub, **{f"b{v:03d}": hub[v * 30 : v * 30 + 40] for v in range(300)}}
    )
    overlay = build(name, interests)
    assert overlay.is_tco()
    assert overlay.degrees()[interests.broker_index("hub")] == 300


@pytest.mark.parametrize("name", TWINS)
def test_links_are_distinct_and_in_the_order_they_were_taken(name: str) -> None:
    interests = generate(brokers=60, topics=12, subscriptions=3, seed=3)
    links = find_algorithm(name).run(interests, seed=0, progress=silent)
    assert (links[:, 0] < links[:, 1]).all()
    assert len(np.unique(links, axis=0)) == len(links)
