"""The stand-in's rebuilds, simulations and analysts' queries.

Jobs go by the clock: a job of ``seconds`` is queued, runs and ends as time passes, whoever looks. With 0 seconds it is
done when it is first asked for, which is what most tests want.
"""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from backend.api.algorithms import list_algorithms
from backend.times import stamp
from tests.ui.fake_overlay import START, FakeOverlay


@dataclass
class FakeRebuild:
    """One rebuild, by the clock."""

    id: str
    request: dict[str, Any]
    overlay: FakeOverlay
    actor: str
    seconds: float
    began: float = field(default_factory=time.monotonic)
    activated: float | None = None
    rolled_back: float | None = None
    ended: str | None = None
    paused_at: float | None = None
    error: str | None = None
    base_version: int = 1
    created_at: datetime = START
    sampled: int = 0

    def state(self) -> str:
        if self.ended:
            return self.ended
        if self.error and self.activated is None:
            return "failed"
        if self.rolled_back is not None:
            return "planned" if self._share(self.rolled_back) >= 1 else "activating"
        if self.activated is not None:
            return "active" if self._share(self.activated) >= 1 else "activating"
        return "planned" if self._share(self.began) >= 1 else "running"

    def _share(self, since: float) -> float:
        now = self.paused_at or time.monotonic()
        return 1.0 if not self.seconds else min(1.0, (now - since) / self.seconds)

    def figures(self, links: int, histogram: list[list[int]], longest: int) -> dict[str, Any]:
        brokers = sum(count for _, count in histogram) or 1
        return {
            "links": links,
            "average_degree": 2 * links / brokers,
            "max_degree": max((degree for degree, _ in histogram), default=0),
            "mean_diameter": longest * 0.4,
            "max_diameter": longest,
            "diameters_sampled": self.sampled,
            "degree_histogram": histogram,
        }

    def plan(self) -> dict[str, Any]:
        live = self.overlay.overlay()
        links, histogram = live["links"], live["degree_histogram"]
        kept, opened, closed = links - links // 5, links // 8, links // 5
        lower = [[max(0, degree - 1) if degree > 3 else degree, count] for degree, count in histogram]
        merged: dict[int, int] = {}
        for degree, count in lower:
            merged[degree] = merged.get(degree, 0) + count
        names = sorted(self.overlay.whole())[:20]
        keep = float(self.request["params"].get("keep", 0) or 0)
        return {
            "links": kept + opened,
            "kept": kept,
            "opened": opened,
            "closed": closed,
            "before": self.figures(links, histogram, 8),
            "peak": self.figures(links + opened, [[d + 1, c] for d, c in histogram], 7),
            "after": self.figures(kept + opened, [[d, c] for d, c in sorted(merged.items())], 9),
            "most_changed": [
                {
                    "broker": broker,
                    "opened": 3 - rank // 7,
                    "closed": rank % 3,
                    "degree_before": 5,
                    "degree_after": 5 + 3 - rank // 7 - rank % 3,
                }
                for rank, broker in enumerate(names)
            ],
            "keep_curve": [
                {
                    "keep": share,
                    "links": links - 12 + step * 3,
                    "opened": opened - step * (opened // 6),
                    "closed": closed - step * (closed // 6),
                    "average_degree": live["average_degree"] * (0.9 + 0.02 * step),
                    "max_degree": live["max_degree"],
                }
                for step, share in enumerate((0.0, 0.2, 0.4, 0.6, 0.8))
            ]
            if self.request["algorithm"] == "weave" and keep == 0
            else None,
        }

    def activation(self, plan: dict[str, Any]) -> dict[str, Any] | None:
        since = self.rolled_back if self.rolled_back is not None else self.activated
        if since is None:
            return None
        share, back = self._share(since), self.rolled_back is not None
        to_open, to_close = (plan["closed"], plan["opened"]) if back else (plan["opened"], plan["closed"])
        phase = (
            "opening" if share < 0.45 else "settling" if share < 0.55 else "closing" if share < 1 else "done"
        )
        return {
            "phase": phase,
            "opened": round(min(1.0, share / 0.45) * to_open),
            "to_open": to_open,
            "closed": round(max(0.0, (share - 0.55) / 0.45) * to_close),
            "to_close": to_close,
            "paused": self.paused_at is not None,
            "rollback": back,
        }

    def answer(self) -> dict[str, Any]:
        state = self.state()
        planned = state in ("planned", "activating", "active") or self.activated is not None
        plan = self.plan() if planned else None
        return {
            "id": self.id,
            "state": state,
            "engine": self.request["engine"],
            "algorithm": self.request["algorithm"],
            "params": self.request["params"],
            "seed": self.request.get("seed", 0),
            "actor": self.actor,
            "created_at": stamp(self.created_at),
            "base_version": self.base_version,
            "progress": {"stage": "choosing links", "share": self._share(self.began)},
            "error": self.error,
            "report": None,
            "plan": plan,
            "activation": self.activation(plan) if plan else None,
        }


@dataclass
class FakeSimulation:
    """One simulation, by the clock; its rounds are a random walk of its seed."""

    id: str
    request: dict[str, Any]
    overlay: FakeOverlay
    actor: str
    seconds: float
    began: float = field(default_factory=time.monotonic)
    cancelled_at: int | None = None
    applied: float | None = None
    applied_rounds: int | None = None
    skipped: int = 0
    error: str | None = None
    waiting: str = ""

    def stop(self) -> None:
        """As the API: of one that is being applied, what is applied stays."""
        if self.applied is not None:
            self.applied_rounds = int(self.request["rounds"]) // 2
        else:
            self.cancelled_at = self.done_rounds()

    def done_rounds(self) -> int:
        wanted = int(self.request["rounds"])
        if self.cancelled_at is not None:
            return self.cancelled_at
        share = 1.0 if not self.seconds else min(1.0, (time.monotonic() - self.began) / self.seconds)
        return int(wanted * share)

    def rounds(self) -> list[dict[str, Any]]:
        walk = random.Random(f"{self.request['seed']} {self.request['strategy']}")
        worse = {"naive": 0.012, "shadow": 0.006, "weave": 0.002, "rebuild": 0.001}[self.request["strategy"]]
        figures = self.overlay.figures()
        average, largest, brokers = figures["average_degree"], figures["max_degree"], figures["brokers"]
        made = []
        for number in range(1, self.done_rounds() + 1):
            fails = self.request.get("failure_share") and number % self.request["failure_every"] == 0
            joins = not fails and walk.random() < self.request["join_share"]
            change = "failure" if fails else "join" if joins else "leave"
            brokers += -int(brokers * self.request["failure_share"]) if fails else 1 if joins else -1
            if self.request["strategy"] == "rebuild" and number % self.request.get("rebuild_every", 50) == 0:
                change += " + rebuild"
            average += walk.random() * worse
            largest += walk.random() < worse
            made.append(
                {
                    "round": number,
                    "change": change,
                    "brokers": brokers,
                    "links": int(average * brokers / 2),
                    "average_degree": average,
                    "max_degree": largest,
                    "opened": walk.randint(1, 9),
                    "closed": walk.randint(0, 9),
                    "plan_ms": walk.random() * 4,
                    "fairness": 0.8,
                    "primaries_max": 4,
                    "drift": number * worse / 40 if number % 50 == 0 else None,
                }
            )
        return made

    def state(self) -> str:
        if self.error:
            return "failed"
        if self.applied_rounds is not None:
            return "cancelled"
        if self.applied is not None:
            return "applied" if time.monotonic() - self.applied >= self.seconds else "applying"
        if self.cancelled_at is not None:
            return "cancelled"
        return "done" if self.done_rounds() >= self.request["rounds"] else "running"

    def answer(self, after: int = 0, brief: bool = False) -> dict[str, Any]:
        rounds, state = self.rounds(), self.state()
        summary = None
        if state in ("done", "applying", "applied"):
            summary = {
                "rounds": len(rounds),
                "brokers": [self.overlay.figures()["brokers"], rounds[-1]["brokers"]],
                "links": [rounds[0]["links"], rounds[-1]["links"]],
                "average_degree": [rounds[0]["average_degree"], rounds[-1]["average_degree"]],
                "max_degree": [rounds[0]["max_degree"], rounds[-1]["max_degree"]],
                "plan_ms_median": 2.0,
                "opened_per_join": 3.5,
                "changed_per_leave": 6.25,
                "opened": sum(r["opened"] for r in rounds),
                "closed": sum(r["closed"] for r in rounds),
                "drift_mean": 0.021,
                "drift_end": 0.042,
            }
        wanted = int(self.request["rounds"])
        return {
            "id": self.id,
            "state": state,
            "request": self.request,
            "actor": self.actor,
            "created_at": START.isoformat().replace("+00:00", "Z"),
            "base_version": 1,
            "progress": {"stage": self.waiting or f"round {len(rounds)}", "share": len(rounds) / wanted},
            "error": self.error,
            "rounds": [] if brief else [r for r in rounds if r["round"] > after],
            "next": len(rounds),
            "summary": summary,
            "applied": None
            if self.applied is None
            else {
                "done": wanted if state == "applied" else self.applied_rounds or wanted // 2,
                "total": wanted,
                "skipped": self.skipped,
            },
        }


ALGORITHMS: list[dict[str, Any]] = asyncio.run(list_algorithms())
"""The API's own: its form is made from nothing else."""

QUERIES: list[dict[str, Any]] = [
    {
        "name": "top_brokers",
        "group": "degrees",
        "title": "Which brokers have most links?",
        "parameters": [
            {
                "name": "limit",
                "type": "integer",
                "default": 10,
                "description": "how many brokers",
                "minimum": 1,
                "maximum": 10000,
            },
            {"name": "part", "type": "string", "default": "", "description": "part of the id"},
        ],
        "columns": [
            {"name": "broker", "description": "its id"},
            {"name": "degree", "description": "its links"},
        ],
        "example": "topicweave query top_brokers --param limit=10",
        "cypher": "MATCH (b:Broker)-[l:LINK]-()\nRETURN b.id AS broker, count(l) AS degree\nORDER BY degree DESC LIMIT $limit",
    },
    {
        "name": "topics_at_risk",
        "group": "topics",
        "title": "Which topics hang on one broker?",
        "parameters": [],
        "columns": [{"name": "topic", "description": "its name"}],
        "example": "topicweave query topics_at_risk",
        "cypher": "MATCH (t:Topic) RETURN t.name AS topic",
    },
]
