"""The shapes of the API's answers that the console reads; names are the API's own."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

Connectivity = int | Literal["3+"]


class Drift(TypedDict):
    """By which share the average degree is above a fresh build's; None while it is not known."""

    drift: float | None
    advised: bool
    threshold: float
    algorithm: str


class Alarm(TypedDict):
    """Something the manager stopped for, and wants a person to look at; ``since`` is null where nobody noted it."""

    kind: str
    since: str | None
    detail: str


class Failures(TypedDict):
    """Links that agents could not open, as they reported in the last hour, and whose they were: of most of them first."""

    reports: int
    brokers: list[str]


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
    topics_below_k: NotRequired[int]
    degree_histogram: list[tuple[int, int]]
    drift: NotRequired[Drift | None]
    activation: NotRequired[str | None]
    alarms: NotRequired[list[Alarm]]
    failures: NotRequired[Failures | None]
    oldest_version: NotRequired[int]


class TopicRow(TypedDict):
    """One topic of ``GET /v1/topics``."""

    name: str
    subscribers: int
    components: int
    connectivity: NotRequired[Connectivity]
    diameter: int | None
    diameter_sampled: bool
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
    diameter_sampled: bool
    """Whether it is a lower bound: the exact one of a very large topic takes too long."""
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
    failed: NotRequired[bool]


class GraphLink(TypedDict):
    """A link of a topic's drawing."""

    a: str
    b: str
    bridge: bool
    opened: NotRequired[bool]


class TopicGraph(TypedDict):
    """``GET /v1/topics/{name}/graph``: a topic's subgraph, laid out by the API."""

    name: str
    version: int
    nodes: list[GraphBroker]
    links: list[GraphLink]


class Identity(TypedDict):
    """``GET /v1/me``: whose key it is; the name is the actor of what it changes."""

    name: str
    scope: Literal["read", "operate", "admin"]


class BrokerRow(TypedDict):
    """One broker of ``GET /v1/brokers``; the blast radius is there only when it is sorted by."""

    id: str
    degree: int
    topics: int
    backups: int
    primaries: int
    blast_radius: NotRequired[int]


class BrokerPage(TypedDict):
    """``GET /v1/brokers``: one page, and how many there are in all."""

    items: list[BrokerRow]
    total: int
    next: str | None


class BrokerLink(TypedDict):
    """A link as one of its ends sees it."""

    broker: str
    since: int
    reason: str
    topics_served: int
    topics: list[str]


class Lease(TypedDict):
    """How long a broker stays without a heartbeat."""

    ttl_seconds: int
    until: str


class LinkFailure(TypedDict):
    """A link that an agent could not open."""

    link: tuple[str, str]
    reason: str
    at: str


class Broker(TypedDict):
    """``GET /v1/brokers/{id}``."""

    id: str
    version: int
    topics: list[str]
    links: list[BrokerLink]
    degree: int
    backups: list[str]
    primaries: list[str]
    blast_radius: list[str]
    attributes: dict[str, Any]
    lease: Lease | None
    acked: int | None
    failures: list[LinkFailure]


class Lists(TypedDict):
    """Links opened and closed, each with its reason."""

    opened: list[tuple[str, str]]
    closed: list[tuple[str, str]]
    opened_reasons: list[str]
    closed_reasons: list[str]


class Plan(Lists):
    """A change with ``?dry_run=true``: planned at this version, nothing changed. Without: the version it made."""

    version: int


class Change(Lists):
    """One entry of the audit log."""

    version: int
    group: str
    at: str
    actor: str
    kind: str
    broker: str | None
    joined: list[str]
    left: list[str]
    subscribed: list[tuple[str, str]]
    unsubscribed: list[tuple[str, str]]
    policy_before: NotRequired[dict[str, Any] | None]
    policy_after: NotRequired[dict[str, Any] | None]


class ChangePage(TypedDict):
    """``GET /v1/changes``: some changes, and the version that the next page starts from."""

    items: list[Change]
    next: int | None


Difference = TypedDict(
    "Difference",
    {
        "from": int,
        "to": int,
        "opened": list[tuple[str, str]],
        "closed": list[tuple[str, str]],
        "joined": list[str],
        "left": list[str],
        "subscribed": list[tuple[str, str]],
        "unsubscribed": list[tuple[str, str]],
    },
)
"""``GET /v1/diff``: the net difference between two versions."""


class TrendPoint(TypedDict):
    """The overlay's figures at one version."""

    version: int
    at: str
    brokers: int
    links: int
    average_degree: float
    max_degree: int
    opened: int
    closed: int


class Trend(TypedDict):
    """``GET /v1/trend``."""

    points: list[TrendPoint]


