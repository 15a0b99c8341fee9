"""Topics: the list, one topic's components, and its drawn graph."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from algorithms import Interests, Overlay
from algorithms.analysis import TopicAnalysis, topic_analysis, topic_layout
from backend.api.answers.shape import answered
from backend.api.answers.topics import Topic, TopicGraph, TopicPage
from backend.api.dependencies import LiveHistory, LiveMirror, TheHeavyWork
from backend.api.history import OldVersion
from backend.api.limits import RequestLimits, limited_by
from backend.api.pages import PageQuery, page_of, sort_column
from backend.api.paths import TopicName
from backend.api.problems import problems
from backend.errors import NotFound
from backend.history import History
from backend.policy import Policy

router = APIRouter(tags=["topics"])

_LAYOUT_SEED = 1
"""The same topic is drawn the same way each time."""

STEPS_AROUND = 2
Places = dict[str, tuple[float, float]]
"""Where each broker of a topic is drawn."""
Around = Annotated[
    Annotated[str, Field(json_schema_extra=limited_by("max_id_length"))] | None,
    Query(description="only the brokers at most two steps from this one"),
]

Problems = Annotated[
    bool, Query(description="only topics that are apart, or less connected than the policy says")
]

_ANALYSED: dict[str, Callable[[TopicAnalysis], Any]] = {
    "components": lambda topic: len(topic.components),
    "diameter": lambda topic: -1 if topic.diameter is None else topic.diameter,
    "articulation_brokers": lambda topic: len(topic.articulation_brokers),
}


@router.get("/topics", responses=answered(TopicPage))
async def list_topics(mirror: LiveMirror, request: PageQuery, problems: Problems = False) -> dict[str, Any]:
    """Topics by name, or by any figure of theirs."""
    column, down = sort_column(request, ("name", "subscribers", *_ANALYSED), default="name")
    weak: Collection[str] | None = None
    if problems:
        _, weak = await mirror.derived("weak topics", _weak)
    if column in _ANALYSED:
        all_topics = await mirror.all_topics()
        values = {name: _ANALYSED[column](topic) for name, topic in all_topics.items()}
    else:
        sizes = mirror.topic_sizes()
        values = sizes if column == "subscribers" else dict.fromkeys(sizes, 0)
    if weak is not None:
        values = {name: value for name, value in values.items() if name in weak}
    page = page_of(values, request, values.__getitem__ if column != "name" else str, down=down)
    items = []
    for name in page.items:
        with suppress(NotFound):  # it ended while the others were looked at
            items.append(_row(await mirror.topic(name)))
    return {"items": items, "total": page.total, "next": page.next}


@router.get("/topics/{name:id}", responses=answered(Topic) | problems(410))
async def read_topic(
    name: TopicName,
    mirror: LiveMirror,
    history: LiveHistory,
    heavy: TheHeavyWork,
    version: OldVersion = None,
) -> dict[str, Any]:
    """One topic: its components, and who holds it together; now, or at a version."""
    if version is None or version == mirror.version:
        version = mirror.version
        topic = await mirror.topic(name)
    else:
        async with heavy.past.one():
            overlay = await _overlay_at(history, version, name)
            topic = await asyncio.to_thread(topic_analysis, overlay, name)
    return {
        "name": topic.name,
        "version": version,
        "subscribers": topic.subscribers,
        "components": topic.components,
        "blocks": topic.blocks,
        "articulation_brokers": topic.articulation_brokers,
        "bridges": topic.bridges,
        "diameter": topic.diameter,
        "diameter_sampled": topic.diameter_sampled,
        "connectivity": topic.connectivity,
    }


@router.get("/topics/{name:id}/graph", responses=answered(TopicGraph) | problems(410))
async def draw_topic(
    name: TopicName,
    mirror: LiveMirror,
    history: LiveHistory,
    limits: RequestLimits,
    heavy: TheHeavyWork,
    version: OldVersion = None,
    around: Around = None,
) -> dict[str, Any]:
    """One topic's brokers with coordinates in [-1, 1], and the links among them; now, or at a version."""
    if around is not None:
        limits.check_ids([around], "around")
    if version is not None and version != mirror.version:
        async with heavy.past.one():
            overlay = await _overlay_at(history, version, name)
            return await asyncio.to_thread(_graph_at, overlay, name, version, around)
    version, overlay = mirror.version, mirror.topic_overlay(name)
    degrees = {broker: mirror.live.degree_of(broker) for broker in overlay.interests.brokers}
    # Both begin before anything is waited for, so they are of one version; a part of a topic is laid out by itself.
    analysis = mirror.topic(name)
    layout = mirror.of_topic("layout", name, _places) if around is None else None
    topic, places = await analysis, await layout if layout is not None else None
    return await asyncio.to_thread(_graph, overlay, topic, degrees, version, around, places)


