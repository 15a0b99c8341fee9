"""Plan: exactly what a change would do, computed but not applied; and the policies by which repairs are planned."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from algorithms.errors import BadInput
from algorithms.interests import Ints
from algorithms.live.candidates import NAIVE, SHADOW, WEAVE

Strategy = Literal["shadow", "naive", "weave"]
BackupRule = Literal["primal-dual", "greedy"]
Why = Literal["repair", "rebuild", "left", "nothing shared", "redundant", "replaced", "failed", "policy"]

STRATEGIES: dict[str, int] = {"shadow": SHADOW, "naive": NAIVE, "weave": WEAVE}


@dataclass(frozen=True)
class Policy:
    """How an overlay is kept: what is promised, and how repairs are chosen.

    >>> Policy(strategy="shadow", k=2).lambda_
    3
    >>> Policy(k=3)
    Traceback (most recent call last):
    algorithms.errors.BadInput: k: must be a whole number, at least 1 and at most 2 (got 3)
    """

    strategy: Strategy = "weave"
    k: int = 1
    """Every topic stays connected whatever k - 1 brokers fail: 1 or 2."""
    rho: float = 3.0
    """A link may raise the maximum degree when it is worth more than rho times as much as one that does not."""
    lambda_: int = 3
    """How often backups cover each topic of their broker."""
    backups: BackupRule = "primal-dual"
    draws: int = 60
    """weave: so many random subscribers of the topics at stake are candidates of a repair; a join takes four times so many, for each costs it one pair only."""
    delta: float = 0.5
    """weave: how much a high degree counts against a link."""
    alpha: float = 0.5
    """weave: how much more a rare topic counts than a popular one."""
    tries: int = 64
    """weave: so many links near the new ones are tried for closing."""

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise BadInput("strategy", self.strategy, f"must be one of {', '.join(STRATEGIES)}")
        if self.backups not in get_args(BackupRule):
            raise BadInput("backups", self.backups, f"must be one of {', '.join(get_args(BackupRule))}")
        _check_whole("k", self.k, 1, 2)
        _check_whole("lambda", self.lambda_, 1, 1000)
        _check_whole("draws", self.draws, 0, 100_000)
        _check_whole("tries", self.tries, 0, 1_000_000)
        _check_number("rho", self.rho, 1.0)
        _check_number("delta", self.delta, 0.0)
        _check_number("alpha", self.alpha, 0.0)
        if self.lambda_ < self.k:
            raise BadInput("lambda", self.lambda_, f"must be at least k, which is {self.k}")


def _check_whole(name: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise BadInput(name, value, f"must be a whole number, at least {low} and at most {high}")


def _check_number(name: str, value: object, low: float) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value < float("inf"):
        raise BadInput(name, value, f"must be a number, at least {low:g}")


@dataclass(frozen=True)
class LinkChange:
    """One link to open or close, and why.

    >>> LinkChange("a", "b", "repair", ("x", "y")).reason
    'connects x, y'
    >>> LinkChange("a", "b", "left").ends
    ('a', 'b')
    """

    a: str
    b: str
    why: Why
    topics: tuple[str, ...] = ()
    """Of a link opened by a repair: the topics it connects."""

    @property
    def ends(self) -> tuple[str, str]:
        """Both ends, the smaller id first."""
        return self.a, self.b

    @property
    def reason(self) -> str:
        """Why, in words."""
        if self.why == "repair":
            shown = ", ".join(self.topics[:3]) + (
                f" and {len(self.topics) - 3} more" if len(self.topics) > 3 else ""
            )
            return f"connects {shown}"
        return {
            "rebuild": "part of the rebuilt overlay",
            "left": "an end has left",
            "nothing shared": "its ends share no topic any more",
            "redundant": "no topic needs it",
            "replaced": "not part of the rebuilt overlay",
            "failed": "an agent could not open it",
            "policy": "the policy asks for a higher k",
        }[self.why]


@dataclass(frozen=True)
class Plan:
    """The exact difference a change makes. It fits the version it was made for and no other.

    >>> from algorithms import Interests, LiveOverlay, build
    >>> from algorithms.live import join
    >>> live = LiveOverlay(build("gm", Interests.from_mapping({"a": ["x"], "b": ["x"]})))
    >>> plan = live.plan(join("c", ["x"]))
    >>> plan.version, plan.joined, len(plan.opened), plan.is_empty
    (0, ('c',), 1, False)
    """

    version: int
    joined: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    subscribed: tuple[tuple[str, str], ...] = ()
    unsubscribed: tuple[tuple[str, str], ...] = ()
    """Subscriptions of leavers included."""
    opened: tuple[LinkChange, ...] = ()
    closed: tuple[LinkChange, ...] = ()
    backups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The backups of newcomers."""
    steps: Steps | None = field(default=None, repr=False, compare=False)
    """The same in slots, for :meth:`LiveOverlay.apply`."""

    @property
    def is_empty(self) -> bool:
        """Whether it changes nothing at all."""
        return not (
            self.joined or self.left or self.subscribed or self.unsubscribed or self.opened or self.closed
        )


@dataclass(frozen=True)
class Steps:
    """A plan in slots."""

    leavers: Ints
    removed: Ints
    added: Ints
    opened: Ints
    closed: Ints
    """Links that no change of interests closes by itself."""
    backups: Ints
    new_topics: tuple[str, ...]
