"""weave: every link within one level of the best score, fewer links than GM, never below the bound."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import BadInput, Cancelled, Interests, Overlay, build
from algorithms.bound import lower_bound
from algorithms.divide_conquer import conquer_parts, divide_brokers
from algorithms.engine import Limits, connect_largest
from algorithms.engine.weighted import connect_weighted
from algorithms.engine.weighted_low_degree import connect_weighted_low_degree
from algorithms.engine.weights import Weights, least_score, level_of
from algorithms.merge import star_merge
from algorithms.workloads import Distribution, generate
from tests.algorithms.strategies import NOTHING_TO_LINK, any_interests, divided_interests, named
from tests.algorithms.twins.connectivity import broken_topic
from tests.algorithms.twins.optimum import fewest_links
from tests.algorithms.twins.steps import broken_step
from tests.algorithms.twins.weave import broken_low_degree_step, broken_weave_step

exponents = st.sampled_from([0.0, 0.25, 0.6, 1.0, 2.0])
some_limits = st.sampled_from(
    [Limits(), Limits(entries=1), Limits(entries=9), Limits(entries=4, visits=1, steps=1)]
)


@given(any_interests(), exponents, exponents, st.sampled_from([0.0, 0.1, 1.0]), some_limits)
@settings(max_examples=80, deadline=None)
def test_every_link_is_within_one_level_of_the_best(
    interests: Interests, alpha: float, beta: float, delta: float, limits: Limits
) -> None:
    accepted = connect_weighted(interests, Weights(alpha, beta, delta), limits=limits)
    broken = broken_weave_step(interests, accepted.links, alpha=alpha, beta=beta, delta=delta)
    assert broken is None, broken
    assert Overlay.from_links(interests, accepted.links).is_tco()


@given(any_interests(), st.sampled_from([0.5, 2.0]), some_limits, st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_links_of_before_are_raised(
    interests: Interests, keep: float, limits: Limits, random: Random
) -> None:
    pairs = [(v, w) for v in range(len(interests.brokers)) for w in range(v) if random.random() < 0.4]
    before = np.array(pairs, np.int32).reshape(-1, 2)
    accepted = connect_weighted(interests, Weights(keep=keep), limits=limits, linked_before=before)
    broken = broken_weave_step(
        interests, accepted.links, alpha=0.6, beta=0.5, keep=keep, before=frozenset((w, v) for v, w in pairs)
    )
    assert broken is None, broken


@given(any_interests(), st.sampled_from([1.0, 1.5, 2.0, 5.0]), st.sampled_from([0.0, 0.5]))
@settings(max_examples=60, deadline=None)
def test_low_degree_over_the_score(interests: Interests, rho: float, beta: float) -> None:
    limits = Limits(steps=3)
    accepted = connect_weighted_low_degree(interests, Weights(0.6, beta), rho, limits=limits)
    broken = broken_low_degree_step(interests, accepted.links, rho=rho, alpha=0.6, beta=beta)
    assert broken is None, broken


@given(any_interests(), st.sampled_from([0.5, 2.0]), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_low_degree_holds_on_to_links_of_before(interests: Interests, keep: float, random: Random) -> None:
    pairs = [(v, w) for v in range(len(interests.brokers)) for w in range(v) if random.random() < 0.4]
    before = np.array(pairs, np.int32).reshape(-1, 2)
    accepted = connect_weighted_low_degree(interests, Weights(keep=keep), 1.5, linked_before=before)
    held = frozenset((w, v) for v, w in pairs)
    broken = broken_low_degree_step(
        interests, accepted.links, rho=1.5, alpha=0.6, beta=0.5, keep=keep, before=held
    )
    assert broken is None, broken


@given(any_interests(), some_limits)
@settings(max_examples=60, deadline=None)
def test_low_degree_in_little_memory_is_still_connected(interests: Interests, limits: Limits) -> None:
    accepted = connect_weighted_low_degree(interests, Weights(), 2.0, limits=limits)
    assert Overlay.from_links(interests, accepted.links).is_tco()
    assert len(np.unique(np.sort(accepted.links, axis=1), axis=0)) == len(accepted.links)


def test_low_degree_needs_several_passes_and_keeps_its_rule() -> None:
    interests = generate(brokers=30, topics=12, subscriptions=6, distribution="zipf", seed=3)
    accepted = connect_weighted_low_degree(interests, Weights(), 1.5, limits=Limits(entries=200))
    assert accepted.passes > 1
    broken = broken_low_degree_step(interests, accepted.links, rho=1.5, alpha=0.6, beta=0.5)
    assert broken is None, broken


def test_low_degree_trades_links_for_degree() -> None:
    interests = generate(
        brokers=300, topics=100, subscriptions=(5, 60), sizes="power-law", distribution="zipf", seed=1
    )
    plain, low = build("weave", interests), build("weave", interests, rho=1.5)
    assert low.max_degree < 0.6 * plain.max_degree
    assert len(plain.links) < len(low.links) < len(build("low-oda", interests, rho=1.5).links)


@given(any_interests(), some_limits)
@settings(max_examples=60, deadline=None)
def test_without_exponents_it_is_greedy_merge(interests: Interests, limits: Limits) -> None:
    accepted = connect_weighted(interests, Weights(0, 0, 0), limits=limits)
    broken = broken_step(interests, accepted.links)
    assert broken is None, broken


def test_without_exponents_it_has_as_many_links_as_greedy_merge() -> None:
    interests = generate(brokers=300, topics=60, subscriptions=10, distribution="zipf", seed=2)
    merged = connect_largest(interests).contributions
    woven = connect_weighted(interests, Weights(0, 0, 0)).contributions
    assert abs(len(woven) - len(merged)) <= 0.02 * len(merged)
    assert np.array_equal(woven, np.sort(woven)[::-1])


@pytest.mark.parametrize(
    ("distribution", "exponent", "less"),
    [("uniform", 2.0, 0.04), ("zipf", 0.5, 0.05), ("zipf", 2.0, 0.15), ("exponential", 2.0, 0.15)],
)
def test_fewer_links_than_greedy_merge(distribution: Distribution, exponent: float, less: float) -> None:
    interests = generate(
        brokers=300, topics=100, subscriptions=20, distribution=distribution, exponent=exponent, seed=1
    )
    links = len(build("weave", interests).links)
    assert links < (1 - less) * len(build("gm", interests).links)
    assert links >= lower_bound(interests, iterations=40).links


def test_near_the_optimum_of_tiny_interests() -> None:
    woven = merged = optimum = 0
    for seed in range(40):
        interests = generate(brokers=9, topics=9, subscriptions=4, distribution="uniform", seed=seed)
        woven += len(build("weave", interests).links)
        merged += len(build("gm", interests).links)
        optimum += fewest_links(interests)
    assert optimum <= woven <= 1.03 * optimum
    assert woven <= merged


def test_the_same_links_again_and_in_little_memory_as_many() -> None:
    interests = generate(brokers=400, topics=80, subscriptions=12, distribution="zipf", seed=4)
    one, two = (connect_weighted(interests, Weights()) for _ in range(2))
    small = connect_weighted(interests, Weights(), limits=Limits(entries=600))
    assert np.array_equal(one.links, two.links)
    assert small.passes > one.passes
    assert abs(len(small.links) - len(one.links)) < 0.01 * len(one.links)


def test_parts_that_are_connected_are_not_connected_again() -> None:
    interests = generate(brokers=60, topics=12, subscriptions=4, distribution="uniform", seed=1)
    inner = build("gm", interests).links
    together = np.zeros(interests.subscriptions, np.int32)
    assert not len(connect_weighted(interests, Weights(), group=together).links)
    degrees = np.bincount(inner.ravel(), minlength=60).astype(np.int32)
    half = np.repeat(np.arange(60, dtype=np.int32) % 2, interests.broker_sizes())
    across = connect_weighted(interests, Weights(delta=0.1), group=half, degrees=degrees).links
    assert (across.sum(axis=1) % 2 == 1).all()


def test_a_sticky_rebuild_changes_less() -> None:
    interests = generate(brokers=300, topics=60, subscriptions=10, distribution="uniform", seed=5)
    earlier = build("gm", interests)
    old = set(map(tuple, earlier.links.tolist()))
    kept, links = [], []
    for keep in (0, 0.25, 1, 100):
        overlay = build("weave", interests, keep=keep, earlier=earlier)
        assert overlay.is_tco()
        kept.append(len(old & set(map(tuple, overlay.links.tolist()))))
        links.append(len(overlay.links))
    assert kept == sorted(kept)
    assert links == sorted(links)
    assert kept[-1] > 0.98 * links[-1]
    assert np.array_equal(build("weave", interests, earlier=earlier).links, build("weave", interests).links)


@pytest.mark.parametrize("k", [2, 3])
def test_a_sticky_rebuild_of_a_k_connected_overlay_changes_less(k: int) -> None:
    interests = generate(brokers=150, topics=30, subscriptions=8, seed=2)
    earlier = build("degree-cover", interests, k=k)
    old = set(earlier.link_names())
    links, changes = [], []
    for keep in (0.0, 0.25, 0.5, 2.0, 1e6):
        overlay = build("weave", interests, k=k, keep=keep, earlier=earlier)
        assert overlay.is_ktco(k)
        links.append(len(overlay.links))
        changes.append(len(old ^ set(overlay.link_names())))
    assert changes == sorted(changes, reverse=True)
    assert changes[2] < 0.7 * changes[0]
    assert links[2] < 1.1 * links[0]
    assert changes[-1] < 0.05 * len(old)
    weave = build("weave", interests, k=k)
    assert build("weave", interests, k=k, earlier=earlier).link_names() == weave.link_names()


def test_earlier_links_that_cannot_be_used() -> None:
    interests, other = named([{1}, {1}]), named([{1}, {1}, {1}])
    with pytest.raises(BadInput, match="needs the links to keep"):
        build("weave", interests, keep=0.5)
    with pytest.raises(BadInput, match="links of other brokers"):
        build("weave", interests, keep=0.5, earlier=build("gm", other))
    with pytest.raises(BadInput, match="does not rebuild from earlier links"):
        build("gm", interests, earlier=build("gm", interests))


@given(any_interests(), st.integers(2, 4), st.booleans())
@settings(max_examples=60, deadline=None)
def test_more_connected_by_igraph(interests: Interests, k: int, prune: bool) -> None:
    assert broken_topic(build("weave", interests, k=k, prune=prune), k) is None


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("distribution", ["uniform", "zipf"])
def test_more_connected(k: int, distribution: Distribution) -> None:
    interests = generate(brokers=120, topics=20, subscriptions=6, distribution=distribution, seed=1)
    overlay = build("weave", interests, k=k)
    assert overlay.is_ktco(k)
    assert len(overlay.links) < 1.02 * len(build("degree-cover", interests, k=k).links)


@pytest.mark.parametrize(("distribution", "less"), [("uniform", 0.02), ("zipf", 0.1), ("exponential", 0.1)])
def test_inside_the_parts_of_divide_and_conquer(distribution: Distribution, less: float) -> None:
    interests = generate(brokers=500, topics=50, subscriptions=12, distribution=distribution, seed=1)
    merged, woven = (build("dc", interests, parts=4, score=score) for score in ("contribution", "weave"))
    assert woven.is_tco()
    assert len(woven.links) < (1 - less) * len(merged.links)
    alone = build("dc", interests, parts=1, score="weave")
    assert np.array_equal(alone.links, build("weave", interests).links)


@given(divided_interests())
@settings(max_examples=80, deadline=None)
def test_across_parts_every_link_is_within_one_level_of_the_best(
    divided: tuple[Interests, list[int]],
) -> None:
    interests, parts = divided
    merged = star_merge(interests, np.array(parts, np.int32), weights=Weights())
    broken = broken_weave_step(
        interests, merged.outer, alpha=0.6, beta=0.5, parts=parts, among=set(merged.stars.tolist())
    )
    assert broken is None, broken


def test_across_parts_weave_needs_fewer_links() -> None:
    interests = generate(brokers=500, topics=50, subscriptions=12, distribution="zipf", seed=1)
    part = divide_brokers(interests, 10, "random", seed=1)
    woven = conquer_parts(interests, part, score="weave")
    assert len(woven.outer) < len(star_merge(interests, part).outer)


def test_prune_finds_almost_nothing() -> None:
    interests = generate(brokers=200, topics=40, subscriptions=8, distribution="zipf", seed=1)
    whole, pruned = build("weave", interests), build("weave", interests, prune=True)
    assert pruned.is_tco()
    assert 0.99 * len(whole.links) <= len(pruned.links) <= len(whole.links)


@pytest.mark.parametrize("topics", NOTHING_TO_LINK)
def test_nothing_to_link(topics: dict[str, list[str]]) -> None:
    assert not len(build("weave", Interests.from_mapping(topics), shortcuts=1, prune=True).links)


def test_hundreds_of_common_topics() -> None:
    """Rows past twelve times each other's length."""
    chosen = [set(range(700)), set(range(650)), {1, 2}, {3}, {699, 4}, set(range(300, 700))]
    accepted = connect_weighted(named(chosen), Weights())
    assert Overlay.from_links(named(chosen), accepted.links).is_tco()
    broken = broken_weave_step(named(chosen), accepted.links, alpha=0.6, beta=0.5)
    assert broken is None, broken


