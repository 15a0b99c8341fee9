"""The twins judge the product, so they are judged first: by the step checkers, igraph, and the papers' own answers."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import Interests
from tests.algorithms import instances
from tests.algorithms.strategies import any_interests, divided_interests
from tests.algorithms.twins import diameter_two, greedy, merge, per_topic
from tests.algorithms.twins.steps import (
    across,
    broken_round_step,
    broken_star_step,
    broken_step,
    topic_components,
    topics_by_broker,
)

quick = settings(max_examples=60, deadline=None)


@quick
@given(any_interests())
def test_gm_takes_the_largest_contribution_at_every_step(interests: Interests) -> None:
    links = greedy.gm(topics_by_broker(interests))
    assert broken_step(interests, links) is None


@quick
@given(any_interests(), st.integers(1, 3))
def test_each_round_of_repeated_gm_starts_afresh(interests: Interests, rounds: int) -> None:
    links = greedy.repeated_gm(topics_by_broker(interests), rounds)
    assert broken_round_step(interests, links, rounds) is None


@settings(max_examples=30, deadline=None)
@given(any_interests(), st.sampled_from([1.0, 1.5, 3.0, math.inf]))
def test_low_oda_follows_its_rule_at_every_step(interests: Interests, rho: float) -> None:
    topics = topics_by_broker(interests)
    links = greedy.minmax_oda(topics) if rho == math.inf else greedy.low_oda(topics, rho)
    assert broken_step(interests, links, rho=rho) is None


@quick
@given(divided_interests())
def test_merges_follow_their_rule_at_every_step(divided: tuple[Interests, list[int]]) -> None:
    interests, parts = divided
    topics = topics_by_broker(interests)
    lists = [[v for v in range(len(parts)) if parts[v] == part] for part in range(max(parts) + 1)]
    assert (
        broken_step(interests, merge.naive_merge(topics, lists), parts=parts, candidates=across(parts))
        is None
    )
    outside = merge.topics_out(topics, lists)
    stars = [merge.star_set(topics, part, out) for part, out in zip(lists, outside, strict=True)]
    for part, chosen in enumerate(stars):
        assert broken_star_step(interests, parts, part, chosen) is None
    everyone = {v for chosen in stars for v in chosen}
    inner, outer = merge.divide_and_conquer(topics, lists)
    assert broken_step(interests, outer, parts=parts, candidates=across(parts, everyone)) is None
    assert all(len(set(component.values())) <= 1 for component in topic_components(interests, inner + outer))


@quick
@given(any_interests())
def test_stars_and_rings_connect_every_topic(interests: Interests) -> None:
    topics = topics_by_broker(interests)
    orders = [interests.subscriber_indices(t).tolist() for t in range(len(interests.topics))]
    for links in (
        diameter_two.cd_oda(topics),
        diameter_two.cd_oda_i(topics),
        diameter_two.cd_oda_ii(topics),
        diameter_two.two_d_oda(topics),
        per_topic.per_topic(orders, per_topic.ring),
        per_topic.per_topic(orders, per_topic.tree),
    ):
        assert all(len(set(component.values())) <= 1 for component in topic_components(interests, links))


def test_the_papers_instances_give_the_papers_answers() -> None:
    assert len(greedy.gm(topics_by_broker(instances.tight_for_gm(3, 4)))) == 18
    assert len(greedy.gm(topics_by_broker(instances.one_topic_a_pair(6)))) == 15
    assert len(greedy.gm(topics_by_broker(instances.one_topic_a_pair(6, with_all=True)))) == 6
    assert len(greedy.minmax_oda(topics_by_broker(instances.lemma_1(4)))) == 4
    for n in (4, 6, 8):
        for printed in (False, True):
            taken = len(greedy.minmax_oda(topics_by_broker(instances.lemma_1(n, as_printed=printed))))
            assert n * n / 4 <= taken <= n * (n - 2) / 2 + 1
        assert len(greedy.gm(topics_by_broker(instances.lemma_1(n)))) == n - 1
    assert len(diameter_two.cd_oda(topics_by_broker(instances.lemma_5(7)))) == 21
    for n in (3, 4):
        topics = topics_by_broker(instances.lemma_6(n))
        assert len(diameter_two.cd_oda_i(topics)) == n * (n - 1) // 2 + n
        assert len(diameter_two.cd_oda_ii(topics)) == n * (n - 1) // 2 + n
    for n in (7, 12):
        topics = topics_by_broker(instances.case_vii(n))
        assert len(diameter_two.two_d_oda(topics)) == n
        for twin in (diameter_two.cd_oda, diameter_two.cd_oda_i, diameter_two.cd_oda_ii):
            assert len(twin(topics)) == 2 * n - 5


def test_a_join_keeps_every_link_of_the_parts() -> None:
    """dc section IV: v_all joins the complete overlay of n brokers, and its n(n-1)/2 links stay."""
    interests = instances.one_topic_a_pair(6, with_all=True)
    topics = topics_by_broker(interests)
    outer = merge.naive_merge(topics, [[0, 1, 2, 3, 4, 5], [6]])
    inner = greedy.gm(topics[:6])
    assert len(inner) == 15
    assert len(inner + outer) > 15


@pytest.mark.parametrize(
    ("links", "rho", "rule"),
    [
        ([(0, 1), (0, 1)], None, "no link twice"),
        ([(0, 3)], None, "no link of contribution 0"),
        ([(1, 2)], None, "largest contribution"),
        ([(0, 1)], None, "finish"),
        ([(0, 1), (1, 2)], 3.0, None),
    ],
)
def test_the_step_checker_names_the_broken_rule(
    links: list[tuple[int, int]], rho: float | None, rule: str | None
) -> None:
    interests = Interests.from_mapping({"a": ["x", "y"], "b": ["x", "y"], "c": ["y"], "d": ["z"]})
    broken = broken_step(interests, links, rho=rho)
    assert (broken and broken.rule) == rule


def test_the_step_checker_sees_ties_broken_by_degree() -> None:
    """Once (a, b) stands, (c, d) has the lowest larger degree: (a, c) is right by contribution and wrong by degree."""
    interests = Interests.from_mapping({name: ["x"] for name in "abcd"})
    chain = [(0, 1), (0, 2), (2, 3)]
    assert broken_step(interests, chain) is None
    broken = broken_step(interests, chain, low_degree_ties=True)
    assert broken is not None
    assert (broken.step, broken.rule) == (1, "lowest larger degree first")
    assert broken_step(interests, [(0, 1), (2, 3), (1, 3)], low_degree_ties=True) is None
