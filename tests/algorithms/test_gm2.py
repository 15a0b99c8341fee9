"""GM2: every link had the largest estimate at its step, blocks recomputed by igraph, and the result is a 2TCO."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import BadInput, Cancelled, Interests, Overlay, build
from algorithms.blocks import BlockWeights, biconnect, biconnect_parts
from algorithms.engine import Limits, Ties
from algorithms.workloads import Distribution, generate
from tests.algorithms.strategies import any_interests, divided_interests, named
from tests.algorithms.twins.blocks import broken_block_step, broken_weighted_step, gm2
from tests.algorithms.twins.connectivity import broken_topic

TINY = Limits(entries=3, visits=5, steps=2)
"""Many passes, bands of one level handed out in pieces, slices of two steps."""


@settings(max_examples=200, deadline=None)
@given(any_interests(), st.sampled_from(["degree", "row", "random"]), st.booleans(), st.integers(0, 9))
def test_every_link_has_the_largest_estimate_at_its_step(
    interests: Interests, ties: Ties, tiny: bool, seed: int
) -> None:
    accepted = biconnect(interests, ties=ties, seed=seed, limits=TINY if tiny else None)
    broken = broken_block_step(interests, accepted.links)
    assert broken is None, broken
    assert broken_topic(Overlay.from_links(interests, accepted.links), 2) is None


def test_three_hundred_larger_instances() -> None:
    """Up to 13 brokers and 8 topics, dense enough for blocks within blocks, which small examples rarely have."""
    draw = np.random.default_rng(11)
    for case in range(300):
        share = draw.choice([0.3, 0.5, 0.8])
        chosen = [
            set(np.flatnonzero(draw.random(draw.integers(2, 9)) < share).tolist())
            for _ in range(draw.integers(8, 14))
        ]
        interests = named(chosen)
        accepted = biconnect(interests, seed=case, limits=TINY if case % 2 else None)
        broken = broken_block_step(interests, accepted.links)
        assert broken is None, broken


@settings(max_examples=60, deadline=None)
@given(any_interests())
def test_ties_go_to_the_lowest_larger_degree(interests: Interests) -> None:
    broken = broken_block_step(interests, biconnect(interests).links, low_degree_ties=True)
    assert broken is None, broken


@settings(max_examples=60, deadline=None)
@given(any_interests(), st.integers(0, 99))
def test_it_starts_from_links_that_exist(interests: Interests, seed: int) -> None:
    """Any subset of a pruned overlay may exist; the rest is chosen by the same rule."""
    links = build("hararypt", interests, k=2).links
    some = links[np.random.default_rng(seed).random(len(links)) < 0.5]
    accepted = biconnect(interests, existing=some)
    broken = broken_block_step(interests, accepted.links, existing=some)
    assert broken is None, broken
    assert broken_topic(Overlay.from_links(interests, np.concatenate([some, accepted.links])), 2) is None


@settings(max_examples=80, deadline=None)
@given(divided_interests())
def test_parts_joined_through_double_stars_are_a_2tco(divided: tuple[Interests, list[int]]) -> None:
    interests, parts = divided
    part = np.array(parts, np.int32)
    found = biconnect_parts(interests, part)
    assert broken_topic(Overlay.from_links(interests, found.links), 2) is None
    stars = set(found.stars.tolist())
    for t in range(len(interests.topics)):
        members = interests.subscriber_indices(t).tolist()
        if len({parts[v] for v in members}) > 1:
            for p in {parts[v] for v in members}:
                own = [v for v in members if parts[v] == p]
                assert len(stars & set(own)) >= min(2, len(own))

    def across(v: int, w: int) -> bool:
        return parts[v] != parts[w] and v in stars and w in stars

    broken = broken_block_step(interests, found.outer, existing=found.inner, candidates=across)
    assert broken is None, broken


@settings(max_examples=100, deadline=None)
@given(
    any_interests(),
    st.sampled_from([0.0, 0.6]),
    st.sampled_from([0.0, 1.0, 2.5]),
    st.booleans(),
    st.sampled_from(["degree", "row", "random"]),
)
def test_every_weighted_link_has_the_best_score_at_its_step(
    interests: Interests, alpha: float, b: float, tiny: bool, ties: Ties
) -> None:
    weights = BlockWeights(alpha, b)
    links = biconnect(interests, ties=ties, weights=weights, limits=TINY if tiny else None).links
    broken = broken_weighted_step(interests, links, alpha=alpha, b=b)
    assert broken is None, broken
    assert broken_topic(Overlay.from_links(interests, links), 2) is None


def test_forty_larger_instances_by_score() -> None:
    """Dense enough for topics that finish early, rows that are renumbered and bitsets of several words."""
    draw = np.random.default_rng(12)
    for case in range(40):
        topics = int(draw.choice([6, 70]))
        chosen = [set(np.flatnonzero(draw.random(topics) < 6 / topics).tolist()) for _ in range(12)]
        interests = named(chosen)
        some = biconnect(interests).links[::3] if case % 4 == 0 else np.empty((0, 2), np.int32)
        links = biconnect(
            interests, weights=BlockWeights(), existing=some, limits=TINY if case % 2 else None
        ).links
        broken = broken_weighted_step(interests, links, alpha=0.6, b=1.0, existing=some)
        assert broken is None, broken


def test_the_weighted_checker_names_the_broken_rule() -> None:
    interests = Interests.from_mapping({"a": ["x", "y"], "b": ["x", "y"], "c": ["y"]})
    for links, rule in (
        ([(0, 1), (0, 1)], "no link of score 0"),
        ([(0, 2)], "within one level of the best"),
        ([(0, 1)], "finish"),
        ([(0, 1), (1, 2), (0, 2)], None),
    ):
        broken = broken_weighted_step(interests, links, alpha=0.6, b=1.0)
        assert (broken and broken.rule) == rule


@settings(max_examples=40, deadline=None)
@given(divided_interests())
def test_weighted_parts_are_a_2tco(divided: tuple[Interests, list[int]]) -> None:
    interests, parts = divided
    found = biconnect_parts(interests, np.array(parts, np.int32), weights=BlockWeights())
    assert broken_topic(Overlay.from_links(interests, found.links), 2) is None


@pytest.mark.parametrize(
    ("distribution", "table", "degree"),
    [("uniform", 5072, 13), ("zipf", 3709, 14), ("exponential", 3334, 11)],
)
def test_weighted_links_we_claim(distribution: Distribution, table: int, degree: int) -> None:
    interests = generate(brokers=1000, topics=200, subscriptions=30, distribution=distribution, seed=1)
    overlay = build("gm2", interests, weighted=True)
    assert len(overlay.links) <= 1.008 * table
    assert overlay.max_degree <= degree
    assert overlay.is_ktco(2)


def test_b_trades_diameter_for_links() -> None:
    interests = generate(brokers=300, topics=40, subscriptions=10, distribution="zipf", seed=1)
    links = [len(build("gm2", interests, weighted=True, b=b).links) for b in (0, 1, 3)]
    assert links[0] > links[1] > links[2]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"weighted": True, "b": -0.5}, "^b: must be a number, at least 0"),
        ({"weighted": True, "b": "steep"}, "^b: must be a number"),
        ({"weighted": True, "b": float("nan")}, "^b: must be a number"),
        ({"b": 1}, "^b: works with weighted only"),
        ({"weighted": "perhaps"}, "^weighted: must be true or false"),
    ],
)
def test_bad_weights_are_named(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        build("gm2", Interests.from_mapping({"a": ["x"]}), **given)


def test_one_part_is_gm2() -> None:
    interests = generate(brokers=60, topics=10, subscriptions=4, seed=1)
    whole = biconnect_parts(interests, np.zeros(60, np.int32))
    assert whole.links.tolist() == biconnect(interests).links.tolist()
    assert len(whole.stars) == 0
    alone = biconnect_parts(interests, np.arange(60, dtype=np.int32))
    assert len(alone.inner) == 0
    assert broken_block_step(interests, alone.outer) is None


@settings(max_examples=30, deadline=None)
@given(any_interests())
def test_the_twin_obeys_its_own_checker(interests: Interests) -> None:
    links = gm2(interests)
    assert broken_block_step(interests, links) is None
    assert broken_topic(Overlay.from_links(interests, np.array(links, np.int32).reshape(-1, 2)), 2) is None


def test_the_checker_names_the_broken_rule() -> None:
    interests = Interests.from_mapping({"a": ["x", "y"], "b": ["x", "y"], "c": ["y"]})
    for links, rule in (
        ([(0, 1), (0, 1)], "no link of estimate 0"),
        ([(0, 2)], "largest estimate"),
        ([(0, 1)], "finish"),
        ([(0, 1), (1, 2), (0, 2)], None),
    ):
        broken = broken_block_step(interests, links)
        assert (broken and broken.rule) == rule


def test_thousands_of_blocks_close_as_the_definition_says() -> None:
    """Large enough for deep trees, re-rooting of both sides, long cycles: every topic one block in the end."""
    distributions: tuple[Distribution, ...] = ("uniform", "zipf")
    for distribution in distributions:
        interests = generate(brokers=1500, topics=60, subscriptions=4, distribution=distribution, seed=3)
        overlay = build("gm2", interests)
        assert overlay.is_ktco(2)


def test_low_degree_ties_pay() -> None:
    """The issue's figure: at most 5,250 links and maximum degree 20 (row order: thrice that degree)."""
    interests = generate(brokers=1000, topics=200, subscriptions=30, distribution="zipf", seed=1)
    low, row = build("gm2", interests), build("gm2", interests, ties="row")
    assert len(low.links) <= 5250
    assert low.max_degree <= 20
    assert low.max_degree < row.max_degree / 2
    assert low.is_ktco(2)


def test_memory_moves_passes_not_the_rule() -> None:
    interests = generate(brokers=200, topics=30, subscriptions=8, seed=1)
    wide, narrow = biconnect(interests), biconnect(interests, limits=Limits(entries=1000))
    assert narrow.passes > wide.passes
    assert abs(len(narrow.links) - len(wide.links)) < 0.05 * len(wide.links)
    assert Overlay.from_links(interests, narrow.links).is_ktco(2)


def test_the_same_seed_gives_the_same_links() -> None:
    interests = generate(brokers=100, topics=20, subscriptions=6, seed=1)
    for ties in ("degree", "random"):
        first, second = (build("gm2", interests, ties=ties, seed=5).links.tolist() for _ in range(2))
        assert first == second


def test_it_can_be_cancelled() -> None:
    def stop(_done: float, _stage: str) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        build("gm2", generate(brokers=50, topics=10, subscriptions=4, seed=1), progress=stop)


def test_unknown_ties_are_named() -> None:
    with pytest.raises(BadInput, match=r"^ties: must be one of degree, row, random"):
        build("gm2", Interests.from_mapping({"a": ["x"]}), ties="coin")
