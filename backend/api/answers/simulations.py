"""The shapes of simulations: what was asked for, the rounds, and what they came to."""

from __future__ import annotations

from pydantic import Field

from backend.api.answers.shape import Progress, Shape, example, shown
from backend.simulations import State
from backend.times import Moment


class Round(Shape):
    """One round of a simulation, after its change."""

    model_config = example(
        round=1,
        change="leave",
        brokers=51,
        links=216,
        average_degree=8.470588235294118,
        max_degree=27,
        opened=2,
        closed=4,
        plan_ms=1.9,
        fairness=0.94,
        primaries_max=6,
        drift=None,
    )
    round: int
    """The round's number, from 1 on."""
    change: str
    """join, leave, subscriptions or failure; with "+ rebuild" where the round ended with one."""
    brokers: int
    """How many brokers there are."""
    links: int
    """How many links are open."""
    average_degree: float
    """Links a broker."""
    max_degree: int
    """The most links that one broker has."""
    opened: int
    """How many links the round opened."""
    closed: int
    """How many links the round closed."""
    plan_ms: float
    """How long its repair was planned, in milliseconds."""
    fairness: float
    """How evenly backups burden brokers (Jain's index of their primaries): 1 all alike, 1/n one bears all."""
    primaries_max: int
    """The most brokers that one broker backs up."""
    drift: float | None
    """By which share the average degree is above a fresh build's; null in rounds that did not look."""


class SimulationSummary(Shape):
    """What a simulation came to; pairs are of its start and its end."""

    model_config = example(
        rounds=200,
        brokers=[52, 49],
        links=[218, 207],
        average_degree=[8.384615384615385, 8.448979591836734],
        max_degree=[27, 24],
        plan_ms_median=1.7,
        opened_per_join=4.6,
        changed_per_leave=5.8,
        rebuilds=0,
        opened=1020,
        closed=1031,
        drift_mean=0.09,
        drift_end=0.11,
        rebuild_due=False,
    )
    rounds: int
    """How many rounds there were."""
    brokers: tuple[int, int]
    """How many brokers there were."""
    links: tuple[int, int]
    """How many links were open."""
    average_degree: tuple[float, float]
    """Links a broker."""
    max_degree: tuple[int, int]
    """The most links that one broker had."""
    plan_ms_median: float | None
    """How long a repair was planned, in milliseconds; null without rounds."""
    opened_per_join: float | None
    """How many links a join opened, on average; null without one."""
    changed_per_leave: float | None
    """How many links a leave opened and closed, on average; null without one."""
    rebuilds: int
    """How many rounds ended with a rebuild."""
    opened: int
    """How many links all rounds opened."""
    closed: int
    """How many links all rounds closed."""
    drift_mean: float | None
    """The drift on average; null where no round looked."""
    drift_end: float | None
    """The last drift; null where no round looked."""
    rebuild_due: bool | None
    """Whether a rebuild would be advised at the end; null where no round looked."""


class Applied(Shape):
    """How far a simulation has been applied to the live overlay."""

    model_config = example(done=120, total=200, skipped=3)
    done: int
    """How many rounds are done."""
    total: int
    """How many rounds there are."""
    skipped: int
    """How many of those that are done did not fit any more."""


class SimulatedWorkload(Shape):
    """Interests that were generated; what was left out has its default."""

    model_config = example(
        brokers=1000, topics=100, subscriptions=20, distribution="zipf", exponent=None, seed=0
    )
    brokers: int
    """How many brokers."""
    topics: int
    """How many topics."""
    subscriptions: int
    """How many topics each broker subscribes to."""
    distribution: str
    """How popular topics are."""
    exponent: float | None
    """How uneven that is; null: as the papers have it."""
    seed: int
    """The same seed gives the same interests."""


class SimulationOptions(Shape):
    """What a simulation was asked for, with the defaults of what was left out."""

    model_config = example(
        **{
            "source": "live",
            "workload": None,
            "rounds": 200,
            "join_share": 0.5,
            "subscription_share": 0.0,
            "failure_every": 100,
            "failure_share": 0.0,
            "newcomers": "workload",
            "strategy": "weave",
            "rebuild": "fresh",
            "rebuild_every": None,
            "keep": 0.5,
            "k": 1,
            "rho": 3.0,
            "lambda": 3,
            "drift_every": 50,
            "seed": 0,
        }
    )
    source: str
    """Whether it starts from the live overlay or from a workload."""
    workload: SimulatedWorkload | None
    """The workload; null where it starts from the live overlay."""
    rounds: int
    """How many rounds were asked for."""
    join_share: float
    """Which share of the joins and leaves are joins."""
    subscription_share: float
    """In which share of the rounds a broker changes its topics."""
    failure_every: int
    """After how many rounds several brokers fail at once."""
    failure_share: float
    """Which share of the brokers that is."""
    newcomers: str
    """Where brokers that join have their topics from."""
    strategy: str
    """How a repair chooses links."""
    rebuild: str
    """Whether a rebuild forgets the links of before or leans on them."""
    rebuild_every: int | None
    """After how many rounds there is a rebuild; null: never, unless the strategy says so."""
    keep: float
    """How much a rebuild that leans on the links of before does so."""
    k: int
    """Every topic stays connected whatever k - 1 brokers fail."""
    rho: float
    """A link may raise the maximum degree when it is worth more than rho times as much as one that does not."""
    lambda_: int = Field(alias="lambda")
    """How often backups cover each topic of their broker."""
    drift_every: int
    """After how many rounds the drift is looked at; 0: never."""
    seed: int
    """The same seed gives the same churn."""


class Simulation(Shape):
    """Churn on a copy: its state, its rounds so far, and what it came to."""

    model_config = example(
        id="5f0c3a52-6f2e-4b5e-9a53-0c2f3f9f7f1d",
        state="done",
        request=shown(SimulationOptions),
        actor="ops",
        created_at="2026-11-16T19:20:01.123Z",
        base_version=4711,
        progress={"stage": "done", "share": 1.0},
        error=None,
        rounds=[shown(Round)],
        next=200,
        summary=shown(SimulationSummary),
        applied=None,
    )
    id: str
    """The simulation's id."""
    state: State
    """Where it is between the request and its end, or the end of its being applied."""
    request: SimulationOptions
    """What was asked for."""
    actor: str
    """Whose key asked for it."""
    created_at: Moment
    """When it was asked for."""
    base_version: int
    """The version that it started from."""
    progress: Progress
    """How far it is."""
    error: str | None
    """Why it failed, or stopped; null while all is well."""
    rounds: list[Round]
    """The rounds that were asked for; none of them in lists of simulations."""
    next: int
    """How many rounds there are so far: the `after` with which one goes on when there are more."""
    summary: SimulationSummary | None
    """What it came to; null until it is done."""
    applied: Applied | None
    """How far it has been applied to the live overlay; null where nobody asked for that."""


class SimulationList(Shape):
    """The simulations of this API process, the newest first, without their rounds."""

    model_config = example(items=[{**shown(Simulation), "rounds": []}])
    items: list[Simulation]
    """The simulations."""
