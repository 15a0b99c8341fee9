"""RingPT, CyclePT, TreePT: the shape of every topic, and orders that depend on seed and ids alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from algorithms import BadInput, Interests, build
from algorithms.analysis import measure
from algorithms.order import subscription_hashes
from algorithms.workloads import generate
from tests.algorithms.strategies import NOTHING_TO_LINK, any_interests
from tests.algorithms.twins import per_topic

SHAPES = {"ringpt": per_topic.ring, "cyclept": per_topic.ring, "treept": per_topic.tree}


def orders(interests: Interests, order: str, seed: int) -> list[list[int]]:
    """The subscribers of each topic in the order the algorithm must use."""
    keys = subscription_hashes(interests, seed).tolist()
    found = []
    for t in range(len(interests.topics)):
        first = int(interests.topic_start[t])
        places = range(first, int(interests.topic_start[t + 1]))
        ranked = sorted(places, key=lambda place: keys[place]) if order == "random" else places
        found.append([int(interests.topic_brokers[place]) for place in ranked])
    return found


@pytest.mark.parametrize("order", ["id", "random"])
@pytest.mark.parametrize("name", SHAPES)
@settings(max_examples=60, deadline=None)
@given(interests=any_interests())
def test_links_are_those_of_the_twin(name: str, order: str, interests: Interests) -> None:
    overlay = build(name, interests, order=order, seed=11)
    twin = per_topic.per_topic(orders(interests, order, 11), SHAPES[name])
    assert {(a, b) for a, b in overlay.links.tolist()} == twin
    assert overlay.is_tco()


def test_defaults() -> None:
    """RingPT goes by id (gm 8.3), CyclePT by an order of each topic's own (ktco VIII)."""
    interests = generate(brokers=80, topics=10, subscriptions=4, seed=1)
    for name, order in (("ringpt", "id"), ("cyclept", "random"), ("treept", "id")):
        assert (build(name, interests).links == build(name, interests, order=order).links).all()


def test_a_topics_random_order_depends_on_nothing_but_seed_and_ids() -> None:
    """So a Spark task that sees one topic gives the order that a process gives that sees all."""
    whole = generate(brokers=50, topics=8, subscriptions=3, seed=2)
    for topic in whole.topics:
        alone = Interests.from_mapping({broker: [topic] for broker in whole.subscribers_of(topic)})
        cycle = build("cyclept", alone, seed=9).link_names()
        assert set(cycle) <= set(build("cyclept", whole, seed=9).link_names())
    assert build("cyclept", whole, seed=9).link_names() != build("cyclept", whole, seed=10).link_names()


def test_ring_and_cycle_survive_one_failure_and_trees_are_shallow() -> None:
    interests = generate(brokers=800, topics=50, subscriptions=5, seed=3)
    for name in ("ringpt", "cyclept"):
        found = measure(build(name, interests))
        assert (found.topics_apart, found.articulation_brokers, found.bridges) == (0, 0, 0)
    tree = measure(build("treept", interests, order="random"))
    assert tree.topic_diameter_max is not None
    assert tree.topic_diameter_max <= 2 * 10
    assert tree.links < interests.subscriptions


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(BadInput, match="order: must be one of id, random"):
        build("ringpt", Interests.from_mapping({"a": ["x"]}), order="nearest")


@pytest.mark.parametrize("name", SHAPES)
def test_nothing_to_link(name: str) -> None:
    for nothing in NOTHING_TO_LINK:
        assert build(name, Interests.from_mapping(nothing)).links.shape == (0, 2)
