"""Prune: still a kTCO, and nothing more to drop."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import Algorithm, Cancelled, Interests, Overlay, algorithms, build
from algorithms.prune import pruned
from algorithms.workloads import generate
from tests.algorithms.strategies import any_interests
from tests.algorithms.twins.connectivity import broken_topic


def all_pairs(interests: Interests) -> Overlay:
    """Every pair that shares a topic linked: a kTCO for every k."""
    pairs = {
        pair
        for t in range(len(interests.topics))
        for pair in combinations(interests.subscriber_indices(t).tolist(), 2)
    }
    return Overlay.from_links(interests, np.array(sorted(pairs), np.int32).reshape(-1, 2))


@settings(max_examples=60, deadline=None)
@given(any_interests(), st.integers(1, 4))
def test_what_is_left_is_a_ktco_that_needs_every_link(interests: Interests, k: int) -> None:
    kept = Overlay.from_links(interests, pruned(interests, all_pairs(interests).links, k))
    assert broken_topic(kept, k) is None
    for link in range(len(kept.links)):
        without = Overlay.from_links(interests, np.delete(kept.links, link, axis=0))
        assert broken_topic(without, k) is not None, f"link {kept.links[link]} is not needed"


@pytest.mark.parametrize(("name", "k"), [("gm2", 2), ("hararypt", 4), ("degree-cover", 3)])
def test_every_k_connected_algorithm_prunes(name: str, k: int) -> None:
    interests = generate(brokers=80, topics=15, subscriptions=6, distribution="zipf", seed=4)
    given_k: dict[str, Any] = {} if name == "gm2" else {"k": k}
    plain = build(name, interests, prune=False, **given_k)
    kept = build(name, interests, prune=True, **given_k)
    assert kept.is_ktco(k)
    assert len(kept.links) <= len(plain.links)
    assert {tuple(link) for link in kept.links.tolist()} <= {tuple(link) for link in plain.links.tolist()}
    again = pruned(interests, kept.links, k)
    assert again.tolist() == kept.links.tolist()


def test_reverse_delete_leaves_a_tree_of_one_topic() -> None:
    interests = Interests.from_mapping({f"b{v}": ["x"] for v in range(9)})
    assert len(pruned(interests, all_pairs(interests).links, 1)) == 8


def test_links_that_serve_no_topic_go() -> None:
    interests = Interests.from_mapping({"a": ["x"], "b": ["x"], "c": ["y"]})
    assert pruned(interests, np.array([[0, 1], [1, 2]], np.int32), 1).tolist() == [[0, 1]]


def test_nothing_is_pruned_from_nothing() -> None:
    interests = Interests.from_mapping({"a": ["x"], "b": []})
    assert pruned(interests, np.empty((0, 2), np.int32), 3).tolist() == []


def test_the_busiest_lose_links_first() -> None:
    """A hub linked with everyone on a ring of nine: the ring holds the topic for k = 2 without the hub's spokes."""
    interests = Interests.from_mapping({f"b{v}": ["x"] for v in range(10)})
    ring = [(v, (v + 1) % 9) for v in range(9)]
    kept = Overlay.from_links(
        interests, pruned(interests, np.array(ring + [(v, 9) for v in range(9)], np.int32), 2)
    )
    assert kept.is_ktco(2)
    assert kept.max_degree <= 3


def test_a_prune_can_be_cancelled() -> None:
    def stop(_done: float, _stage: str) -> None:
        raise Cancelled

    interests = Interests.from_mapping({f"b{v}": ["x"] for v in range(5)})
    with pytest.raises(Cancelled):
        pruned(interests, all_pairs(interests).links, 2, progress=stop)


@pytest.mark.parametrize("chosen", algorithms(), ids=lambda chosen: chosen.name)
def test_every_algorithm_can_be_pruned_to_what_it_promises(chosen: Algorithm) -> None:
    interests = generate(brokers=40, topics=12, subscriptions=4, distribution="zipf", seed=2)
    k = chosen.promised_k(chosen.parse({}))
    whole, left = (build(chosen.name, interests, prune=prune) for prune in (False, True))
    assert broken_topic(whole, k) is None
    assert broken_topic(left, k) is None
    assert set(left.link_names()) <= set(whole.link_names())
    assert len(pruned(interests, left.links, k)) == len(left.links), "nothing more can go"
    if chosen.name in ("cyclept", "ringpt", "treept", "hararypt"):
        assert len(left.links) < len(whole.links), "every topic by itself is more than all of them need"
