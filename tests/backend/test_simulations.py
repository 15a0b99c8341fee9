"""Simulations through the API: watched round by round, stopped, applied to the live overlay as ordinary changes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import neo4j
import pytest
from fastapi import FastAPI
from neo4j.exceptions import ServiceUnavailable

from backend import simulations
from backend.errors import NotReady
from backend.live import Answer, Proposal, Writer
from backend.store import Database
from tests.backend.conftest import rows
from tests.backend.live import KEY, Served, served
from tests.backend.test_rebuilds import check_every_version, fill, wait_until
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j

WORKLOAD = {"brokers": 40, "topics": 10, "subscriptions": 3, "seed": 2}


@pytest.fixture
def live(neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path) -> Iterator[Served]:
    with served(neo4j_server, database, tmp_path) as opened:
        fill(opened)
        yield opened


def ask(live: Served, **request: Any) -> str:
    return str(live.ask("POST", "simulations", json=request, status=202)["id"])


def wait_for(live: Served, simulation: str, state: str) -> dict[str, Any]:
    def told() -> dict[str, Any]:
        found: dict[str, Any] = live.ask("GET", "simulations", simulation)
        return found

    wait_until(lambda: told()["state"] not in ("queued", "running", "applying"))
    assert told()["state"] == state, told()["error"]
    return told()


def test_a_generated_workload_is_simulated_and_stopped_and_not_applied(live: Served) -> None:
    version, links = live.version, live.stored_links()
    short = ask(live, source="workload", workload=WORKLOAD, rounds=12, seed=3)
    long = ask(live, source="workload", workload={**WORKLOAD, "brokers": 2000}, rounds=100_000)
    problem = live.ask("POST", "simulations", long, "apply", status=409)
    assert "only one of the live overlay can be applied" in problem["detail"]
    done = wait_for(live, short, "done")
    assert (len(done["rounds"]), done["next"], done["progress"]["share"]) == (12, 12, 1.0)
    assert done["summary"]["rounds"] == 12
    assert [row["round"] for row in done["rounds"]] == list(range(1, 13))
    later = live.client.get(f"/v1/simulations/{short}", params={"after": 9}, headers=KEY).json()
    assert later["rounds"] == done["rounds"][9:]
    page = live.client.get(f"/v1/simulations/{short}", params={"after": 3, "limit": 2}, headers=KEY).json()
    assert (page["rounds"], page["next"]) == (done["rounds"][3:5], 12)
    wait_until(lambda: live.ask("GET", "simulations", long)["next"] > 0)
    assert live.ask("DELETE", "simulations", long)["state"] == "cancelled"
    assert live.ask("GET", "simulations", long)["rounds"], "what was simulated stays to be read"
    assert live.ask("POST", "simulations", short, "apply", status=409)["field"] == "simulation"
    assert (live.version, live.stored_links()) == (version, links)


def test_one_of_the_live_overlay_is_applied_and_what_does_not_fit_is_skipped(live: Served) -> None:
    version = live.version
    simulation = ask(live, rounds=10, join_share=0.0, seed=1)
    done = wait_for(live, simulation, "done")
    assert (live.version, done["base_version"]) == (version, version), "it changes nothing"
    kept = live.client.app.state.simulations.find(simulation)  # type: ignore[attr-defined]
    left = [change.broker for changes in kept.changes for change in changes]
    assert len(left) == 10, "one leave a round"
    live.leave(left[0])
    live.ask("POST", "simulations", simulation, "apply", status=202)
    told = wait_for(live, simulation, "applied")
    assert told["applied"] == {"done": 10, "total": 10, "skipped": 1}
    assert live.version == version + 10
    assert not set(left) & set(live.stored_interests())
    kinds = rows(live.driver, "MATCH (c:Change) WHERE c.version > $v RETURN c.kind AS kind", v=version + 1)
    assert {row["kind"] for row in kinds} == {"batch"}
    check_every_version(live)
    problem = live.ask("POST", "simulations", simulation, "apply", status=409)
    assert "it is applied; only one that is done can be applied" in problem["detail"]


def test_what_is_applied_waits_for_a_neo4j_that_is_away(
    live: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulation = ask(live, rounds=5, join_share=0.0, seed=1)
    wait_for(live, simulation, "done")
    version = live.version
    real, away = Writer.submit, [NotReady("Neo4j does not answer"), NotReady("still away")]

    async def submit(writer: Writer, proposal: Proposal) -> Answer:
        answer = await real(writer, proposal)
        if away:  # it was done, and nobody heard of it
            raise away.pop()
        return answer

    monkeypatch.setattr(Writer, "submit", submit)
    live.ask("POST", "simulations", simulation, "apply", status=202)
    assert wait_for(live, simulation, "applied")["applied"] == {"done": 5, "total": 5, "skipped": 0}
    assert live.version == version + 5


def test_what_is_applied_says_that_it_waits_and_gives_up_at_last(
    live: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (ask(live, rounds=5, join_share=0.0, seed=seed) for seed in (1, 2))
    for simulation in (first, second):
        wait_for(live, simulation, "done")
    version, read, away = live.version, Database.read, [True]

    async def refused(self: Database, name: str, /, **parameters: Any) -> list[neo4j.Record]:
        if away and name.startswith("idempotency/"):
            raise ServiceUnavailable("nobody there")
        return await read(self, name, **parameters)

    def stage(simulation: str) -> str:
        return str(live.ask("GET", "simulations", simulation)["progress"]["stage"])

    monkeypatch.setattr(Database, "read", refused)
    live.ask("POST", "simulations", first, "apply", status=202)
    wait_until(lambda: stage(first).startswith("waiting: ") and "nobody there" in stage(first))
    assert live.ask("GET", "simulations", first)["state"] == "applying"
    away.clear()
    assert wait_for(live, first, "applied")["applied"] == {"done": 5, "total": 5, "skipped": 0}
    assert (live.version, stage(first)) == (version + 5, "applied")
    away.append(True)
    monkeypatch.setattr(simulations, "SECONDS_OF_TRIES", 0.2)
    live.ask("POST", "simulations", second, "apply", status=202)
    assert "nobody there" in wait_for(live, second, "failed")["error"]


def test_what_cannot_be_simulated_is_refused(live: Served) -> None:
    for request, field in (
        ({"source": "workload"}, "workload"),
        ({"source": "live", "workload": WORKLOAD}, "workload"),
        ({"rounds": 0}, "rounds"),
        ({"rounds": 100_001}, "rounds"),
        ({"strategy": "prayer"}, "strategy"),
        ({"source": "workload", "workload": {**WORKLOAD, "subscriptions": 11}}, "workload.subscriptions"),
        ({"source": "workload", "workload": {**WORKLOAD, "subscriptions": 0}}, "workload.subscriptions"),
        ({"source": "workload", "workload": {**WORKLOAD, "exponent": 21}}, "workload.exponent"),
        ({"source": "workload", "workload": {**WORKLOAD, "seed": 2**63}}, "workload.seed"),
        (
            {
                "source": "workload",
                "workload": {"brokers": 200_000, "topics": 10_000, "subscriptions": 5_000},
            },
            "workload.subscriptions",
        ),
        ({"strategy": "rebuild", "rebuild_every": 0}, "rebuild_every"),
        ({"keep": 1e9}, "keep"),
        ({"lambda": 1, "k": 2}, "lambda"),
        ({"seed": 2**63}, "seed"),
    ):
        assert live.ask("POST", "simulations", json=request, status=422)["field"] == field
    sent = {**KEY, "Content-Type": "application/json"}
    for name in ("rho", "keep", "join_share"):
        answer = live.client.post("/v1/simulations", headers=sent, content=f'{{"{name}": 1e999}}')
        assert (answer.status_code, answer.json()["field"]) == (422, name)
    assert live.ask("GET", "simulations", "no", status=404)["field"] == "simulation"
    assert live.ask("GET", "simulations")["items"] == []


def test_the_oldest_that_are_over_are_forgotten(live: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulations, "ROUNDS_KEPT", 20)
    monkeypatch.setattr(simulations, "MOST_WAITING", 1)
    kept = cast(FastAPI, live.client.app).state.simulations
    held = ask(live, source="workload", workload={**WORKLOAD, "brokers": 2000}, rounds=100_000)
    first, second = (ask(live, source="workload", workload=WORKLOAD, rounds=12) for _ in range(2))
    wait_for(live, first, "done")
    wait_for(live, second, "done")
    third = ask(live, source="workload", workload=WORKLOAD, rounds=3)
    assert {one.id for one in kept.list()} == {held, second, third}, "the oldest one that is over went"
    wait_for(live, third, "done")
    more = [
        ask(live, source="workload", workload={**WORKLOAD, "brokers": 2000}, rounds=100_000) for _ in range(2)
    ]
    wait_until(lambda: [kept.find(one).state for one in (held, *more)].count("running") == 2)
    body = {"source": "workload", "workload": WORKLOAD}
    assert live.ask("POST", "simulations", json=body, status=503)["type"].endswith(":busy")
    for one in (held, *more):
        live.ask("DELETE", "simulations", one)


def test_more_than_the_policy_promises_is_simulated_from_the_live_overlay(live: Served) -> None:
    assert live.ask("GET", "policy")["k"] == 1
    version, links = live.version, live.stored_links()
    for strategy in ("weave", "shadow"):
        done = wait_for(live, ask(live, rounds=10, k=2, strategy=strategy, drift_every=0), "done")
        assert [row["round"] for row in done["rounds"]] == list(range(1, 11))
        assert done["rounds"][0]["links"] > len(links) * 1.1, "it begins with what k = 2 needs"
    assert (live.version, live.stored_links()) == (version, links)


def test_it_says_which_version_it_began_with(live: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    simulations = live.client.app.state.simulations  # type: ignore[attr-defined]
    monkeypatch.setattr(simulations, "_turn", asyncio.Semaphore(0))
    waiting = ask(live, rounds=2, seed=1)
    live.join("in between", "/t1")
    live.client.portal.call(simulations._turn.release)  # type: ignore[union-attr]
    assert wait_for(live, waiting, "done")["base_version"] == live.version
