"""Analysis against igraph's own answers, on overlays of every shape."""

from __future__ import annotations

import json

import igraph
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import BadInput, Interests, Overlay, build
from algorithms.analysis import forced_degrees, measure, measure_parts, topic_analysis, topic_layout
from algorithms.analysis.cuts import topic_cuts
from algorithms.analysis.diameters import APART, topic_diameters
from algorithms.analysis.subgraphs import TopicSubgraphs
from algorithms.workloads import generate
from tests.algorithms.strategies import any_interests, divided_interests
from tests.algorithms.twins import merge
from tests.algorithms.twins.steps import topics_by_broker

checked = settings(max_examples=80, deadline=None)


@st.composite
def overlays(draw: st.DrawFn) -> Overlay:
    """Any interests with any links, between strangers too."""
    interests = draw(any_interests())
    last = len(interests.brokers) - 1
    pairs = draw(st.lists(st.tuples(st.integers(0, last), st.integers(0, last)), max_size=25))
    return Overlay.from_links(
        interests, np.array([p for p in pairs if p[0] != p[1]], np.int32).reshape(-1, 2)
    )


@checked
@given(overlays())
def test_every_topic_is_analysed_as_igraph_would(overlay: Overlay) -> None:
    for topic in overlay.interests.topics:
        graph = overlay.topic_graph(topic)
        found = topic_analysis(overlay, topic)
        pieces = sorted(sorted(graph.vs[v]["name"] for v in piece) for piece in graph.connected_components())
        assert sorted(found.components) == pieces
        assert [len(piece) for piece in found.components] == sorted(map(len, pieces), reverse=True)
        assert found.subscribers == graph.vcount()
        assert found.blocks == len(graph.biconnected_components())
        assert found.articulation_brokers == sorted(graph.vs[v]["name"] for v in graph.articulation_points())
        assert len(found.bridges) == len(graph.bridges())
        apart = len(pieces) > 1
        assert found.diameter == (None if apart else graph.diameter())
        assert not found.diameter_sampled
        connectivity = 1 if graph.vcount() == 1 else graph.vertex_connectivity()
        assert found.connectivity == ("3+" if connectivity >= 3 else connectivity)


@checked
@given(overlays())
def test_all_topics_at_once_agree_with_one_by_one(overlay: Overlay) -> None:
    interests = overlay.interests
    graphs = TopicSubgraphs.of(overlay)
    diameters, sampled = topic_diameters(graphs)
    cuts = topic_cuts(graphs)
    components = overlay.topic_components()
    for t, topic in enumerate(interests.topics):
        one = topic_analysis(overlay, topic)
        assert sorted(map(tuple, graphs.topic_links(t).tolist())) == sorted(
            overlay.topic_graph(topic).get_edgelist()
        )
        assert components[t] == len(one.components)
        assert diameters[t] == (APART if one.diameter is None else one.diameter)
        assert cuts.blocks[t] == one.blocks
        here = slice(interests.topic_start[t], interests.topic_start[t + 1])
        members = interests.topic_brokers[here][cuts.articulates[here]]
        assert [interests.brokers[v] for v in members] == one.articulation_brokers
        ends = cuts.bridge_ends[cuts.bridge_topic == t].tolist()
        assert sorted((interests.brokers[a], interests.brokers[b]) for a, b in ends) == one.bridges
    assert not sampled.any()


@checked
@given(overlays())
def test_measures_sum_up_the_topics(overlay: Overlay) -> None:
    found = measure(overlay)
    ones = [topic_analysis(overlay, topic) for topic in overlay.interests.topics]
    spans = [one.diameter for one in ones if one.diameter is not None and one.subscribers > 1]
    assert found.topics_apart == len(overlay.topics_apart()) == sum(len(one.components) > 1 for one in ones)
    assert found.topic_components == sum(len(one.components) for one in ones)
    assert found.topic_diameter_max == max(spans, default=None)
    assert found.topic_diameter_mean == (pytest.approx(sum(spans) / len(spans)) if spans else None)
    assert found.articulation_brokers == len({b for one in ones for b in one.articulation_brokers})
    assert found.topics_with_articulation == sum(bool(one.articulation_brokers) for one in ones)
    assert found.bridges == len({link for one in ones for link in one.bridges})
    assert sum(found.degree_histogram.values()) == found.brokers
    assert sum(d * n for d, n in found.degree_histogram.items()) == 2 * found.links
    assert json.loads(json.dumps(found.describe()))["links"] == found.links


@checked
@given(any_interests())
def test_the_forced_degree_is_a_bound_on_every_overlay(interests: Interests) -> None:
    pairs = {
        tuple(interests.subscribers_of(t)) for t in interests.topics if len(interests.subscribers_of(t)) == 2
    }
    forced = forced_degrees(interests)
    assert forced.tolist() == [sum(b in pair for pair in pairs) for b in interests.brokers]
    assert (build("2d-oda", interests).degrees() >= forced).all()


