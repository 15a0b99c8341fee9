"""Judges of k-connected overlays from the definitions: igraph's vertex connectivity, topic by topic."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import igraph

from algorithms import Overlay
from tests.algorithms.twins.steps import Pair


def connectivity(size: int, links: Iterable[Pair]) -> int:
    """Vertex connectivity; a clique of n has n - 1."""
    return int(igraph.Graph(n=size, edges=list(links)).vertex_connectivity()) if size > 1 else 0


def broken_topic(overlay: Overlay, k: int) -> str | None:
    """The first topic that breaks ktco definition 1: k-connected, and a clique with at most k subscribers."""
    for topic in overlay.interests.topics:
        graph = overlay.topic_graph(topic)
        size = graph.vcount()
        if size <= k and graph.ecount() < size * (size - 1) // 2:
            return f"{topic}: {size} subscribers and no clique"
        if size > k and connectivity(size, graph.get_edgelist()) < k:
            return f"{topic}: not {k}-connected"
    return None


def harary(k: int, members: list[int]) -> set[Pair]:
    """H(k, m) as in West's textbook, which the paper cites: by the parities of k and m; cliques up to k + 1."""
    m = len(members)
    pairs: set[tuple[int, int]] = set()
    if m <= k + 1:
        pairs = set(combinations(range(m), 2))
    else:
        for i in range(m):
            pairs |= {(i, (i + step) % m) for step in range(1, k // 2 + 1)}
            if k % 2 and m % 2 == 0:
                pairs.add((i, (i + m // 2) % m))
            if k % 2 and m % 2 and i <= (m - 1) // 2:
                pairs.add((i, (i + (m - 1) // 2) % m))
    return {(min(members[a], members[b]), max(members[a], members[b])) for a, b in pairs}
