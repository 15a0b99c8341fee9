"""The shapes of the overlay as a whole: its figures, policy, drift and alarms."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from algorithms.live.plan import Strategy
from backend.api.answers.shape import Shape, example, shown
from backend.times import Moment


class Policy(Shape):
    """What the live overlay must be, how repairs choose links, and when operators are warned."""

    model_config = example(
        **{
            "k": 1,
            "strategy": "weave",
            "rho": 3.0,
            "lambda": 3,
            "algorithm": "weave",
            "settle_seconds": 30.0,
            "lease_brake": 0.2,
            "drift_threshold": 0.3,
        }
    )
    k: Literal[1, 2]
    """Every topic stays connected whatever k - 1 brokers fail."""
    strategy: Strategy
    """How a repair chooses links."""
    rho: float
    """A link may raise the maximum degree when it is worth more than rho times as much as one that does not."""
    lambda_: int = Field(alias="lambda")
    """How often backups cover each topic of their broker."""
    algorithm: str
    """What builds the first overlay of an import, and what a rebuild uses by default."""
    settle_seconds: float
    """How long a link that is to be closed waits for agents that do not acknowledge its replacements."""
    lease_brake: float
    """When more than this share of the brokers would expire within a minute, none does."""
    drift_threshold: float
    """A degree so far above a fresh build's marks that a rebuild is advised."""


class Drift(Shape):
    """How far the live degree is above a fresh build's: an estimate, made anew when enough has changed."""

    model_config = example(
        drift=0.12,
        advised=False,
        threshold=0.3,
        version=4702,
        at="2026-11-16T19:18:30.004Z",
        algorithm="weave",
        fresh_degree=7.5,
        exact=True,
    )
    drift: float
    """By which share the average degree is above a fresh build's."""
    advised: bool
    """Whether that is above the threshold, so that a rebuild is advised."""
    threshold: float
    """The policy's `drift_threshold`."""
    version: int
    """The version it was estimated at."""
    at: Moment
    """When it was estimated."""
    algorithm: str
    """What the fresh build was made by."""
    fresh_degree: float
    """The fresh build's average degree."""
    exact: bool
    """Whether all brokers were built anew, not samples of them."""


class Alarm(Shape):
    """Something the manager stopped for, and wants a person to look at."""

    model_config = example(kind="neo4j-away", since=None, detail="Neo4j does not answer; changes wait")
    kind: str
    """What it is, in a word that stays: `lease-brake`, `neo4j-away`."""
    since: Moment | None
    """Since when; null where nobody noted it."""
    detail: str
    """What it is, for people."""


class Failures(Shape):
    """Links that agents could not open, as they reported in the last hour."""

    model_config = example(reports=1, brokers=["broker-3", "broker-7"])
    reports: int
    """How many times one of them said so."""
    brokers: list[str]
    """Whose links those were, the brokers of the most first; at most 20."""


class Overlay(Shape):
    """The overlay's figures, now or at a version."""

    model_config = example(
        version=4711,
        brokers=52,
        topics=339,
        subscriptions=1160,
        links=218,
        average_degree=8.384615384615385,
        max_degree=27,
        policy=shown(Policy),
        degree_histogram=[[4, 11], [7, 20], [9, 16], [15, 4], [27, 1]],
        topics_apart=0,
        topics_below_k=0,
        queue=0,
        drift=shown(Drift),
        activation=None,
        alarms=[shown(Alarm)],
        failures=shown(Failures),
        at="2026-11-16T19:20:01.123Z",
        oldest_version=0,
    )
    version: int
    """The version that all of this is of."""
    brokers: int
    """How many brokers there are."""
    topics: int
    """How many topics have a subscriber."""
    subscriptions: int
    """How many subscriptions there are."""
    links: int
    """How many links are open."""
    average_degree: float
    """Links a broker: two ends a link, shared by all brokers."""
    max_degree: int
    """The most links that one broker has."""
    policy: Policy
    """The policy in force; an older version is judged by it too."""
    degree_histogram: list[tuple[int, int]]
    """Pairs of a degree and how many brokers have it, ascending, without empty degrees."""
    topics_apart: int
    """How many topics are not connected."""
    topics_below_k: int
    """How many topics are less connected than the policy's k asks for."""
    queue: int | None = None
    """How many changes wait to be committed; only of the present."""
    drift: Drift | None
    """How far it is from a fresh build; null before the first estimate, without links, and for an older version."""
    activation: str | None = None
    """The id of the rebuild that is being activated; only of the present."""
    alarms: list[Alarm] | None = None
    """What an operator should look at; only of the present."""
    failures: Failures | None = None
    """What agents could not open lately; only of the present."""
    at: Moment | None
    """When the version was committed; null where nobody knows any more."""
    oldest_version: int
    """How far back one can go."""
