"""Activations whose process dies: whoever finds them goes on, in whatever phase they were.

In each phase the tasks of one API end without a word while a second one, on the same database, is there to take over; and
one real process is killed with ``kill -9`` in the middle of its batches, and started again.
"""

from __future__ import annotations

import asyncio
import json
import sys
import urllib.request
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import neo4j
import pytest

from backend.managed.processes import Child
from backend.rebuilds import activation, jobs
from backend.rebuilds.rebuild import Activation
from tests.backend.conftest import rows
from tests.backend.faults.stage import KEY as FAULTS_KEY
from tests.backend.faults.stage import Api
from tests.backend.live import Served, served
from tests.backend.test_rebuilds import (
    INTERESTS,
    candidates,
    check_every_version,
    fill,
    planned,
    wait_for,
    wait_until,
)
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j

PHASES = ("opening", "settling", "closing", "rolling back")
SILENT = "MATCH (r:Rebuild) SET r.heartbeat_at = datetime() - duration({minutes: 1})"
"""As if the time until a silent process is given up had passed."""
HELD = """
import asyncio, sys
from backend.api.__main__ import main
from backend.rebuilds import activation

activation.LINKS_A_BATCH = 4
step = activation.Activator._step

async def held(self):
    now = self._activation
    if now.phase == {phase!r} and (now.closed if now.phase == "closing" else now.opened):
        await asyncio.sleep(3600)
    return await step(self)

activation.Activator._step = held
sys.exit(main())
"""
"""An API process that opens and closes a few links at a time, and stays in the midst of a phase."""


@pytest.fixture
def two(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Served, Served]]:
    """Two APIs on one database, quick to look what the other left behind."""
    monkeypatch.setattr(activation, "LINKS_A_BATCH", 4)
    monkeypatch.setattr(activation, "SECONDS_BETWEEN_LOOKS", 0.05)
    monkeypatch.setattr(jobs, "SECONDS_BETWEEN_ROUNDS", 0.2)
    with (
        served(neo4j_server, database, tmp_path / "one") as first,
        served(neo4j_server, database, tmp_path / "two") as second,
    ):
        fill(first)
        yield first, second


def rebuilds_of(live: Served) -> jobs.Rebuilds:
    found: jobs.Rebuilds = live.client.app.state.rebuilds  # type: ignore[attr-defined]
    return found


async def die(live: Served) -> None:
    """What the end of a process means for its rebuilds: no task of them goes on, and nobody is told."""
    rebuilds = rebuilds_of(live)
    assert rebuilds._rounds is not None
    tasks = [rebuilds._rounds, *(task for _, task in rebuilds._activations.values())]
    for task in tasks:
        task.cancel()


def hold(monkeypatch: pytest.MonkeyPatch, live: Served, phase: str) -> Counter[str]:
    """Let an API stay in the midst of a phase until it dies; the steps of each owner, counted."""
    steps: Counter[str] = Counter()
    step = activation.Activator._step

    def reached(now: Activation) -> bool:
        if phase == "rolling back":
            return now.rollback and now.opened + now.closed > 0
        done = {"opening": now.opened, "settling": 1, "closing": now.closed}[phase]
        return now.phase == phase and done > 0

    async def held(self: activation.Activator) -> bool:
        if self._owner == rebuilds_of(live).owner and reached(self._activation):
            steps["held"] += 1
            await asyncio.Event().wait()
        steps[self._owner] += 1
        return await step(self)

    monkeypatch.setattr(activation.Activator, "_step", held)
    return steps


