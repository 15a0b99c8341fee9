"""The shapes of topics: the list, what holds one together, and its drawn graph."""

from __future__ import annotations

from pydantic import Field

from algorithms.analysis.topic import Connectivity
from backend.api.answers.shape import Shape, example, shown
from backend.record import Pair


class TopicRow(Shape):
    """One topic of the list."""

    model_config = example(
        name="/tf",
        subscribers=3,
        components=1,
        connectivity=1,
        diameter=2,
        diameter_sampled=False,
        articulation_brokers=1,
    )
    name: str
    """The topic's name."""
    subscribers: int
    """How many brokers subscribe to it."""
    components: int
    """How many topic components it has; 1: it is connected."""
    connectivity: Connectivity
    """How many brokers must fail to cut it apart; 0: it is apart now."""
    diameter: int | None
    """The longest of all shortest paths within it; null while it is apart."""
    diameter_sampled: bool
    """Whether that is a lower bound: the exact one of a very large topic takes too long."""
    articulation_brokers: int
    """How many brokers cut it apart if they fail."""


class TopicPage(Shape):
    """Some topics, and how many there are in all."""

    model_config = example(items=[shown(TopicRow)], total=339, next="WzAsICIvdGYiXQ")
    items: list[TopicRow]
    """The rows, in the order that was asked for."""
    total: int
    """How many rows all pages have."""
    next: str | None
    """The `after` of the next page; null on the last one."""


class Topic(Shape):
    """What holds one topic together."""

    model_config = example(
        name="/tf",
        version=4711,
        subscribers=3,
        components=[["broker-12", "broker-7", "broker-9"]],
        blocks=2,
        articulation_brokers=["broker-9"],
        bridges=[["broker-12", "broker-9"], ["broker-7", "broker-9"]],
        diameter=2,
        diameter_sampled=False,
        connectivity=1,
    )
    name: str
    """The topic's name."""
    version: int
    """The version that all of this is of."""
    subscribers: int
    """How many brokers subscribe to it."""
    components: list[list[str]]
    """The brokers of each topic component, the largest component first."""
    blocks: int
    """How many topic blocks it has; a bridge is a block of two."""
    articulation_brokers: list[str]
    """The brokers that cut it apart if they fail."""
    bridges: list[Pair]
    """The links that cut it apart if they are lost, the smaller id first."""
    diameter: int | None
    """The longest of all shortest paths within it; null while it is apart."""
    diameter_sampled: bool
    """Whether that is a lower bound: the exact one of a very large topic takes too long."""
    connectivity: Connectivity
    """How many brokers must fail to cut it apart; 0: it is apart now. One subscriber alone has 1."""


class GraphBroker(Shape):
    """A broker of a topic's drawing."""

    model_config = example(
        id="broker-9", x=0.0, y=0.12, degree=4, topic_degree=2, component=0, articulation=True
    )
    id: str
    """The broker's id."""
    x: float = Field(ge=-1, le=1)
    """Where it is drawn, from left to right."""
    y: float = Field(ge=-1, le=1)
    """Where it is drawn, from one edge to the other."""
    degree: int
    """How many links it keeps in all."""
    topic_degree: int
    """How many of those are within this topic."""
    component: int
    """The number of its topic component; 0 is the largest."""
    articulation: bool
    """Whether it cuts the topic apart if it fails."""


class GraphLink(Shape):
    """A link of a topic's drawing."""

    model_config = example(a="broker-7", b="broker-9", bridge=True)
    a: str
    """One end."""
    b: str
    """The other one."""
    bridge: bool
    """Whether it cuts the topic apart if it is lost."""


class TopicGraph(Shape):
    """A topic's brokers and the links among them, laid out; or the part around one broker."""

    model_config = example(
        name="/tf",
        version=4711,
        nodes=[
            {
                "id": "broker-7",
                "x": -0.91,
                "y": 0.4,
                "degree": 3,
                "topic_degree": 1,
                "component": 0,
                "articulation": False,
            },
            shown(GraphBroker),
        ],
        links=[shown(GraphLink)],
    )
    name: str
    """The topic's name."""
    version: int
    """The version that all of this is of."""
    nodes: list[GraphBroker]
    """The brokers that are drawn."""
    links: list[GraphLink]
    """The links among them."""
