"""What igraph says of an overlay, whoever built it."""

from __future__ import annotations

import igraph

from algorithms import Overlay

SMALL_TOPIC = 200
"""Subscribers of a topic whose connectivity igraph counts, which takes it a while."""


def connected_by_igraph(overlay: Overlay, k: int) -> bool:
    """Whether igraph finds every topic connected, for k > 1 without an articulation broker, and small ones k-connected."""
    interests = overlay.interests
    whole = igraph.Graph(n=len(interests.brokers), edges=overlay.links)
    for topic in range(len(interests.topics)):
        members = interests.subscriber_indices(topic).tolist()
        if len(members) < 2:
            continue
        topic_graph = whole.induced_subgraph(members)
        if not topic_graph.is_connected() or (k > 1 and topic_graph.articulation_points()):
            return False
        small = k > 1 and len(members) <= SMALL_TOPIC
        if small and topic_graph.vertex_connectivity() < min(k, len(members) - 1):
            return False
    return True
