"""An activation among clients that never rest: between any two of its steps there are changes, and it ends all the same."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import neo4j
import pytest

from algorithms.live import join, leave
from backend.live import Proposal
from backend.live.proposal import planner
from backend.rebuilds import activation
from tests.backend.held_api import note_ends
from tests.backend.live import Served, served
from tests.backend.targets import History
from tests.backend.test_rebuilds import INTERESTS, candidates, fill, planned, wait_for
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j


@pytest.fixture
def live(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Served]:
    """Three brokers join before each step of an activation, and the oldest of those leave."""
    pick, newcomers, step = random.Random(1), list[str](), activation.Activator._step

    async def restless(self: activation.Activator) -> bool:
        name = f"new {self._manager.mirror.version}"
        changes = [join(f"{name} {i}", pick.sample(INTERESTS.topics, 6)) for i in range(3)]
        newcomers.extend(change.broker for change in changes)
        while len(newcomers) > 15:
            changes.append(leave(newcomers.pop(0)))
        for change in changes:
            plan = planner(lambda live, change=change: live.plan([change]))  # type: ignore[misc]
            await self._manager.writer.submit(Proposal("batch", "client", plan, ahead=True))
        return await step(self)

    monkeypatch.setattr(activation.Activator, "_step", restless)
    monkeypatch.setattr(activation, "LINKS_A_BATCH", 10)
    monkeypatch.setattr(activation, "SECONDS_BETWEEN_LOOKS", 0.05)
    with served(neo4j_server, database, tmp_path) as opened:
        fill(opened)
        yield opened


@pytest.mark.parametrize("agents", [0, 3])
def test_it_ends_among_clients_that_never_rest(
    live: Served, agents: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With agents that never answer too, after their settle times."""
    noted: dict[str, int] = {}
    note_ends(monkeypatch.setattr, noted.update)
    live.ask("PUT", "policy", json={"settle_seconds": 1})
    for agent in INTERESTS.brokers[:agents]:
        live.ask("POST", "brokers", agent, "acks", json={"version": 0})
    found = planned(live, "gm2")
    target = candidates(live, found["id"])
    live.ask("POST", "rebuilds", found["id"], "activate", status=202)
    wait_for(live, found["id"], "active")
    history = History(live.driver)
    batches = [record for record in history.records if record.kind == "activate"]
    assert [bool(batch.closed) for batch in batches[:2]] == [False, False], (
        "all of the target is opened first"
    )
    assert batches[-1].version == noted["ended"]
    assert all(batch.opened for batch in batches[-5:]), "it never rested: this proves something"
    assert history.states[noted["ended"]].links == history.target(target, noted["prepared"], noted["ended"])
    history.check()
