"""One topic under the lens: components, blocks, articulation brokers, bridges, diameter, connectivity.

A topic block is a biconnected component of the topic's subgraph; an articulation broker is one whose failure would cut
the topic apart, a bridge a link whose loss would.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import igraph
import numpy as np

from algorithms.analysis.diameters import VISITS, graph_diameter
from algorithms.connectivity import scratch, weak_spot
from algorithms.interests import Ints, Longs
from algorithms.overlay import Overlay

Connectivity = Literal[0, 1, 2, "3+"]


@dataclass(frozen=True)
class TopicAnalysis:
    """What holds one topic together.

    >>> from algorithms import Interests
    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x"], "c": ["x"]})
    >>> found = topic_analysis(Overlay.from_names(interests, [("a", "b")]), "x")
    >>> found.components, found.diameter, found.connectivity
    ([['a', 'b'], ['c']], None, 0)
    """

    name: str
    subscribers: int
    components: list[list[str]]
    """Broker ids, each component ascending; the largest component first, equal ones by their first id."""
    blocks: int
    """Biconnected components; a bridge is a block of two, a broker without links in the topic is in none."""
    articulation_brokers: list[str]
    bridges: list[tuple[str, str]]
    diameter: int | None
    """None when the topic is apart."""
    diameter_sampled: bool
    """Whether the diameter is a lower bound found by sampling, because the exact one would take too long."""
    connectivity: Connectivity
    """How many brokers must fail to cut the topic apart: 0 means it is apart now. A clique of n subscribers has n - 1,
    as usual; a topic with one subscriber, which nothing can cut apart, has 1."""


def topic_analysis(overlay: Overlay, topic: str, *, visits: int = VISITS) -> TopicAnalysis:
    """Analyse one topic of an overlay.

    Linear in the topic's links but for the diameter (see :mod:`algorithms.analysis.diameters`) and, where no broker
    and no link alone holds the topic together, the test for three.

    >>> from algorithms import Interests
    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x"], "c": ["x"]})
    >>> found = topic_analysis(Overlay.from_names(interests, [("a", "b"), ("b", "c")]), "x")
    >>> found.articulation_brokers, found.bridges, found.diameter, found.connectivity
    (['b'], [('a', 'b'), ('b', 'c')], 2, 1)
    """
    graph = overlay.topic_graph(topic)
    names: list[str] = graph.vs["name"]
    components = [[names[v] for v in members] for members in graph.connected_components()]
    components.sort(key=lambda members: (-len(members), members))
    ends: list[tuple[int, int]] = graph.get_edgelist()
    blocks, articulation = graph.biconnected_components(return_articulation_points=True)
    apart = len(components) > 1
    diameter, sampled = (0, False) if apart else graph_diameter(*_rows(graph), visits)
    return TopicAnalysis(
        name=topic,
        subscribers=len(names),
        components=components,
        blocks=len(blocks),
        articulation_brokers=sorted(names[v] for v in articulation),
        bridges=sorted(_link(names, ends[e]) for e in graph.bridges()),
        diameter=None if apart else diameter,
        diameter_sampled=sampled,
        connectivity=0 if apart else _connectivity(graph, bool(articulation)),
    )


def _connectivity(graph: igraph.Graph, has_articulation: bool) -> Connectivity:
    """The connectivity class of a connected graph."""
    if has_articulation or graph.vcount() <= 2:
        return 1
    if graph.vcount() == 3 or min(graph.degree()) == 2:
        return 2
    return "3+" if _is_triconnected(*_rows(graph)) else 2


def _is_triconnected(starts: Longs, neighbours: Ints) -> bool:
    """Whether no two brokers can cut the graph apart; it has four brokers or more."""
    size = len(starts) - 1
    separator, parted = np.empty(size, np.int32), np.empty(2, np.int32)
    found = weak_spot(3, 0, size, starts[:-1], starts[1:], neighbours, *scratch(size), separator, parted)
    return bool(found == 3)


def _rows(graph: igraph.Graph) -> tuple[Longs, Ints]:
    """The graph in compressed rows: starts and neighbours."""
    ends = np.array(graph.get_edgelist(), np.int32).reshape(-1, 2)
    tails = np.concatenate([ends[:, 0], ends[:, 1]])
    heads = np.concatenate([ends[:, 1], ends[:, 0]])
    starts = np.zeros(graph.vcount() + 1, np.int64)
    np.cumsum(np.bincount(tails, minlength=graph.vcount()), out=starts[1:])
    return starts, heads[np.argsort(tails, kind="stable")]


def _link(names: list[str], ends: tuple[int, int]) -> tuple[str, str]:
    a, b = sorted((names[ends[0]], names[ends[1]]))
    return a, b
