"""Every link the engine accepts was the best at its step, whatever the ties, the size of the band and the seeding."""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import Cancelled, Interests, Overlay
from algorithms.engine import UNBOUNDED, Limits, Ties, connect_largest, connect_low_degree
from algorithms.engine.band import Pass
from algorithms.engine.bitsets import TILE
from algorithms.engine.run import Run
from algorithms.progress import silent
from tests.algorithms.strategies import any_interests, divided_interests, named
from tests.algorithms.twins.steps import across, broken_round_step, broken_step

TINY = [
    Limits(),
    Limits(entries=1, visits=1, steps=1),
    Limits(entries=4, visits=8, steps=3),
    Limits(entries=12, visits=20, steps=50),
    Limits(bitsets=False),
    *(Limits(entries=entries, visits=1, steps=3, bitsets=True) for entries in (None, 1, 4, 12)),
]
"""The usual limits, and some that force a pass for nearly every level, batches of one level, and many slices, by either
way of counting."""

some_limits = st.sampled_from(TINY)
some_ties = st.sampled_from(get_args(Ties))


@given(any_interests(), some_limits, some_ties, st.integers(0, 3))
@settings(max_examples=200, deadline=None)
def test_largest_contribution_at_every_step(
    interests: Interests, limits: Limits, ties: Ties, seed: int
) -> None:
    accepted = connect_largest(interests, ties=ties, limits=limits, seed=seed)
    broken = broken_step(interests, accepted.links)
    assert broken is None, broken
    assert Overlay.from_links(interests, accepted.links).is_tco()
    assert accepted.contributions.sum() == interests.subscriptions - np.count_nonzero(interests.topic_sizes())


@given(any_interests())
@settings(max_examples=100, deadline=None)
def test_lowest_larger_degree_first_among_equals(interests: Interests) -> None:
    broken = broken_step(interests, connect_largest(interests).links, low_degree_ties=True)
    assert broken is None, broken


@given(any_interests(), some_limits, st.sampled_from([1.0, 1.5, 2.0, 3.0, UNBOUNDED]))
@settings(max_examples=250, deadline=None)
def test_low_degree_at_every_step(interests: Interests, limits: Limits, rho: float) -> None:
    accepted = connect_low_degree(interests, rho=rho, limits=limits)
    broken = broken_step(interests, accepted.links, rho=math.inf if rho == UNBOUNDED else rho)
    assert broken is None, broken
    assert Overlay.from_links(interests, accepted.links).is_tco()


@given(divided_interests(), some_limits, some_ties)
@settings(max_examples=200, deadline=None)
def test_groups_are_connected_from_the_start(
    divided: tuple[Interests, list[int]], limits: Limits, ties: Ties
) -> None:
    interests, parts = divided
    group = np.repeat(np.array(parts, np.int32), interests.broker_sizes())
    accepted = connect_largest(interests, ties=ties, limits=limits, group=group)
    broken = broken_step(interests, accepted.links, parts=parts, candidates=across(parts))
    assert broken is None, broken


@given(any_interests(), some_limits, some_ties, st.integers(2, 3))
@settings(max_examples=100, deadline=None)
def test_barred_pairs_are_never_linked(interests: Interests, limits: Limits, ties: Ties, rounds: int) -> None:
    links = np.empty((0, 2), np.int32)
    for _ in range(rounds):
        degrees = np.bincount(links.ravel(), minlength=len(interests.brokers)).astype(np.int32)
        more = connect_largest(interests, ties=ties, limits=limits, barred=links, degrees=degrees).links
        links = np.concatenate([links, more])
    broken = broken_round_step(interests, links, rounds)
    assert broken is None, broken


@given(any_interests(), st.integers(1, 40))
@settings(max_examples=50, deadline=None)
def test_degrees_from_before_count(interests: Interests, before: int) -> None:
    """The first broker has so many links that it is linked only where it must be."""
    degrees = np.zeros(len(interests.brokers), np.int32)
    degrees[:1] = before
    accepted = connect_largest(interests, degrees=degrees)
    broken = broken_step(interests, accepted.links)
    assert broken is None, broken


