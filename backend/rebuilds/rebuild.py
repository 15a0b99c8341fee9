"""A rebuild and how Neo4j holds it: its state, its plan, how far its activation is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from backend.times import stamp

State = Literal["queued", "running", "planned", "activating", "active", "failed", "cancelled", "dropped"]
Engine = Literal["local", "spark"]
Phase = Literal["opening", "settling", "closing", "done"]

WAITING = "waiting"
"""The stage of a rebuild whose work has not begun."""

UNDER_WAY: tuple[State, ...] = ("queued", "running")
OVER: tuple[State, ...] = ("failed", "cancelled", "dropped")

NO_WISHES: dict[str, Any] = {"paused": None, "returning": None, "returned_by": None}
"""What operators may wish of an activation, as properties of its node, before any of them does."""


@dataclass
class Activation:
    """How far an activation is."""

    phase: Phase = "opening"
    opened: int = 0
    to_open: int = 0
    closed: int = 0
    to_close: int = 0
    paused: bool = False
    rollback: bool = False
    """Whether the links of before are the target."""
    before_kept: bool = False
    """Whether the links of before are stored, so that it can be rolled back; nothing is opened earlier."""
    actor: str = ""
    """Who asked for it."""

    def as_json(self) -> dict[str, Any]:
        """As the API tells it."""
        return dict(vars(self))


@dataclass
class Rebuild:
    """One rebuild, from the request on."""

    id: str
    engine: Engine
    algorithm: str
    params: dict[str, Any]
    seed: int
    actor: str
    created_at: datetime
    base_version: int
    state: State = "queued"
    progress: dict[str, Any] = field(default_factory=lambda: {"stage": WAITING, "share": 0.0})
    plan: dict[str, Any] | None = None
    report: dict[str, Any] | None = None
    error: str | None = None
    activation: Activation | None = None

    @property
    def before(self) -> str:
        """Under which id the links of before its activation are kept, for a rollback."""
        return links_before(self.id)

    def as_json(self, *, whole: bool = True) -> dict[str, Any]:
        """As the API tells it; a list leaves out which brokers change most."""
        plan = self.plan
        if plan is not None and not whole:
            plan = {name: value for name, value in plan.items() if name != "most_changed"}
        return {
            "id": self.id,
            "state": self.state,
            "engine": self.engine,
            "algorithm": self.algorithm,
            "params": self.params,
            "seed": self.seed,
            "actor": self.actor,
            "created_at": stamp(self.created_at),
            "base_version": self.base_version,
            "progress": self.progress,
            "plan": plan,
            "report": self.report,
            "error": self.error,
            "activation": self.activation.as_json() if self.activation else None,
        }

    def properties(self) -> dict[str, Any]:
        """As properties of its node; a null removes one."""
        return {
            "id": self.id,
            "state": self.state,
            "engine": self.engine,
            "algorithm": self.algorithm,
            "params": json.dumps(self.params),
            "seed": self.seed,
            "actor": self.actor,
            "created_at": self.created_at,
            "base_version": self.base_version,
            "progress": json.dumps(self.progress),
            "plan": _text(self.plan),
            "report": _text(self.report),
            "error": self.error,
            "activation": _text(self.activation.as_json() if self.activation else None),
        }

    @classmethod
    def from_properties(cls, values: Mapping[str, Any]) -> Rebuild:
        """The rebuild that a node holds."""

        def parsed(name: str) -> Any:
            return json.loads(values[name]) if values.get(name) else None

        activation = parsed("activation")
        return cls(
            values["id"],
            values["engine"],
            values["algorithm"],
            parsed("params") or {},
            values.get("seed", 0),
            values["actor"],
            values["created_at"].to_native(),
            values["base_version"],
            values["state"],
            parsed("progress") or {"stage": "", "share": 0.0},
            parsed("plan"),
            parsed("report"),
            values.get("error"),
            replace(Activation(**activation), paused=bool(values.get("paused"))) if activation else None,
        )


BEFORE = " before"


def links_before(rebuild: str) -> str:
    """Under which id the links of before an activation are kept."""
    return f"{rebuild}{BEFORE}"


def _text(value: object) -> str | None:
    return None if value is None else json.dumps(value)