@checked
@given(divided_interests())
def test_parts_are_counted_link_by_link(divided: tuple[Interests, list[int]]) -> None:
    """dc section VII, with the star sets of the twin."""
    interests, parts = divided
    topics = topics_by_broker(interests)
    lists = [[v for v in range(len(parts)) if parts[v] == part] for part in sorted(set(parts))]
    stars = [
        merge.star_set(topics, *both) for both in zip(lists, merge.topics_out(topics, lists), strict=True)
    ]
    everyone = {v for chosen in stars for v in chosen}
    inner, outer = merge.divide_and_conquer(topics, lists)
    overlay = Overlay.from_links(interests, np.array(inner + outer, np.int32))
    found = measure_parts(overlay, np.array(parts), np.array([v in everyone for v in range(len(parts))]))
    assert (found.parts, found.inner_links, found.outer_links) == (len(lists), len(inner), len(outer))
    assert found.star_set_max == max(map(len, stars))
    assert found.star_set_mean == pytest.approx(len(everyone) / len(lists))
    knows = [
        len(part) - 1 + (len(everyone) - len(chosen) if v in everyone else 0)
        for part, chosen in zip(lists, stars, strict=True)
        for v in part
    ]
    assert found.pn_ratio == pytest.approx(max(knows) / len(parts))
    assert measure_parts(overlay, np.array(parts)).pn_ratio == pytest.approx((len(parts) - 1) / len(parts))


def test_parts_need_an_entry_a_broker() -> None:
    overlay = Overlay.from_names(Interests.from_mapping({"a": ["x"]}), [])
    with pytest.raises(BadInput, match="part_of_broker: must have one entry for each of 1 brokers"):
        measure_parts(overlay, np.array([0, 1]))


def test_an_overlay_of_nothing_measures_as_nothing() -> None:
    found = measure(Overlay.from_links(Interests.from_mapping({}), np.empty((0, 2), np.int32)))
    assert (found.brokers, found.links, found.max_degree, found.average_degree) == (0, 0, 0, 0.0)
    assert (found.topic_diameter_max, found.topic_diameter_mean, found.degree_histogram) == (None, None, {})


def test_a_topic_of_one_subscriber_is_connected() -> None:
    overlay = Overlay.from_names(Interests.from_mapping({"a": ["x"]}), [])
    found = topic_analysis(overlay, "x")
    assert (found.components, found.blocks, found.diameter, found.connectivity) == ([["a"]], 0, 0, 1)
    assert topic_layout(overlay, "x", seed=3) == {"a": (0.0, 0.0)}


def test_an_unknown_topic_is_named() -> None:
    overlay = Overlay.from_names(Interests.from_mapping({"a": ["x"]}), [])
    for ask in (topic_analysis, topic_layout):
        with pytest.raises(BadInput, match="no such topic"):
            ask(overlay, "y")


@pytest.mark.parametrize(
    "graph",
    [
        igraph.Graph.Ring(1_000),
        igraph.Graph.Tree(1_500, 3),
        igraph.Graph.Lattice([30, 30], circular=False),
        igraph.Graph.Star(900),
    ],
    ids=["ring", "tree", "lattice", "star"],
)
def test_diameters_of_large_topics_are_exact(graph: igraph.Graph) -> None:
    interests = Interests.from_mapping({f"b{v:04d}": ["x"] for v in range(graph.vcount())})
    overlay = Overlay.from_links(interests, np.array(graph.get_edgelist()))
    found = topic_analysis(overlay, "x")
    assert (found.diameter, found.diameter_sampled) == (graph.diameter(), False)


def test_a_diameter_without_the_time_for_it_is_sampled_and_says_so() -> None:
    interests = generate(brokers=600, topics=1, subscriptions=1, seed=2)
    overlay = build("cyclept", interests)
    found = topic_analysis(overlay, "t1", visits=1)
    assert found.diameter_sampled
    assert found.diameter is not None
    assert 150 <= found.diameter <= 300
    assert measure(overlay, visits=1).topic_diameters_sampled == 1


@pytest.mark.parametrize("size", [2, 3, 40, 300, 4_000])
def test_a_layout_fits_the_page_and_keeps_brokers_apart(size: int) -> None:
    interests = generate(brokers=size, topics=6, subscriptions=3, seed=size)
    overlay = build("treept", interests, order="random")
    for topic in interests.topics[:2]:
        places = topic_layout(overlay, topic, seed=5)
        points = np.array(list(places.values()))
        assert list(places) == interests.subscribers_of(topic)
        assert (np.abs(points) <= 1).all()
        assert len(np.unique(points.round(6), axis=0)) == len(points)
        assert np.abs(points).max() == pytest.approx(1) or len(points) == 1
        assert topic_layout(overlay, topic, seed=5) == places


def test_components_are_drawn_side_by_side() -> None:
    interests = Interests.from_mapping({f"b{v:02d}": ["x"] for v in range(30)})
    links = [(f"b{v:02d}", f"b{v + 1:02d}") for v in range(29) if v not in (9, 19, 24)]
    overlay = Overlay.from_names(interests, links)
    places = topic_layout(overlay, "x", seed=1)
    boxes = []
    for members in topic_analysis(overlay, "x").components:
        points = np.array([places[broker] for broker in members])
        boxes.append((points.min(axis=0), points.max(axis=0)))
    for i, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[i + 1 :]:
            assert (low > other_high).any() or (other_low > high).any()