class TopicApart(TypedDict):
    """A topic that a what-if takes apart."""

    topic: str
    subscribers: int
    components: list[list[str]]


class Size(TypedDict):
    """The overlay in four numbers."""

    brokers: int
    links: int
    average_degree: float
    max_degree: int


class WhatIf(Plan):
    """``POST /v1/what-if``."""

    topics_apart: list[TopicApart]
    topics_below_k: int
    before: Size
    after: Size
    seconds: float


class Parameter(TypedDict):
    """A parameter of an algorithm, as the registry declares it."""

    name: str
    type: Literal["int", "float", "str", "bool"]
    default: Any
    help: str
    minimum: float | None
    maximum: float | None
    words: list[str]


class Algorithm(TypedDict):
    """``GET /v1/algorithms``: one entry."""

    name: str
    summary: str
    guarantee: str
    paper: str
    parameters: list[Parameter]
    engines: dict[str, list[Parameter]]
    """The parameters of each engine that runs it."""


class Progress(TypedDict):
    """How far a job is."""

    stage: str
    share: float


class RebuildFigures(TypedDict):
    """The overlay before, at the peak of, or after an activation."""

    links: int
    average_degree: float
    max_degree: int
    mean_diameter: float | None
    max_diameter: int | None
    diameters_sampled: NotRequired[int]
    """Of how many topics the diameter is a lower bound, and so both of these are."""
    degree_histogram: list[tuple[int, int]]


class ChangedBroker(TypedDict):
    """One of the brokers that a rebuild changes most."""

    broker: str
    opened: int
    closed: int
    degree_before: int
    degree_after: int


class Kept(TypedDict):
    """What another value of ``keep`` would give."""

    keep: float
    links: int
    opened: int
    closed: int
    average_degree: float
    max_degree: int


class RebuildPlan(TypedDict):
    """What activating a rebuild would do."""

    links: int
    kept: int
    opened: int
    closed: int
    before: RebuildFigures
    peak: RebuildFigures
    after: RebuildFigures
    most_changed: NotRequired[list[ChangedBroker]]
    keep_curve: NotRequired[list[Kept] | None]


class Activation(TypedDict):
    """How far an activation, or its rollback, is."""

    phase: Literal["opening", "settling", "closing", "done"]
    opened: int
    to_open: int
    closed: int
    to_close: int
    paused: bool
    rollback: bool


class Rebuild(TypedDict):
    """``GET /v1/rebuilds/{id}``."""

    id: str
    state: Literal["queued", "running", "planned", "activating", "active", "failed", "cancelled", "dropped"]
    engine: Literal["local", "spark"]
    algorithm: str
    params: dict[str, Any]
    seed: int
    actor: str
    created_at: str
    base_version: int
    progress: Progress | None
    error: str | None
    report: dict[str, Any] | None
    plan: RebuildPlan | None
    activation: Activation | None


class Round(TypedDict):
    """One round of a simulation."""

    round: int
    change: str
    brokers: int
    links: int
    average_degree: float
    max_degree: int
    opened: int
    closed: int
    plan_ms: float
    fairness: float
    drift: float | None


class Applied(TypedDict):
    """How far the churn of a simulation has been applied to the live overlay.

    ``skipped`` of the rounds that are done did not fit any more.
    """

    done: int
    total: int
    skipped: int


class Simulation(TypedDict):
    """``GET /v1/simulations/{id}``."""

    id: str
    state: Literal["queued", "running", "done", "failed", "cancelled", "applying", "applied"]
    request: dict[str, Any]
    actor: str
    created_at: str
    base_version: int
    progress: Progress | None
    error: str | None
    rounds: list[Round]
    next: int
    summary: dict[str, Any] | None
    applied: Applied | None


class QueryParameter(TypedDict):
    """A parameter of an analysts' query."""

    name: str
    type: Literal["string", "integer", "number", "boolean"]
    default: Any
    description: str
    minimum: NotRequired[float | None]
    maximum: NotRequired[float | None]
    example: NotRequired[Any]


class QueryColumn(TypedDict):
    """A column of a query's answer."""

    name: str
    description: str


class Query(TypedDict):
    """``GET /v1/queries/{name}``; the list leaves the Cypher out."""

    name: str
    group: str
    title: str
    parameters: list[QueryParameter]
    columns: list[QueryColumn]
    notes: NotRequired[str]
    example: str
    cypher: NotRequired[str]


class QueryResult(TypedDict):
    """``POST /v1/queries/{name}/run``."""

    columns: list[str]
    rows: list[list[Any]]
    seconds: float
    truncated: bool