def _places(overlay: Overlay, topic: str) -> Places:
    return topic_layout(overlay, topic, _LAYOUT_SEED)


def _weak(overlay: Overlay, policy: Policy) -> frozenset[str]:
    """The topics that need a look: apart, or less than k-connected."""
    if policy.k == 1:
        return frozenset(overlay.topics_apart())
    return frozenset(weak.topic for weak in overlay.topics_below(policy.k))


async def _overlay_at(history: History, version: int, topic: str) -> Overlay:
    """The overlay of an older version, in which the topic must be."""
    overlay = await history.overlay_at(version)
    if topic not in overlay.interests.topics:
        raise NotFound(f"topic: no such topic at version {version} (got {topic!r})", field="topic")
    return overlay


def _row(topic: TopicAnalysis) -> dict[str, Any]:
    return {
        "name": topic.name,
        "subscribers": topic.subscribers,
        "components": len(topic.components),
        "connectivity": topic.connectivity,
        "diameter": topic.diameter,
        "diameter_sampled": topic.diameter_sampled,
        "articulation_brokers": len(topic.articulation_brokers),
    }


def _graph_at(overlay: Overlay, topic: str, version: int, around: str | None) -> dict[str, Any]:
    degrees = dict(zip(overlay.interests.brokers, overlay.degrees().tolist(), strict=True))
    return _graph(overlay, topic_analysis(overlay, topic), degrees, version, around)


def _around(overlay: Overlay, topic: str, broker: str) -> Overlay:
    """The part of a topic that is at most two steps from a broker."""
    graph = overlay.topic_graph(topic)
    names: list[str] = graph.vs["name"]
    if broker not in names:
        raise NotFound(f"around: not a subscriber of {topic!r} (got {broker!r})", field="around")
    near = graph.induced_subgraph(sorted(graph.neighborhood(names.index(broker), order=STEPS_AROUND)))
    return Overlay.from_igraph(Interests.from_mapping({name: [topic] for name in near.vs["name"]}), near)


def _graph(
    overlay: Overlay,
    topic: TopicAnalysis,
    degrees: dict[str, int],
    version: int,
    around: str | None,
    places: Places | None = None,
) -> dict[str, Any]:
    within = overlay.topic_graph(topic.name)
    topic_degree = dict(zip(within.vs["name"], within.degree(), strict=True))
    if around is not None:
        overlay = _around(overlay, topic.name, around)
    graph = overlay.topic_graph(topic.name)
    component = {broker: number for number, members in enumerate(topic.components) for broker in members}
    articulation = set(topic.articulation_brokers)
    bridges = {frozenset(bridge) for bridge in topic.bridges}
    places = places or _places(overlay, topic.name)
    names: list[str] = graph.vs["name"]
    return {
        "name": topic.name,
        "version": version,
        "nodes": [
            {
                "id": broker,
                "x": places[broker][0],
                "y": places[broker][1],
                "degree": degrees[broker],
                "topic_degree": topic_degree[broker],
                "component": component[broker],
                "articulation": broker in articulation,
            }
            for broker in names
        ],
        "links": [
            {"a": names[a], "b": names[b], "bridge": frozenset((names[a], names[b])) in bridges}
            for a, b in graph.get_edgelist()
        ],
    }
