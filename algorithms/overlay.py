"""Overlay: interests and the links between brokers, with what a user asks of them.

A link is undirected and stored once as (smaller dense id, larger dense id); links are sorted, without loops or
duplicates. Per-topic analyses are in :mod:`algorithms.analysis`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import igraph
import networkx
import numpy as np
from numpy.typing import NDArray

from algorithms.components import component_counts
from algorithms.errors import BadInput
from algorithms.interests import Interests, Ints

if TYPE_CHECKING:
    from algorithms.analysis.k_connectivity import Shortfall


@dataclass(frozen=True, eq=False)
class Overlay:
    """Interests plus links.

    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x"], "c": ["x"]})
    >>> overlay = Overlay.from_names(interests, [("a", "b"), ("c", "b")])
    >>> overlay.is_tco(), overlay.is_ktco(2), [str(topic) for topic in overlay.topics_below(2)]
    (True, False, ['x: must be a clique, but a and c are not linked'])
    >>> overlay.link_names(), overlay.degrees().tolist(), overlay.max_degree, round(overlay.average_degree, 2)
    ([('a', 'b'), ('b', 'c')], [1, 2, 1], 2, 1.33)
    >>> overlay.topic_components().tolist(), overlay.topics_apart(), overlay.topic_graph("x").diameter()
    ([1], [], 2)
    """

    interests: Interests
    links: Ints
    """Shape (m, 2), sorted by rows, each row ascending; read-only."""

    @classmethod
    def from_links(cls, interests: Interests, links: NDArray[np.integer]) -> Overlay:
        """An overlay from dense ids in any order; loops and unknown brokers are refused, duplicates collapsed.

        >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x"], "c": ["x"]})
        >>> Overlay.from_links(interests, np.array([[2, 0], [0, 2], [1, 0]])).link_names()
        [('a', 'b'), ('a', 'c')]
        """
        raw = np.asarray(links)
        if raw.size == 0:
            raw = np.empty((0, 2), np.int32)
        if raw.ndim != 2 or raw.shape[1] != 2 or raw.dtype.kind not in "iu":
            raise BadInput(
                "links", f"{raw.dtype} array of shape {raw.shape}", "links are an (m, 2) array of integers"
            )
        if len(raw) and (raw.min() < 0 or raw.max() >= len(interests.brokers)):
            raise BadInput(
                "links", int(raw.min() if raw.min() < 0 else raw.max()), "no broker has this dense id"
            )
        low = np.minimum(raw[:, 0], raw[:, 1]).astype(np.int64)
        high = np.maximum(raw[:, 0], raw[:, 1]).astype(np.int64)
        loops = np.flatnonzero(low == high)
        if len(loops):
            raise BadInput("links", interests.brokers[low[loops[0]]], "a broker cannot have a link to itself")
        width = max(len(interests.brokers), 1)
        keys = low * width + high
        keys.sort()
        keys = keys[np.diff(keys, prepend=-1) > 0]
        ends = np.stack(np.divmod(keys, width), axis=1).astype(np.int32)
        ends.setflags(write=False)
        return cls(interests, ends)

    @classmethod
    def from_names(cls, interests: Interests, links: Iterable[tuple[str, str]]) -> Overlay:
        """An overlay from pairs of broker ids."""
        dense = [(interests.broker_index(a), interests.broker_index(b)) for a, b in links]
        return cls.from_links(interests, np.array(dense, np.int32).reshape(-1, 2))

    @classmethod
    def from_igraph(cls, interests: Interests, graph: igraph.Graph) -> Overlay:
        """An overlay from a graph whose vertex attribute ``name`` holds broker ids.

        >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x"], "c": ["x"]})
        >>> Overlay.from_igraph(interests, igraph.Graph.Star(3)).is_tco()
        Traceback (most recent call last):
        algorithms.errors.BadInput: graph: the vertices need a 'name' attribute of broker ids (got 'IGRAPH U--- 3 2 -- ')
        >>> graph = igraph.Graph(edges=[(0, 1), (0, 2)])
        >>> graph.vs["name"] = ["c", "a", "b"]
        >>> Overlay.from_igraph(interests, graph).link_names()
        [('a', 'c'), ('b', 'c')]
        """
        if "name" not in graph.vs.attributes():
            raise BadInput(
                "graph", graph.summary(verbosity=0), "the vertices need a 'name' attribute of broker ids"
            )
        rank = np.array([interests.broker_index(name) for name in graph.vs["name"]], np.int32)
        return cls.from_links(interests, rank[np.array(graph.get_edgelist(), np.int32).reshape(-1, 2)])

    @classmethod
    def from_networkx(cls, interests: Interests, graph: networkx.Graph[str]) -> Overlay:
        """An overlay from a networkx graph of broker ids.

        >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x"], "c": ["x"]})
        >>> Overlay.from_networkx(interests, networkx.path_graph(["a", "b", "c"])).is_tco()
        True
        """
        return cls.from_names(interests, graph.edges())

    def to_igraph(self) -> igraph.Graph:
        """The whole overlay as a graph; vertex i is the broker of dense id i, its id in ``name``.

        >>> overlay = Overlay.from_names(Interests.from_mapping({"a": ["x"], "b": ["x"], "c": []}), [("a", "b")])
        >>> graph = overlay.to_igraph()
        >>> graph.vs["name"], graph.degree(), Overlay.from_igraph(overlay.interests, graph).link_names()
        (['a', 'b', 'c'], [1, 1, 0], [('a', 'b')])
        """
        graph = igraph.Graph(n=len(self.interests.brokers), edges=self.links)
        graph.vs["name"] = self.interests.brokers
        return graph

    def to_networkx(self) -> networkx.Graph[str]:
        """The whole overlay as a networkx graph of broker ids.

        >>> overlay = Overlay.from_names(Interests.from_mapping({"a": ["x"], "b": ["x"], "c": []}), [("a", "b")])
        >>> graph = overlay.to_networkx()
        >>> list(graph), list(graph.edges), Overlay.from_networkx(overlay.interests, graph).link_names()
        (['a', 'b', 'c'], [('a', 'b')], [('a', 'b')])
        """
        graph: networkx.Graph[str] = networkx.Graph()
        graph.add_nodes_from(self.interests.brokers)
        graph.add_edges_from(self.link_names())
        return graph

    def link_names(self) -> list[tuple[str, str]]:
        """The links as pairs of broker ids."""
        names = self.interests.brokers
        return [(names[a], names[b]) for a, b in self.links.tolist()]

    def degrees(self) -> NDArray[np.int64]:
        """How many links each broker has."""
        return np.bincount(self.links.ravel(), minlength=len(self.interests.brokers))

    @property
    def average_degree(self) -> float:
        """Two ends a link, shared by all brokers; 0.0 without brokers."""
        return 2 * len(self.links) / len(self.interests.brokers) if self.interests.brokers else 0.0

    @property
    def max_degree(self) -> int:
        """The largest number of links of one broker."""
        return int(self.degrees().max(initial=0))

    def topic_graph(self, topic: str) -> igraph.Graph:
        """The subgraph induced by a topic's subscribers, their ids in ``name``."""
        members = self.interests.subscriber_indices(self.interests.topic_index(topic))
        inside = np.isin(self.links, members).all(axis=1)
        graph = igraph.Graph(n=len(members), edges=np.searchsorted(members, self.links[inside]))
        graph.vs["name"] = [self.interests.brokers[v] for v in members]
        return graph

    def topic_components(self) -> NDArray[np.int64]:
        """How many topic components each topic has, by dense topic id; one where it is connected."""
        return component_counts(self.interests, self.links)

    def topics_apart(self) -> list[str]:
        """The topics whose subscribers do not all reach each other through subscribers of the topic."""
        return [self.interests.topics[t] for t in np.flatnonzero(self.topic_components() > 1)]

    def is_tco(self) -> bool:
        """Whether every topic is connected: the overlay is a topic-connected overlay."""
        return bool((self.topic_components() <= 1).all())

    def topics_below(self, k: int) -> list[Shortfall]:
        """The topics that the failure of k - 1 brokers can cut apart, or that lack links of a clique they must be."""
        # Analyses work on overlays, so they are imported when asked for.
        from algorithms.analysis.k_connectivity import topics_below

        return topics_below(self, k)

    def is_ktco(self, k: int) -> bool:
        """Whether every topic is k-connected, and a clique where it has at most k subscribers."""
        from algorithms.analysis.k_connectivity import is_ktco

        return is_ktco(self, k)

    def __repr__(self) -> str:
        return f"<Overlay: {len(self.interests.brokers)} brokers, {len(self.links)} links>"
