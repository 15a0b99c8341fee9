"""The shapes of the API's answers that the console reads; names are the API's own."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

Connectivity = int | Literal["3+"]


class Overlay(TypedDict):
    """``GET /v1/overlay``: the figures of the live overlay."""

    version: int
    brokers: int
    topics: int
    subscriptions: int
    links: int
    average_degree: float
    max_degree: int
    policy: dict[str, Any]
    topics_apart: int
    degree_histogram: list[tuple[int, int]]


class TopicRow(TypedDict):
    """One topic of ``GET /v1/topics``."""

    name: str
    subscribers: int
    components: int
    diameter: int | None
    articulation_brokers: int


class TopicPage(TypedDict):
    """``GET /v1/topics``: one page, and how many there are in all."""

    items: list[TopicRow]
    total: int
    next: str | None


class Topic(TypedDict):
    """``GET /v1/topics/{name}``: how one topic holds together."""

    name: str
    version: int
    subscribers: int
    components: list[list[str]]
    blocks: int
    articulation_brokers: list[str]
    bridges: list[tuple[str, str]]
    diameter: int | None
    connectivity: Connectivity


class GraphBroker(TypedDict):
    """A broker of a topic's drawing; x and y lie in [-1, 1]."""

    id: str
    x: float
    y: float
    degree: int
    topic_degree: int
    component: int
    articulation: bool


class GraphLink(TypedDict):
    """A link of a topic's drawing."""

    a: str
    b: str
    bridge: bool


class TopicGraph(TypedDict):
    """``GET /v1/topics/{name}/graph``: a topic's subgraph, laid out by the API."""

    name: str
    version: int
    nodes: list[GraphBroker]
    links: list[GraphLink]
