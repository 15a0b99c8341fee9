"""Where to draw the brokers of one topic.

Each component is laid out by itself and the components are packed side by side, the largest first: a force-directed
layout of the whole would press small components into the large one or blow them off the page.
"""

from __future__ import annotations

import random
import threading

import igraph
import numpy as np
from numpy.typing import NDArray

from algorithms.overlay import Overlay

Points = NDArray[np.float64]

_CAREFUL = 1_500
"""Up to this many brokers stress is minimised pair by pair (Kamada-Kawai); beyond, brokers stand in circles."""

_igraph_random = threading.Lock()
"""igraph has one source of random numbers for the whole process."""


def topic_layout(overlay: Overlay, topic: str, seed: int = 0) -> dict[str, tuple[float, float]]:
    """The coordinates of each subscriber of a topic, both within [-1, 1]; the same seed gives the same picture.

    >>> from algorithms import Interests
    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x"]})
    >>> topic_layout(Overlay.from_names(interests, [("a", "b")]), "x", seed=1)
    {'a': (-1.0, 0.0), 'b': (1.0, 0.0)}
    """
    graph = overlay.topic_graph(topic)
    components = sorted(graph.connected_components(), key=lambda members: (-len(members), members))
    points = np.zeros((graph.vcount(), 2))
    placed = [_component_points(graph.induced_subgraph(members), seed) for members in components]
    for members, where in zip(components, _packed(placed), strict=True):
        points[members] = where
    points = _fitted(points)
    return {name: (float(x), float(y)) for name, (x, y) in zip(graph.vs["name"], points, strict=True)}


def _component_points(graph: igraph.Graph, seed: int) -> Points:
    """One component, centred, with typical links of length 1, its long side lying flat."""
    size = graph.vcount()
    if size == 1:
        return np.zeros((1, 2))
    points = _stress(graph, seed) if size <= _CAREFUL else _circles(graph)
    points -= points.mean(axis=0)
    points = points @ np.linalg.svd(points, full_matrices=False)[2].T
    # The axes of a singular value decomposition have no sign of their own: the first broker is on the left and below.
    points *= np.where(points[0] > 0, -1.0, 1.0)
    ends = np.array(graph.get_edgelist())
    lengths = np.linalg.norm(points[ends[:, 0]] - points[ends[:, 1]], axis=1)
    scaled: Points = points / max(float(np.median(lengths)), 1e-9)
    return scaled


def _stress(graph: igraph.Graph, seed: int) -> Points:
    """Distances on paper like distances in the graph; each step moves the broker that is furthest from peace."""
    size = graph.vcount()
    with _igraph_random:
        igraph.set_random_number_generator(random.Random(seed))  # noqa: S311 - a picture, not a secret
        try:
            layout = graph.layout_kamada_kawai(maxiter=(50 if size <= 300 else 10) * size)
        finally:
            igraph.set_random_number_generator(random)
    return np.array(layout.coords)


def _circles(graph: igraph.Graph) -> Points:
    """Circles around the broker with most links, one a step of distance; subtrees share the turn by their size.

    Linear in the links, where the pretty layouts are quadratic: a topic this large shows its shape, not its brokers.
    """
    degrees = graph.degree()
    order, _, parent = graph.bfs(degrees.index(max(degrees)))
    weight = np.ones(graph.vcount())
    for v in order[:0:-1]:
        weight[parent[v]] += weight[v]
    start, turn, depth = np.zeros(len(weight)), np.zeros(len(weight)), np.zeros(len(weight))
    turn[order[0]] = 2 * np.pi
    used = np.zeros(len(weight))
    for v in order[1:]:
        above = parent[v]
        turn[v] = turn[above] * weight[v] / (weight[above] - 1)
        start[v] = start[above] + used[above]
        used[above] += turn[v]
        depth[v] = depth[above] + 1
    angle = start + turn / 2
    return np.stack([depth * np.cos(angle), depth * np.sin(angle)], axis=1)


def _packed(components: list[Points]) -> list[Points]:
    """Components in rows from the top, none overlapping, the rows about as wide as all of them are high."""
    margin = 1.0
    sizes = [np.ptp(points, axis=0) + margin for points in components]
    width = max(float(np.sqrt(sum(w * h for w, h in sizes)) * 1.2), max(float(w) for w, _ in sizes))
    x = y = row_height = 0.0
    packed = []
    for points, (wide, high) in zip(components, sizes, strict=True):
        if x > 0 and x + wide > width:
            x, y, row_height = 0.0, y - row_height, 0.0
        corner = np.array([x, y - high])
        packed.append(points - points.min(axis=0) + corner + margin / 2)
        x += wide
        row_height = max(row_height, high)
    return packed


def _fitted(points: Points) -> Points:
    """Centred and scaled into [-1, 1] without changing the proportions."""
    low, high = points.min(axis=0), points.max(axis=0)
    half = max(float((high - low).max()) / 2, 1e-9)
    fitted: Points = np.clip((points - (low + high) / 2) / half, -1.0, 1.0) + 0.0  # no negative zeros
    return fitted
