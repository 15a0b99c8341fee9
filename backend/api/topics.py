"""Topics: the list, one topic's components, and its drawn graph."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter

from algorithms.analysis import topic_layout
from backend.api.dependencies import LiveMirror
from backend.api.pages import PageQuery, PageRequest, page_of, sort_column
from backend.api.paths import TopicName
from backend.mirror import Mirror

router = APIRouter(tags=["topics"])

_LAYOUT_SEED = 1
"""The same topic is drawn the same way each time."""


@router.get("/topics")
async def list_topics(mirror: LiveMirror, request: PageQuery) -> dict[str, Any]:
    """Topics by name, or by any figure of theirs."""
    return await asyncio.to_thread(_list, mirror, request)


@router.get("/topics/{name:id}")
async def read_topic(name: TopicName, mirror: LiveMirror) -> dict[str, Any]:
    """One topic: its components, and who holds it together."""
    topic = await asyncio.to_thread(mirror.topic, name)
    return {
        "name": topic.name,
        "version": mirror.version,
        "subscribers": topic.subscribers,
        "components": topic.components,
        "blocks": topic.blocks,
        "articulation_brokers": topic.articulation_brokers,
        "bridges": topic.bridges,
        "diameter": topic.diameter,
        "diameter_sampled": topic.diameter_sampled,
        "connectivity": topic.connectivity,
    }


@router.get("/topics/{name:id}/graph")
async def draw_topic(name: TopicName, mirror: LiveMirror) -> dict[str, Any]:
    """One topic's brokers with coordinates in [-1, 1], and the links among them."""
    return await asyncio.to_thread(_graph, mirror, name)


def _list(mirror: Mirror, request: PageRequest) -> dict[str, Any]:
    columns: dict[str, Callable[[str], Any]] = {
        "name": lambda name: name,
        "subscribers": lambda name: mirror.topic_sizes[name],
        "components": lambda name: len(mirror.topic(name).components),
        "diameter": lambda name: -1 if (diameter := mirror.topic(name).diameter) is None else diameter,
        "articulation_brokers": lambda name: len(mirror.topic(name).articulation_brokers),
    }
    column, down = sort_column(request, columns, default="name")
    page = page_of(mirror.topic_sizes, request, columns[column], down=down)
    return {"items": [_row(mirror, name) for name in page.items], "total": page.total, "next": page.next}


def _row(mirror: Mirror, name: str) -> dict[str, Any]:
    topic = mirror.topic(name)
    return {
        "name": name,
        "subscribers": topic.subscribers,
        "components": len(topic.components),
        "diameter": topic.diameter,
        "articulation_brokers": len(topic.articulation_brokers),
    }


def _graph(mirror: Mirror, name: str) -> dict[str, Any]:
    topic = mirror.topic(name)
    overlay = mirror.overlay
    graph = overlay.topic_graph(name)
    component = {broker: number for number, members in enumerate(topic.components) for broker in members}
    articulation = set(topic.articulation_brokers)
    bridges = {frozenset(bridge) for bridge in topic.bridges}
    degrees = overlay.degrees()[overlay.interests.subscriber_indices(overlay.interests.topic_index(name))]
    places = topic_layout(overlay, name, _LAYOUT_SEED)
    names: list[str] = graph.vs["name"]
    return {
        "name": name,
        "version": mirror.version,
        "nodes": [
            {
                "id": broker,
                "x": places[broker][0],
                "y": places[broker][1],
                "degree": degree,
                "topic_degree": topic_degree,
                "component": component[broker],
                "articulation": broker in articulation,
            }
            for broker, degree, topic_degree in zip(names, degrees.tolist(), graph.degree(), strict=True)
        ],
        "links": [
            {"a": names[a], "b": names[b], "bridge": frozenset((names[a], names[b])) in bridges}
            for a, b in graph.get_edgelist()
        ],
    }
