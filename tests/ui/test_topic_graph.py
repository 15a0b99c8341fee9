"""What a topic of three components looks like: colours, marks, sizes, and the legend that explains them."""

from __future__ import annotations

import base64
import html
import re
from typing import cast

import pytest
import streamlit as st

from tests.ui.fake_overlay import small
from ui import topic_graph
from ui.answers import TopicGraph
from ui.palette import PALETTES
from ui.topic_graph import BrokerNode, drawing, legend

CUT = "/region/2/broker-10"
COLOURS = PALETTES["light"]


@pytest.fixture
def graph() -> TopicGraph:
    """A ring of six, a star of four round the broker that holds it together, and one alone."""
    return cast(TopicGraph, small().graph("/stock/levels"))


def discs(graph: TopicGraph) -> dict[str, BrokerNode]:
    """The brokers as drawn, without the points that carry their names."""
    nodes, _ = drawing(topic_graph.digest(graph), graph, "light")
    known = {broker["id"] for broker in graph["nodes"]}
    return {node.id: node for node in nodes if node.id in known}


def picture(node: BrokerNode) -> str:
    """What lies over a broker."""
    return base64.b64decode(node.overlayIcon["url"].partition(",")[2]).decode()


def test_each_component_has_its_colour(graph: TopicGraph) -> None:
    found = discs(graph)
    assert len(found) == len(graph["nodes"]) == 11
    for broker in graph["nodes"]:
        assert found[broker["id"]].color.as_hex("long").upper() == COLOURS.components[broker["component"]]
    assert {broker["component"] for broker in graph["nodes"]} == {0, 1, 2}


def test_the_articulation_broker_alone_wears_ring_and_diamond(graph: TopicGraph) -> None:
    pictures = {identity: picture(node) for identity, node in discs(graph).items()}
    assert [identity for identity, drawn in pictures.items() if "<circle" in drawn] == [CUT]
    assert f'stroke="{COLOURS.broken}"' in pictures[CUT]
    assert "<path" in pictures[CUT]
    assert list(pictures)[-1] == CUT, "drawn last, it lies on top of what it holds together"


def test_bridges_have_the_colour_of_what_breaks(graph: TopicGraph) -> None:
    _, links = drawing(topic_graph.digest(graph), graph, "light")
    colours = {(link.source, link.target): link.color.as_hex("long").upper() for link in links}
    assert len(colours) == len(graph["links"]) == 9
    for link in graph["links"]:
        expected = COLOURS.broken if link["bridge"] else COLOURS.kept
        assert colours[link["a"], link["b"]] == expected
    assert list(colours.values()).count(COLOURS.broken) == 3


def test_the_more_links_the_larger(graph: TopicGraph) -> None:
    found = discs(graph)
    by_degree = sorted(graph["nodes"], key=lambda broker: broker["degree"])
    sizes = [found[broker["id"]].size for broker in by_degree]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


def test_the_legend_explains_what_is_there_and_nothing_else(
    graph: TopicGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(st, "html", shown.append)
    legend(graph, "light")
    rows = [html.unescape(row) for row in re.findall(r"<div>([^<]+)</div>", shown[0])]
    assert rows == [
        "Component 1: 6 brokers",
        "Component 2: 4 brokers",
        "Component 3: 1 broker",
        "Articulation broker: its loss alone splits the topic",
        "Bridge: the loss of this link alone splits the topic",
        "Link with a way round it",
    ]
    ring: TopicGraph = {
        **graph,
        "nodes": [{**broker, "articulation": False} for broker in graph["nodes"] if broker["component"] == 0],
        "links": [link for link in graph["links"] if not link["bridge"]],
    }
    legend(ring, "light")
    rows = [html.unescape(row) for row in re.findall(r"<div>([^<]+)</div>", shown[1])]
    assert rows == ["The one component: 6 brokers", "Link with a way round it"]


def test_two_states_of_one_topic_have_their_names_in_the_same_places(graph: TopicGraph) -> None:
    """A link of the second alone would lie under a name that the first has room for."""
    before: TopicGraph = {**graph, "links": graph["links"][:2]}
    nodes = [drawing(f"{i}", g, "light", _named_in=graph)[0] for i, g in enumerate((before, graph))]
    first, second = ([(n.id, n.x, n.y) for n in drawn if n.id not in discs(graph)] for drawn in nodes)
    assert first == second
    alone = [(n.id, n.x, n.y) for n in drawing("alone", before, "light")[0] if n.id not in discs(graph)]
    assert alone != second