@pytest.mark.parametrize("bits", [5, 20])
def test_levels_rise_with_scores_and_are_narrow(bits: int) -> None:
    some = [*range(200), *(int(1.07**n) for n in range(430))]
    for score in some:
        level = level_of(score, bits)
        assert least_score(level, bits) <= score < least_score(level + 1, bits)
        assert least_score(level + 1, bits) <= max(score * (1 + 2.0**-bits), score + 1)


def test_the_callback_sees_progress_and_can_cancel() -> None:
    interests = generate(brokers=200, topics=30, subscriptions=8, distribution="uniform")
    seen: list[float] = []

    def stop_half_way(done: float, _stage: str) -> None:
        seen.append(done)
        if done > 0.5:
            raise Cancelled

    with pytest.raises(Cancelled):
        connect_weighted(
            interests, Weights(), limits=Limits(entries=300, visits=1000, steps=100), progress=stop_half_way
        )
    assert seen == sorted(seen)


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("alpha", -0.1, "at least 0"),
        ("beta", "much", "must be a number"),
        ("delta", float("nan"), "must be a number"),
        ("keep", -1, "at least 0"),
        ("k", 0, "at least 1"),
        ("shortcuts", 1.5, "at least 0 and at most 1"),
        ("shortcuts", -1, "at least 0 and at most 1"),
        ("rho", 0.9, "at least 1"),
        ("rho", "low", "must be a number"),
    ],
)
def test_bad_input(name: str, value: object, wanted: str) -> None:
    with pytest.raises(BadInput, match=wanted):
        build("weave", named([{1}, {1}]), **{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["delta", "rho", "shortcuts"])
def test_what_works_for_one_connection_only_says_so(name: str) -> None:
    with pytest.raises(BadInput, match="works for k = 1 only"):
        build("weave", named([{1}, {1}]), k=2, earlier=build("gm", named([{1}, {1}])), **{name: 1.0})  # type: ignore[arg-type]
