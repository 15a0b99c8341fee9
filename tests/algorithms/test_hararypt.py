"""HararyPT: the fewest links for one topic, k-connected for every order, cheaper where k + 1 is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import BadInput, Interests, build
from algorithms.hararypt import ordered_subscribers
from algorithms.workloads import generate
from tests.algorithms.strategies import any_interests
from tests.algorithms.twins.connectivity import broken_topic, connectivity, harary
from tests.algorithms.twins.steps import Pair


@pytest.mark.parametrize("k", range(2, 9))
def test_one_topic_has_the_fewest_links_and_is_k_connected(k: int) -> None:
    """ceil(k m / 2) links for m > k, and no fewer than k brokers part it, for m up to 40."""
    for m in range(1, 41):
        overlay = build("hararypt", Interests.from_mapping({f"b{v:02d}": ["x"] for v in range(m)}), k=k)
        assert len(overlay.links) == ((k * m + 1) // 2 if m > k else m * (m - 1) // 2)
        if m > 1:
            assert connectivity(m, overlay.links.tolist()) == min(k, m - 1)
        assert overlay.is_ktco(k)
        assert m <= k + 1 or not overlay.is_ktco(k + 1)


@settings(max_examples=60, deadline=None)
@given(any_interests(), st.integers(2, 5), st.sampled_from(["id", "random", "nearest", "independent"]))
def test_links_are_those_of_the_twin_and_a_ktco(interests: Interests, k: int, order: str) -> None:
    overlay = build("hararypt", interests, k=k, order=order, even_if_cheaper=False, seed=3)
    members = ordered_subscribers(interests, order, 3)
    expected: set[Pair] = set()
    for t in range(len(interests.topics)):
        expected |= harary(k, members[interests.topic_start[t] : interests.topic_start[t + 1]].tolist())
    assert {(a, b) for a, b in overlay.links.tolist()} == expected
    assert broken_topic(overlay, k) is None


def test_shared_orders_are_shared() -> None:
    interests = generate(brokers=60, topics=12, subscriptions=5, seed=2)
    for order in ("id", "random", "nearest"):
        members = ordered_subscribers(interests, order, 1)
        rank: dict[int, set[int]] = {}
        for t in range(len(interests.topics)):
            row = members[interests.topic_start[t] : interests.topic_start[t + 1]].tolist()
            assert sorted(row) == interests.subscriber_indices(t).tolist()
            for place, v in enumerate(row):
                rank.setdefault(v, set()).update(row[place + 1 :])
        assert all(v not in rank[w] for v in rank for w in rank[v]), order
    links = {
        order: len(build("hararypt", interests, k=2, order=order).links) for order in ("id", "independent")
    }
    assert links["id"] < links["independent"]


def test_like_brokers_are_neighbours_in_the_nearest_order() -> None:
    """Two kinds of brokers, ids alternating: by id every second neighbour differs, by nearest all but two are alike."""
    interests = Interests.from_mapping(
        {
            f"b{v:02d}": [f"{'even' if v % 2 == 0 else 'odd'}{t}" for t in range(3)] + ["all"]
            for v in range(20)
        }
    )
    by_id, nearest = (build("hararypt", interests, k=2, order=order) for order in ("id", "nearest"))
    assert len(nearest.links) < len(by_id.links)
    assert nearest.is_ktco(2)


def test_odd_k_gives_the_links_of_the_next_even_k_where_they_are_fewer_and_says_so() -> None:
    interests = generate(brokers=300, topics=60, subscriptions=25, seed=1)
    said: list[str] = []
    cheap = build("hararypt", interests, k=3, progress=lambda _done, stage: said.append(stage))
    exact = build("hararypt", interests, k=3, even_if_cheaper=False)
    assert cheap.links.tolist() == build("hararypt", interests, k=4).links.tolist()
    assert len(cheap.links) < len(exact.links)
    assert cheap.is_ktco(3)
    assert any("k = 4 has fewer links than k = 3" in stage for stage in said)


def test_the_seed_decides_random_orders() -> None:
    interests = generate(brokers=100, topics=10, subscriptions=4, seed=1)
    for order in ("random", "independent", "nearest"):
        again, same, other = (
            build("hararypt", interests, order=order, seed=seed).links.tolist() for seed in (1, 1, 2)
        )
        assert again == same
        assert again != other


def test_k_above_every_topic_makes_cliques() -> None:
    interests = generate(brokers=12, topics=4, subscriptions=2, seed=1)
    overlay = build("hararypt", interests, k=1_000_000)
    for topic in interests.topics:
        graph = overlay.topic_graph(topic)
        assert graph.ecount() == graph.vcount() * (graph.vcount() - 1) // 2
    assert overlay.is_ktco(1_000_000)


@pytest.mark.parametrize(
    ("k", "reason"),
    [(0, "at least 2"), (1, "at least 2"), ("two", "a whole number"), (2.5, "a whole number")],
)
def test_bad_k_is_named(k: object, reason: str) -> None:
    with pytest.raises(BadInput, match=rf"^k: must be .*{reason}"):
        build("hararypt", Interests.from_mapping({"a": ["x"]}), k=k)


def test_unknown_order_is_named() -> None:
    with pytest.raises(BadInput, match=r"^order: must be one of id, random, nearest, independent"):
        build("hararypt", Interests.from_mapping({"a": ["x"]}), order="spectral")
