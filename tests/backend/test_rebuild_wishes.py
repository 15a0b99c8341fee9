"""What operators want of a rebuild at the worst moment: while its end is being written, or long after it was made."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import neo4j
import pytest
from neo4j.exceptions import ServiceUnavailable

import cypher
from backend.rebuilds import activation, jobs
from backend.rebuilds.rebuild import Rebuild
from backend.store import rebuilds as store
from backend.store.database import Database
from tests.backend.conftest import rows
from tests.backend.live import KEY, Served, served
from tests.backend.test_rebuilds import candidates, fill, planned, wait_for, wait_until
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j


@pytest.fixture
def live(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Served]:
    monkeypatch.setattr(jobs, "SECONDS_BETWEEN_ROUNDS", 0.2)
    with served(neo4j_server, database, tmp_path, max_queued_rebuilds=2) as opened:
        fill(opened)
        yield opened


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """While it is closed (as it is first), jobs that have ended cannot write so."""
    opened = threading.Event()
    end = jobs.Rebuilds._end

    async def held(self: jobs.Rebuilds, rebuild: Rebuild, owner: str | None) -> str | None:
        while not opened.is_set():
            await asyncio.sleep(0.02)
        return await end(self, rebuild, owner)

    monkeypatch.setattr(jobs.Rebuilds, "_end", held)
    yield opened
    opened.set()


def stored(live: Served, rebuild: str) -> dict[str, Any]:
    found: dict[str, Any] = rows(
        live.driver, "MATCH (r:Rebuild {id: $id}) RETURN properties(r) AS r", id=rebuild
    )[0]["r"]
    return found


def test_a_wish_to_go_back_that_comes_with_the_last_step_is_heeded(
    live: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = planned(live, "treept")["id"], planned(live, "gm2")["id"]
    before = live.stored_links()
    live.ask("POST", "rebuilds", first, "activate", status=202)
    wait_for(live, first, "active")
    between = live.stored_links()
    finish = activation.Activator._finish
    finished: list[bool] = []

    async def wished(self: activation.Activator, version: int) -> bool:
        """As if the call had come after the last look at the wishes."""
        if not finished:
            rows(live.driver, "MATCH (r:Rebuild {id: $id}) SET r.returning = true", id=self.rebuild.id)
        finished.append(await finish(self, version))
        return finished[-1]

    monkeypatch.setattr(activation.Activator, "_finish", wished)
    live.ask("POST", "rebuilds", second, "activate", status=202)
    assert wait_for(live, second, "planned")["activation"]["rollback"]
    assert finished == [False, True]
    assert live.stored_links() == between
    assert live.ask("GET", "rebuilds", first)["state"] == "active", "nothing replaced it"
    assert candidates(live, f"{first} before") == before
    live.ask("POST", "rebuilds", first, "rollback", status=202)
    wait_for(live, first, "planned")
    assert live.stored_links() == before


def test_the_state_is_what_is_stored_and_a_late_cancel_is_heeded(live: Served, gate: threading.Event) -> None:
    asked = [live.ask("POST", "rebuilds", json={"algorithm": "gm"}, status=202)["id"] for _ in range(2)]
    wait_until(lambda: len(candidates(live, asked[0])) > 0)
    wait_until(lambda: live.client.app.state.rebuilds._jobs[asked[0]].work.done())  # type: ignore[attr-defined]
    assert live.ask("GET", "rebuilds", asked[0])["state"] == "running"
    with ThreadPoolExecutor(2) as pool:
        answers = [pool.submit(live.ask, "POST", "rebuilds", asked[0], "cancel") for _ in range(2)]
        wait_until(lambda: stored(live, asked[0]).get("cancelling") is True)
        gate.set()
        assert {answer.result()["state"] for answer in answers} == {"cancelled"}
    assert candidates(live, asked[0]) == set()
    wait_for(live, asked[1], "planned")
    live.ask("POST", "rebuilds", asked[1], "activate", status=202)
    wait_for(live, asked[1], "active")


def test_a_rebuild_that_is_over_gets_no_more_candidates(live: Served) -> None:
    found = planned(live, "gm")["id"]
    live.ask("DELETE", "rebuilds", found)
    a, b = min(live.stored_links())
    given = {"id": found, "rebuild": found, "owner": None, "rows": [{"a": a, "b": b}]}
    live.driver.execute_query(cypher.statement("rebuild/create_candidates"), given, states=["running"])
    assert candidates(live, found) == set()
    live.driver.execute_query(cypher.statement("rebuild/create_candidates"), given, states=["dropped"])
    assert candidates(live, found) == {(a, b)}


def test_an_activation_older_than_all_that_is_listed_is_taken_up(live: Served) -> None:
    found = planned(live, "treept")["id"]
    rows(
        live.driver,
        "MATCH (r:Rebuild {id: $id}) UNWIND range(1, 200) AS n CREATE (c:Rebuild) "
        "SET c = r {.*, id: 'copy ' + n, state: 'dropped', created_at: datetime()}",
        id=found,
    )
    listed = [row["id"] for row in live.ask("GET", "rebuilds")["items"]]
    assert (len(listed), listed[-1]) == (201, found), "what is not over is listed, however old"
    rows(
        live.driver,
        "MATCH (r:Rebuild {id: $id}) SET r.state = 'activating', r.activation = $activation",
        id=found,
        activation='{"actor": "somebody"}',
    )
    wait_for(live, found, "active")
    assert live.stored_links() == candidates(live, found)


def test_no_batch_is_committed_for_an_activation_that_was_taken_over(
    live: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = planned(live, "treept")["id"]
    version, links = live.version, live.stored_links()
    plan = activation.Activator._plan_batch
    planned_batches: list[int] = []

    def stolen(self: activation.Activator, overlay: Any) -> Any:
        """Another process takes it over after the last look at the owner, while the batch is planned."""
        batch = plan(self, overlay)
        planned_batches.append(len(batch.opened))
        text = "MATCH (r:Rebuild {id: $id}) SET r.owner = 'thief', r.heartbeat_at = datetime() + duration('PT1H')"
        rows(live.driver, text, id=found)
        return batch

    monkeypatch.setattr(activation.Activator, "_plan_batch", stolen)
    live.ask("POST", "rebuilds", found, "activate", status=202)
    wait_until(lambda: len(planned_batches) > 0)
    wait_until(lambda: live.client.app.state.rebuilds.activating is None)  # type: ignore[attr-defined]
    assert planned_batches[0] > 0
    assert len(planned_batches) == 1, "it stopped, and did not try again"
    assert (live.version, live.stored_links()) == (version, links)
    after = stored(live, found)
    assert (after["state"], after["owner"]) == ("activating", "thief")
    assert live.join("goes on", "t0")["version"] == version + 1


def test_links_that_an_error_left_behind_go_with_the_next_drop_or_sweep(
    live: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = planned(live, "treept")["id"], planned(live, "treept")["id"]
    delete = store.delete_candidates

    async def away(*_: object) -> None:
        raise ServiceUnavailable("on purpose")

    monkeypatch.setattr(store, "delete_candidates", away)
    for found in (first, second):
        live.ask("DELETE", "rebuilds", found, status=503)
        assert stored(live, found)["state"] == "dropped"
        assert candidates(live, found)
    monkeypatch.setattr(store, "delete_candidates", delete)
    assert live.ask("DELETE", "rebuilds", first)["state"] == "dropped"
    assert candidates(live, first) == set()
    assert candidates(live, second), "only what was asked for"
    text = "CREATE (:Rebuild {id: 'old', state: 'dropped', created_at: datetime() - duration({days: 100})})"
    rows(live.driver, text)
    monkeypatch.setattr(jobs, "SECONDS_BETWEEN_SWEEPS", 0.1)
    wait_until(lambda: candidates(live, second) == set())
    wait_until(lambda: not rows(live.driver, "MATCH (r:Rebuild {id: 'old'}) RETURN r"))
    assert stored(live, second)["state"] == "dropped", "its record is young"


def test_who_waits_takes_no_lock_and_the_queue_is_bounded(
    live: Served, gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked: list[str] = []
    write = Database.write

    async def noted(self: Database, name: str, /, **parameters: Any) -> list[neo4j.Record]:
        if name == "rebuild/begin_computing":
            locked.append(parameters["id"])
        return await write(self, name, **parameters)

    monkeypatch.setattr(Database, "write", noted)
    monkeypatch.setattr(jobs, "SECONDS_BETWEEN_TRIES", 0.05)
    first, second = [
        live.ask("POST", "rebuilds", json={"algorithm": "gm"}, status=202)["id"] for _ in range(2)
    ]
    wait_until(lambda: live.client.app.state.rebuilds._jobs[first].work.done())  # type: ignore[attr-defined]
    refused = live.client.post("/v1/rebuilds", headers=KEY, json={"algorithm": "gm"})
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
    assert "TOPICWEAVE_MAX_QUEUED_REBUILDS" in refused.json()["detail"]
    assert locked == [first], "the other one looked only"
    gate.set()
    wait_for(live, second, "planned")
    assert locked == [first, second]


def test_whoever_rolls_back_is_named_and_going_back_is_not_called_off(
    live: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activation, "SECONDS_BETWEEN_LOOKS", 0.05)
    asked = {"name": "second operator", "scope": "operate"}
    second = {"X-API-Key": live.ask("POST", "keys", json=asked, status=201)["key"]}
    found = planned(live, "treept")["id"]
    live.ask("PUT", "policy", json={"settle_seconds": 3600})
    late = min(min(candidates(live, found) - live.stored_links()))
    live.ask("POST", "brokers", late, "acks", json={"version": 0})
    live.ask("POST", "rebuilds", found, "activate", status=202)

    def activation_of() -> dict[str, Any]:
        told: dict[str, Any] = live.ask("GET", "rebuilds", found)["activation"]
        return told

    wait_until(lambda: activation_of()["phase"] == "settling")
    assert live.client.post(f"/v1/rebuilds/{found}/cancel", headers=second).status_code == 200
    live.ask("POST", "rebuilds", found, "pause")
    wait_until(lambda: activation_of()["paused"])
    for _ in range(2):
        problem = live.ask("POST", "rebuilds", found, "cancel", status=409)
        assert (problem["field"], problem["detail"]) == ("rebuild", f"rebuild: {found!r} goes back already")
    assert activation_of()["paused"], "it changed nothing"
    live.ask("PUT", "policy", json={"settle_seconds": 0})
    live.ask("POST", "rebuilds", found, "resume")
    wait_for(live, found, "planned")
    text = "MATCH (c:Change) WHERE c.kind IN ['activate', 'rollback'] RETURN DISTINCT c.kind AS kind, c.actor AS actor"
    actors = {row["kind"]: row["actor"] for row in rows(live.driver, text)}
    assert actors["rollback"] == "second operator" != actors["activate"]
    assert stored(live, found).keys().isdisjoint({"returning", "returned_by", "paused"})


def test_who_has_lost_an_activation_leaves_the_links_of_before_to_the_heir(
    live: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = planned(live, "treept")["id"]
    kept = min(live.stored_links())
    clear = store.clear_candidates

    async def stolen(*given: Any, **named: Any) -> None:
        """Another process takes it over, and keeps links, before the first batch of ours."""
        text = (
            "MATCH (r:Rebuild {id: $id}), (a:Broker {id: $a}), (b:Broker {id: $b}) "
            "SET r.owner = 'thief', r.heartbeat_at = datetime() + duration('PT1H') "
            "CREATE (a)-[:CANDIDATE {rebuild: $id + ' before'}]->(b)"
        )
        rows(live.driver, text, id=found, a=kept[0], b=kept[1])
        await clear(*given, **named)

    monkeypatch.setattr(store, "clear_candidates", stolen)
    live.ask("POST", "rebuilds", found, "activate", status=202)
    wait_until(lambda: live.client.app.state.rebuilds.activating is None)  # type: ignore[attr-defined]
    assert candidates(live, f"{found} before") == {kept}
    assert stored(live, found)["owner"] == "thief"


def test_a_drop_under_way_is_not_overtaken_by_an_activation(live: Served) -> None:
    found = planned(live, "treept")["id"]
    blocked = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN status"
    with ThreadPoolExecutor(1) as pool, live.driver.session() as session:
        drop = session.begin_transaction()
        drop.run("MATCH (r:Rebuild {id: $id}) SET r.state = 'dropped'", id=found).consume()
        answer = pool.submit(live.ask, "POST", "rebuilds", found, "activate", status=409)
        wait_until(lambda: bool(rows(live.driver, blocked)))
        drop.commit()
        assert "is dropped; only one that is planned can be activated" in answer.result()["detail"]
    assert stored(live, found)["state"] == "dropped"


def test_whoever_could_not_hear_neo4j_does_not_call_others_silent(
    live: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "SECONDS_UNTIL_SILENT", 3600)
    rebuilds = live.client.app.state.rebuilds  # type: ignore[attr-defined]
    wait_until(lambda: rebuilds._answered_at is not None)
    rebuilds._answered_at -= 60  # as if there had been no answer since
    wait_until(lambda: rebuilds._hears_since > 0)
    text = (
        "CREATE (:Rebuild {id: 'its', state: 'running', owner: 'the other', engine: 'local', algorithm: 'gm', params: '{}', "
        "actor: 'somebody', base_version: 1, created_at: datetime(), heartbeat_at: datetime() - duration({hours: 2})})"
    )
    rows(live.driver, text)
    assert live.ask("GET", "rebuilds", "its")["state"] == "running"
    monkeypatch.setattr(store, "SECONDS_UNTIL_SILENT", 0)  # it had its time
    wait_until(lambda: stored(live, "its")["state"] == "failed")


def test_a_turn_that_came_unheard_is_heard_of_again(live: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection breaks while the transaction commits: its outcome is not known, and it is not tried again."""
    write, lost = Database.write, list[str]()

    async def broken(self: Database, name: str, /, **parameters: Any) -> list[neo4j.Record]:
        found = await write(self, name, **parameters)
        if name == "rebuild/begin_computing" and not lost:
            assert found
            lost.append(parameters["id"])
            raise ServiceUnavailable("the connection broke")
        return found

    monkeypatch.setattr(Database, "write", broken)
    monkeypatch.setattr(jobs, "SECONDS_BETWEEN_TRIES", 0.05)
    asked = [live.ask("POST", "rebuilds", json={"algorithm": "gm"}, status=202)["id"] for _ in range(2)]
    for rebuild in asked:
        wait_for(live, rebuild, "planned")
    assert lost == asked[:1]
