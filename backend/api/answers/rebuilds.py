"""The shapes of rebuilds: state, plan, and how far an activation is."""

from __future__ import annotations

from typing import Any

from backend.api.answers.shape import Progress, Shape, example, shown
from backend.rebuilds.rebuild import Engine, Phase, State
from backend.times import Moment


class RebuildFigures(Shape):
    """The overlay before, at the peak of, or after an activation."""

    model_config = example(
        links=218,
        average_degree=8.384615384615385,
        max_degree=27,
        mean_diameter=1.64,
        max_diameter=5,
        diameters_sampled=0,
        topics_apart=0,
        degree_histogram=[[4, 11], [7, 20], [9, 16], [15, 4], [27, 1]],
    )
    links: int
    """How many links are open."""
    average_degree: float
    """Links a broker."""
    max_degree: int
    """The most links that one broker has."""
    mean_diameter: float | None
    """Of the connected topics; null where there are none."""
    max_diameter: int | None
    """Of the connected topics; null where there are none."""
    diameters_sampled: int
    """How many of those diameters are lower bounds: the exact one of a very large topic takes too long."""
    topics_apart: int
    """How many topics are not connected."""
    degree_histogram: list[tuple[int, int]]
    """Pairs of a degree and how many brokers have it, ascending, without empty degrees."""


class ChangedBroker(Shape):
    """One of the brokers that a rebuild changes most."""

    model_config = example(broker="broker-3", opened=1, closed=13, degree_before=27, degree_after=15)
    broker: str
    """The broker's id."""
    opened: int
    """How many of its links are opened."""
    closed: int
    """How many of its links are closed."""
    degree_before: int
    """How many links it keeps now."""
    degree_after: int
    """How many links it keeps afterwards."""


class Kept(Shape):
    """What a value of the parameter `keep` would give."""

    model_config = example(keep=0.5, links=195, opened=41, closed=64, average_degree=7.5, max_degree=15)
    keep: float
    """The value."""
    links: int
    """How many links there would be."""
    opened: int
    """How many links would be opened."""
    closed: int
    """How many links would be closed."""
    average_degree: float
    """Links a broker."""
    max_degree: int
    """The most links that one broker would have."""


class RebuildPlan(Shape):
    """What activating a rebuild would do."""

    model_config = example(
        links=195,
        kept=154,
        opened=41,
        closed=64,
        before=shown(RebuildFigures),
        peak={
            **shown(RebuildFigures),
            "links": 259,
            "average_degree": 9.961538461538462,
            "max_degree": 28,
            "degree_histogram": [[5, 9], [9, 22], [11, 18], [28, 3]],
        },
        after={
            **shown(RebuildFigures),
            "links": 195,
            "average_degree": 7.5,
            "max_degree": 15,
            "degree_histogram": [[4, 12], [7, 21], [10, 17], [15, 2]],
        },
        most_changed=[shown(ChangedBroker)],
        keep_curve=[shown(Kept)],
    )
    links: int
    """How many links there are afterwards."""
    kept: int
    """How many of them are open already."""
    opened: int
    """How many links are opened."""
    closed: int
    """How many links are closed."""
    before: RebuildFigures
    """The overlay that the plan was made for."""
    peak: RebuildFigures
    """When all new links are open, and none of the old ones is closed yet."""
    after: RebuildFigures
    """The overlay that it leads to."""
    most_changed: list[ChangedBroker] | None = None
    """The brokers that it changes most, at most twenty; not in lists of rebuilds."""
    keep_curve: list[Kept] | None
    """How links and degrees move with `keep`; null for an algorithm without it, or where that takes too long."""


class Activation(Shape):
    """How far an activation, or its rollback, is."""

    model_config = example(
        phase="closing",
        opened=41,
        to_open=41,
        closed=10,
        to_close=64,
        paused=False,
        rollback=False,
        before_kept=True,
        actor="ops",
    )
    phase: Phase
    """All is opened before anything is closed; between the two, agents are waited for."""
    opened: int
    """How many links it has opened."""
    to_open: int
    """How many that will be in all."""
    closed: int
    """How many links it has closed."""
    to_close: int
    """How many that will be in all."""
    paused: bool
    """Whether it is held between two batches."""
    rollback: bool
    """Whether it goes back to the links of before."""
    before_kept: bool
    """Whether the links of before are stored, so that it can be rolled back."""
    actor: str
    """Whose key asked for it."""


class Rebuild(Shape):
    """A new set of links for all brokers: its state, its plan, how far its activation is."""

    model_config = example(
        id="5f0c3a52-6f2e-4b5e-9a53-0c2f3f9f7f1d",
        state="activating",
        engine="local",
        algorithm="weave",
        params={"keep": 0.5},
        seed=0,
        actor="ops",
        created_at="2026-11-16T19:20:01.123Z",
        base_version=4711,
        progress={"stage": "planned", "share": 1.0},
        plan=shown(RebuildPlan),
        report=None,
        error=None,
        activation=shown(Activation),
    )
    id: str
    """The rebuild's id."""
    state: State
    """Where it is between the request and its end."""
    engine: Engine
    """Where it is computed."""
    algorithm: str
    """What computes it: a name of `GET /v1/algorithms`."""
    params: dict[str, Any]
    """The algorithm's parameters that were given, by name."""
    seed: int
    """The same interests and seed give the same links."""
    actor: str
    """Whose key asked for it."""
    created_at: Moment
    """When it was asked for."""
    base_version: int
    """The version that it was computed for."""
    progress: Progress
    """How far computing it is."""
    plan: RebuildPlan | None
    """What activating it would do; null until it is planned."""
    report: dict[str, Any] | None
    """What Spark tells of the job: figures, parts, seconds; they depend on the algorithm. Null for the engine `local`."""
    error: str | None
    """Why it failed, or stopped; null while all is well."""
    activation: Activation | None
    """How far its activation is; null before one."""


class RebuildList(Shape):
    """All rebuilds, the newest first; without the brokers that each changes most."""

    model_config = example(
        items=[
            {
                **shown(Rebuild),
                "state": "running",
                "progress": {"stage": "building", "share": 0.4},
                "plan": None,
                "activation": None,
            }
        ]
    )
    items: list[Rebuild]
    """The rebuilds."""