@pytest.mark.parametrize("phase", PHASES)
def test_another_process_goes_on(
    two: tuple[Served, Served], phase: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = two
    steps = hold(monkeypatch, first, phase)
    agent = INTERESTS.brokers[0]
    # Repairs by weave may close links of the target that they make needless; those of shadow only open.
    settle = 3600 if phase == "settling" else 0
    first.ask("PUT", "policy", json={"settle_seconds": settle, "strategy": "shadow"})
    before = first.stored_links()
    found = planned(first, "treept" if phase == "settling" else "gm2")
    path = ("rebuilds", found["id"])
    if phase == "settling":
        first.ask("POST", "brokers", agent, "acks", json={"version": 0})
        second.ask("POST", "brokers", agent, "acks", json={"version": 0})
    first.ask("POST", *path, "activate", status=202)
    if phase == "rolling back":
        wait_for(first, found["id"], "active")
        first.ask("POST", *path, "rollback", status=202)

    wait_until(lambda: steps["held"] > 0)
    assert first.ask("GET", *path)["state"] == "activating"
    first.client.portal.call(die, first)  # type: ignore[union-attr]
    rows(second.driver, SILENT)
    second.join("meanwhile", *INTERESTS.topics[:3])
    second.leave(INTERESTS.brokers[5])
    if phase == "settling":
        heir = rebuilds_of(second).owner
        wait_until(lambda: steps[heir] > 0 and second.ask("GET", *path)["activation"]["phase"] == "settling")
        seen = steps[heir]
        wait_until(lambda: steps[heir] > seen + 10)
        told = second.ask("GET", *path)
        assert (told["state"], told["activation"]["closed"]) == ("activating", 0), (
            "it still waits for the agent"
        )
        second.ask("POST", "brokers", agent, "acks", json={"version": second.version})
        second.ask("PUT", "policy", json={"settle_seconds": 0})
    ended = wait_for(second, found["id"], "planned" if phase == "rolling back" else "active")
    assert ended["activation"]["rollback"] is (phase == "rolling back")
    owners = rows(second.driver, "MATCH (r:Rebuild) RETURN r.owner AS owner")
    assert owners == [{"owner": None}]
    gone = {link for link in (before | candidates(second, found["id"])) if INTERESTS.brokers[5] in link}
    target = before if phase == "rolling back" else candidates(second, found["id"])
    assert second.stored_links() >= target - gone, "the target, and what the newcomer and the leave asked for"
    check_every_version(second)
    assert second.ask("GET", "check")["good"]


class SmallBatches(Api):
    """An API process that opens and closes a few links at a time."""

    def start(self, phase: str = "") -> None:
        script = HELD.format(phase=phase)
        self.child = Child(self.name, [sys.executable, "-c", script], self._environment, self._log)

    def ask(self, method: str, path: str, body: object = None) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/v1/{path}",
            None if body is None else json.dumps(body).encode(),
            {"X-API-Key": FAULTS_KEY, "Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def activates(self, rebuild: str, phase: str, done: str) -> bool:
        """Whether the activation is in the midst of a phase; one that is past it is a failure."""
        told = self.ask("GET", f"rebuilds/{rebuild}")
        assert told["state"] == "activating", told
        return bool(told["activation"]["phase"] == phase and told["activation"][done] >= 4)


def test_killed_and_started_again(neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path) -> None:
    """``kill -9`` while links are opened and again while they are closed; each time the next start goes on."""
    api = SmallBatches("killed", tmp_path, neo4j_server.uri, neo4j_server.password)
    try:
        api.start("opening")
        api.wait_until_ready()
        batch = [{"op": "join", "broker": b, "topics": INTERESTS.topics_of(b)} for b in INTERESTS.brokers]
        api.ask("POST", "changes", batch)
        rebuild = api.ask("POST", "rebuilds", {"algorithm": "treept"})["id"]
        wait_until(lambda: api.ask("GET", f"rebuilds/{rebuild}")["state"] == "planned")
        api.ask("POST", f"rebuilds/{rebuild}/activate")
        for phase, done, then in (("opening", "opened", "closing"), ("closing", "closed", "")):
            wait_until(partial(api.activates, rebuild, phase, done))
            api.kill()
            assert rows(database, "MATCH (r:Rebuild) RETURN r.state AS state") == [{"state": "activating"}]
            rows(database, SILENT)
            api.start(then)
            api.wait_until_ready()
        wait_until(lambda: api.ask("GET", f"rebuilds/{rebuild}")["state"] == "active")
        assert api.ask("GET", "check")["good"]
    finally:
        if api.child is not None:
            api.child.stop(20)
    links = {
        (row["a"], row["b"]) for row in rows(database, "MATCH (a)-[:LINK]->(b) RETURN a.id AS a, b.id AS b")
    }
    text = "MATCH (a)-[:CANDIDATE {rebuild: $id}]->(b) RETURN a.id AS a, b.id AS b"
    assert links == {(row["a"], row["b"]) for row in rows(database, text, id=rebuild)}