@pytest.mark.parametrize("ties", get_args(Ties))
@pytest.mark.parametrize("entries", [None, 500])
def test_same_seed_same_links(ties: Ties, entries: int | None) -> None:
    interests = random_interests(150, 30, 6)
    limits = Limits(entries=entries)
    one = connect_largest(interests, ties=ties, seed=5, limits=limits)
    two = connect_largest(interests, ties=ties, seed=5, limits=limits)
    assert np.array_equal(one.links, two.links)
    assert Overlay.from_links(interests, one.links).is_tco()


def test_random_ties_depend_on_the_seed() -> None:
    interests = random_interests(60, 10, 4)
    one = connect_largest(interests, ties="random", seed=1)
    two = connect_largest(interests, ties="random", seed=2)
    assert not np.array_equal(one.links, two.links)


def test_a_small_band_means_more_passes() -> None:
    interests = random_interests(200, 30, 8)
    assert connect_largest(interests, limits=Limits(entries=300)).passes > connect_largest(interests).passes


def test_the_callback_sees_progress_and_can_cancel() -> None:
    interests = random_interests(200, 30, 8)
    seen: list[float] = []

    def stop_half_way(done: float, _stage: str) -> None:
        seen.append(done)
        if done > 0.5:
            raise Cancelled

    with pytest.raises(Cancelled):
        connect_largest(interests, limits=Limits(entries=300, visits=1000, steps=100), progress=stop_half_way)
    assert seen == sorted(seen)
    assert len(seen) > 5
    assert 0.5 < seen[-1] < 0.75


def test_hundreds_of_common_topics() -> None:
    """Contributions past 255 and rows past 12 times each other's length."""
    chosen = [set(range(700)), set(range(650)), {1, 2}, {3}, {699, 4}, set(range(300, 700))]
    interests = named(chosen)
    accepted = connect_largest(interests)
    assert accepted.contributions[0] == 650
    broken = broken_step(interests, accepted.links)
    assert broken is None, broken


@pytest.mark.parametrize("entries", [None, 3, 40])
@pytest.mark.parametrize("topics", [63, 64, 65, 128, 129, 200])
def test_bitsets_of_several_words(topics: int, entries: int | None) -> None:
    interests = random_interests(16, topics, topics // 3)
    limits = Limits(entries=entries, visits=10, bitsets=True)
    broken = broken_step(
        interests, connect_largest(interests, limits=limits).links, low_degree_ties=not entries
    )
    assert broken is None, broken
    broken = broken_step(interests, connect_low_degree(interests, rho=2.0, limits=limits).links, rho=2.0)
    assert broken is None, broken


@pytest.mark.parametrize("parts", [1, 2, 8])
def test_bitsets_count_what_lists_count(parts: int) -> None:
    """More rows than one tile, so that every place of the count is used; the same entries, in another order."""
    random = np.random.default_rng(1)
    interests = named([set(random.choice(70, 5, replace=False).tolist()) for _ in range(2 * TILE + 100)])
    group = np.repeat(random.integers(0, parts, len(interests.brokers), np.int32), interests.broker_sizes())
    found = []
    for bitsets in (False, True):
        limits = Limits(entries=1 << 16, bitsets=bitsets)
        run = Run(interests, seed=0, limits=limits, report=silent, group=None if parts == 1 else group)
        band = Pass(run, 5).next_band()
        pairs = np.stack([band.first, band.second], axis=1)[: band.filled]
        found.append((band.lowest, set(map(tuple, pairs.tolist()))))
    assert found[0] == found[1]


def test_more_topics_than_sixteen_bits_count() -> None:
    interests = named([set(range(20_000)), set(range(1, 20_000)), {5}])
    accepted = connect_largest(interests)
    assert accepted.contributions.tolist() == [19_999, 1]


def random_interests(brokers: int, topics: int, size: int) -> Interests:
    random = np.random.default_rng(7)
    return named([set(random.choice(topics, size, replace=False).tolist()) for _ in range(brokers)])
