"""Replay, freeze and questions: a second overlay follows a first one by its plans alone, and igraph agrees with both."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import BadInput, Interests, build
from algorithms.live import LinkChange, LiveOverlay, Plan, join, leave, set_topics

BROKERS = [f"b{i}" for i in range(9)]
TOPICS = ["s", "t", "u", "v"]
some_topics = st.lists(st.sampled_from(TOPICS), unique=True, max_size=4)


def start(interests: dict[str, list[str]]) -> LiveOverlay:
    return LiveOverlay(build("gm", Interests.from_mapping(interests)))


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(st.sampled_from(BROKERS), some_topics, min_size=3),
    st.lists(st.tuples(st.sampled_from(BROKERS), some_topics), max_size=12),
)
def test_a_follower_has_the_same_overlay(
    first: dict[str, list[str]], steps: list[tuple[str, list[str]]]
) -> None:
    leader, follower = start(first), start(first)
    for broker, topics in steps:
        if broker not in leader:
            change = join(broker, topics)
        elif len(topics) == 2:
            change = leave(broker)
        else:
            change = set_topics(broker, topics)
        plan = leader.change(change)
        before = follower.images()
        written = follower.replay(replace(plan, steps=None))
        follower.apply(written)
        if not plan.is_empty:
            follower.undo()
            assert follower.images() == before
            follower.apply(written)
        frozen = leader.freeze()
        assert follower.snapshot().link_names() == leader.snapshot().link_names() == frozen().link_names()
        assert follower.snapshot().interests.topics == leader.snapshot().interests.topics
        assert follower.version == leader.version
    _questions_agree_with_igraph(leader)


def _questions_agree_with_igraph(live: LiveOverlay) -> None:
    overlay = live.snapshot()
    for topic in overlay.interests.topics:
        graph = overlay.topic_graph(topic)
        alone = live.topic_overlay(topic).topic_graph(topic)
        assert sorted(map(sorted, _named(graph))) == sorted(map(sorted, _named(alone)))
        held = {graph.vs[v]["name"] for v in graph.articulation_points()}
        for broker in graph.vs["name"]:
            assert (topic in live.blast_radius(broker)) == (broker in held)
    for a, b in overlay.link_names():
        shared = set(overlay.interests.topics_of(a)) & set(overlay.interests.topics_of(b))
        assert live.shared_topics(a, b) == sorted(shared)


def _named(graph: object) -> list[tuple[str, str]]:
    names = graph.vs["name"]  # type: ignore[attr-defined]
    return [(names[a], names[b]) for a, b in graph.get_edgelist()]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("written", "why"),
    [
        (Plan(0, joined=("a",)), "has joined already"),
        (Plan(0, left=("nobody",)), "no such broker"),
        (Plan(0, unsubscribed=(("a", "nothing"),)), "no such topic"),
        (Plan(0, opened=(LinkChange("a", "b", "rebuild"),)), "open already"),
        (Plan(0, closed=(LinkChange("a", "d", "replaced"),)), "no such link"),
        (Plan(0, left=("a",), unsubscribed=(("a", "x"),)), "cannot stay open"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_changes(written: Plan, why: str) -> None:
    live = start({"a": ["x"], "b": ["x", "y"], "c": ["y"], "d": []})
    before = live.images()
    with pytest.raises(BadInput, match=why):
        live.replay(written)
    assert live.images() == before
