"""Star sets, merges, join of overlays and DC, beside their literal twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from algorithms import BadInput, Cancelled, Interests, Overlay, build, divide_conquer
from algorithms.divide_conquer import SMALLEST_PART, best_parts, conquer_parts, divide_brokers, parts_to_try
from algorithms.engine import connect_largest
from algorithms.merge import join_overlays, naive_merge, star_merge
from algorithms.star_sets import star_sets
from tests.algorithms.instances import one_topic_a_pair
from tests.algorithms.strategies import divided_interests, named
from tests.algorithms.test_gm import random_interests
from tests.algorithms.twins.merge import topics_out
from tests.algorithms.twins.steps import across, broken_step, topics_by_broker


@given(divided_interests())
@settings(max_examples=150, deadline=None)
def test_star_sets_cover_what_other_parts_share_and_nothing_in_vain(
    divided: tuple[Interests, list[int]],
) -> None:
    interests, parts = divided
    topics = topics_by_broker(interests)
    members = [[v for v, p in enumerate(parts) if p == d] for d in range(max(parts) + 1)]
    stars = set(star_sets(interests, np.array(parts, np.int32)).tolist())
    for part, out in zip(members, topics_out(topics, members), strict=True):
        covered = set().union(*(topics[v] for v in part if v in stars))
        assert out <= covered
        assert all(topics[v] & out for v in part if v in stars)


@given(divided_interests())
@settings(max_examples=100, deadline=None)
def test_merges_take_the_best_link_across_at_every_step(divided: tuple[Interests, list[int]]) -> None:
    interests, parts = divided
    part = np.array(parts, np.int32)
    naive = naive_merge(interests, part)
    broken = broken_step(interests, naive.outer, parts=parts, candidates=across(parts))
    assert broken is None, broken
    merged = star_merge(interests, part)
    stars = set(merged.stars.tolist())
    broken = broken_step(interests, merged.outer, parts=parts, candidates=across(parts, stars=stars))
    assert broken is None, broken


@given(divided_interests())
@settings(max_examples=60, deadline=None)
def test_conquered_parts_make_one_overlay(divided: tuple[Interests, list[int]]) -> None:
    interests, parts = divided
    built = conquer_parts(interests, np.array(parts, np.int32))
    assert Overlay.from_links(interests, built.links).is_tco()
    assert all(parts[v] == parts[w] for v, w in built.inner)
    assert all(parts[v] != parts[w] for v, w in built.outer)
    assert 0 <= built.pn_ratio < 1


@pytest.mark.parametrize("divide", ["random", "cluster"])
@pytest.mark.parametrize("parts", [1, 2, 7, 120, "auto"])
def test_any_number_of_parts(monkeypatch: pytest.MonkeyPatch, divide: str, parts: int | str) -> None:
    monkeypatch.setattr(divide_conquer, "SMALLEST_PART", 2)
    interests = random_interests(120, 20, 5)
    assert build("dc", interests, parts=parts, divide=divide).is_tco()


def test_small_parts_are_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    interests = random_interests(400, 10, 5)
    assert best_parts(interests, "random", 1) == 1
    assert parts_to_try(4 * SMALLEST_PART) == [2, 4]
    monkeypatch.setattr(divide_conquer, "SMALLEST_PART", 20)
    assert best_parts(interests, "random", 1) > 1


def test_one_part_and_a_part_a_broker_are_gm() -> None:
    interests = random_interests(100, 20, 5)
    gm = build("gm", interests).links
    assert np.array_equal(build("dc", interests, parts=1).links, gm)
    assert np.array_equal(build("dc", interests, parts=100).links, gm)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_links_do_not_depend_on_threads(threads: int) -> None:
    interests = random_interests(200, 20, 5)
    part = divide_brokers(interests, 8, "random", seed=4)
    one = conquer_parts(interests, part, seed=4, threads=1)
    many = conquer_parts(interests, part, seed=4, threads=threads)
    assert np.array_equal(one.links, many.links)


def test_clusters_hold_similar_brokers() -> None:
    """Two populations with few topics in common end in different parts."""
    interests = named([{1, 2, 3}, {11, 12, 13}] * 30)
    part = divide_brokers(interests, 2, "cluster", seed=1)
    assert len(set(part[::2])) == 1
    assert len(set(part[1::2])) == 1
    assert part[0] != part[1]


@pytest.mark.parametrize("parts", [0, -3, 6, "few", 2.5])
def test_bad_parts_are_named(parts: object) -> None:
    with pytest.raises(BadInput) as caught:
        build("dc", random_interests(5, 3, 2), parts=parts)
    assert caught.value.field == "parts"


def test_the_callback_can_cancel_between_parts() -> None:
    def stop(done: float, _stage: str) -> None:
        if done > 0.3:
            raise Cancelled

    with pytest.raises(Cancelled):
        build("dc", random_interests(200, 20, 5), parts=10, progress=stop)


def test_join_keeps_every_link() -> None:
    """dc IV: a broker that has every topic joins; the links it makes superfluous stay."""
    pairs = one_topic_a_pair(5)
    running = Overlay.from_links(pairs, connect_largest(pairs).links)
    newcomer = Interests.from_mapping({"v_all": pairs.topics})
    joined = join_overlays([running, Overlay.from_links(newcomer, np.empty((0, 2), np.int32))])
    assert set(running.link_names()) <= set(joined.link_names())
    assert joined.is_tco()


def test_join_refuses_shared_brokers_and_broken_overlays() -> None:
    interests = named([{1}, {1}])
    whole = build("gm", interests)
    with pytest.raises(BadInput, match="two of the overlays"):
        join_overlays([whole, whole])
    with pytest.raises(BadInput, match="not topic-connected"):
        join_overlays([Overlay.from_links(interests, np.empty((0, 2), np.int32))])


def test_ties_are_no_choice_of_weave() -> None:
    interests = Interests.from_mapping({"a": ["x"], "b": ["x"]})
    with pytest.raises(BadInput, match="ties: is a choice of the score contribution"):
        build("dc", interests, score="weave", ties="random")
