"""Policy, leases, acknowledgements and failures through the API on a real Neo4j."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import neo4j
import pytest
from fastapi import FastAPI
from neo4j.exceptions import ServiceUnavailable

from algorithms import Interests, Overlay
from algorithms.completion import missing_links
from algorithms.live import LiveOverlay, leave
from backend.api import policy as policy_routes
from backend.live import group
from backend.live import replica as live_replica
from backend.live import writer as live_writer
from backend.live.proposal import Proposal, planner
from backend.policy import Policy
from backend.store import commit as commit_store
from backend.store.overlay import failures_of, read_policy
from tests.backend.conftest import rows
from tests.backend.live import Served, served
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j


@pytest.fixture
def live(neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path) -> Iterator[Served]:
    with served(neo4j_server, database, tmp_path) as opened:
        for i in range(8):
            opened.join(f"b{i}", "all", f"t{i % 3}")
        yield opened


def stored(live: Served) -> Overlay:
    return Overlay.from_names(Interests.from_mapping(live.stored_interests()), live.stored_links())


def until(true: Callable[[], Any], patience: float = 120) -> None:
    """Wait for what a slow machine may take long for."""
    deadline = time.monotonic() + patience
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def once(before: Callable[[], object], real: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, with something that happens before its first call."""
    waiting = [before]

    def called(*given: Any, **named: Any) -> Any:
        if waiting:
            waiting.pop()()
        return real(*given, **named)

    return called


def test_raising_k_shows_its_plan_and_keeps_its_promise(
    live: Served, neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path
) -> None:
    assert live.ask("GET", "policy") == Policy().properties()
    plan = live.ask("PUT", "policy", json={"k": 2}, params={"dry_run": "true"})
    assert plan["dry_run"]
    assert live.version == 8
    assert not stored(live).is_ktco(2)
    done = live.ask("PUT", "policy", json={"k": 2, "lambda": 4})
    assert done["opened"] == plan["opened"]
    assert done["version"] == live.version == 9
    assert stored(live).is_ktco(2)
    (record,) = rows(
        live.driver,
        "MATCH (c:Change {kind: 'policy'}) RETURN c.policy_before AS before, c.policy_after AS after",
    )
    assert json.loads(record["before"]) == {"k": 1, "lambda": 3}
    assert json.loads(record["after"]) == {"k": 2, "lambda": 4}
    manager = cast(FastAPI, live.client.app).state.manager
    (fed,) = manager.feed.after(8)
    (told,) = live.ask("GET", "changes", params={"after": 8})["items"]
    assert told["policy_before"] == fed.policy_before == {"k": 1, "lambda": 3}
    assert told["policy_after"] == fed.policy_after == {"k": 2, "lambda": 4}
    live.join("late", "all")
    live.leave("b0")
    assert stored(live).is_ktco(2)
    assert live.ask("GET", "overlay")["topics_below_k"] == 0
    with served(neo4j_server, database, tmp_path) as other:
        assert other.ask("GET", "policy") == live.ask("GET", "policy")
    assert live.ask("PUT", "policy", json={"k": 2})["version"] == live.version, (
        "nothing to change, no version"
    )


@pytest.mark.parametrize(
    ("body", "field"),
    [({"k": 3}, "k"), ({"rho": 0.5}, "rho"), ({"lambda": 0}, "lambda"), ({"algorithm": "magic"}, "algorithm"),
     ({"lease_brake": 2}, "lease_brake"), ({"colour": 1}, "colour"), ({"strategy": "hope"}, "strategy"),
     ({"k": None}, "k"), ({"rho": 2, "lambda": None}, "lambda"), ({"algorithm": None}, "algorithm")],
)  # fmt: skip
def test_a_bad_policy_is_named(live: Served, body: dict[str, object], field: str) -> None:
    assert live.ask("PUT", "policy", json=body, status=422)["field"] == field
    assert live.ask("GET", "policy") == Policy().properties()


def test_an_expired_lease_is_a_leave_and_a_heartbeat_renews_it(live: Served) -> None:
    for broker, ttl in (("brief", 1), ("steady", 8)):
        body = {"id": broker, "topics": ["all"], "ttl_seconds": ttl}
        live.ask("POST", "brokers", json=body, status=201)

    def brief_has_left() -> bool:
        assert live.ask("POST", "brokers", "steady", "heartbeat")["ttl_seconds"] == 8
        return "brief" not in live.stored_interests()

    until(brief_has_left)
    assert "steady" in live.stored_interests()
    (record,) = rows(
        live.driver, "MATCH (c:Change {kind: 'expire'}) RETURN c.actor AS actor, c.broker AS broker"
    )
    assert record == {"actor": "lease", "broker": "brief"}
    assert stored(live).is_tco()
    assert live.ask("POST", "brokers", "b1", "heartbeat", status=422)["field"] == "ttl_seconds"
    assert live.ask("POST", "brokers", "nobody", "heartbeat", status=404)["field"] == "broker"


def test_a_lease_ends_with_its_broker(live: Served) -> None:
    """Who comes back under the same id has joined without one."""
    agents = live.client.app.state.agents  # type: ignore[attr-defined]
    body = {"id": "again", "topics": ["all"], "ttl_seconds": 30}
    lease = "MATCH (b:Broker {id: 'again'}) RETURN b.lease_until AS until, b.acked AS acked"
    for _ in range(3):  # the round that writes renewals may come between
        version = live.ask("POST", "brokers", json=body, status=201)["version"]
        live.ask("POST", "brokers", "again", "heartbeat")
        live.ask("POST", "brokers", "again", "acks", json={"version": version})
        live.leave("again")
        live.join("again", "all")
        until(lambda: not agents._renewed and not agents._acked)
        time.sleep(0.2)  # what was taken out to be written is there by then
        assert rows(live.driver, lease) == [{"until": None, "acked": None}]
        told = live.ask("GET", "brokers", "again")
        assert (told["lease"], told["acked"]) == (None, None)
        live.leave("again")


def test_what_another_process_committed_a_moment_ago_can_be_acknowledged(
    live: Served,
    neo4j_server: Neo4jServer,
    database: neo4j.Driver,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live_writer, "SECONDS_BETWEEN_LOOKS", 3600.0)
    with served(neo4j_server, database, tmp_path) as other:
        for asked in ("acks", "heartbeat"):
            body = {"id": f"new {asked}", "topics": ["all"], "ttl_seconds": 60}
            version = live.ask("POST", "brokers", json=body, status=201)["version"]
            said = {"version": version} if asked == "acks" else None
            other.ask("POST", "brokers", f"new {asked}", asked, json=said)
        assert (
            other.ask("POST", "brokers", "b1", "acks", json={"version": version + 1}, status=422)["field"]
            == "version"
        )


def test_mass_expiry_is_braked(live: Served) -> None:
    live.ask("PUT", "policy", json={"lease_brake": 0.1})
    # One batch: leases that end one after the other, on a slow machine, would be few enough for the brake.
    batch = [{"op": "join", "broker": f"leased {i}", "topics": ["all"], "ttl_seconds": 1} for i in range(8)]
    live.ask("POST", "changes", json=batch)
    until(lambda: live.ask("GET", "overlay")["alarms"])
    assert "\ntopicweave_lease_brake 1.0" in live.client.get("/metrics").text
    assert len(live.stored_interests()) == 16
    for i in range(8):
        live.ask("POST", "brokers", f"leased {i}", "heartbeat", json={"ttl_seconds": 600})
    until(lambda: not live.ask("GET", "overlay")["alarms"])
    assert "\ntopicweave_lease_brake 0.0" in live.client.get("/metrics").text


def test_the_brake_counts_what_another_process_let_expire(
    live: Served, neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path
) -> None:
    """Each sees the same leases run out: two that let a share of them go each would let twice as many go."""
    with served(neo4j_server, database, tmp_path) as other:
        writer = other.client.app.state.manager.writer  # type: ignore[attr-defined]

        async def expire(broker: str) -> None:
            plan = planner(lambda overlay: overlay.plan(leave(broker)))
            await writer.submit(Proposal("expire", "lease", plan, broker=broker))

        for broker in ("b1", "b2", "b3"):
            assert other.client.portal is not None
            other.client.portal.call(expire, broker)
        until(lambda: live.version == other.version)
        live.ask("POST", "brokers", json={"id": "leased", "topics": ["all"], "ttl_seconds": 1}, status=201)
        until(lambda: live.ask("GET", "overlay")["alarms"])
        assert "leased" in live.stored_interests()


def test_a_process_that_stood_still_gives_every_lease_a_full_term(live: Served) -> None:
    body = {"id": "leased", "topics": ["all"], "ttl_seconds": 600}
    live.ask("POST", "brokers", json=body, status=201)
    before = live.ask("GET", "brokers", "leased")["lease"]["until"]
    agents = live.client.app.state.agents  # type: ignore[attr-defined]
    agents._ticked_at = datetime.now(UTC) - timedelta(minutes=5)
    until(lambda: live.ask("GET", "brokers", "leased")["lease"]["until"] > before)


def test_acknowledgements_are_kept(
    live: Served, neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path
) -> None:
    assert live.ask("POST", "brokers", "b1", "acks", json={"version": 7}) == {"acked": 7}
    assert live.ask("POST", "brokers", "b1", "acks", json={"version": 3}) == {"acked": 7}
    assert live.ask("POST", "brokers", "b1", "acks", json={"version": 700}, status=422)["field"] == "version"
    text = "MATCH (b:Broker {id: 'b1'}) RETURN b.acked AS acked"
    until(lambda: rows(live.driver, text) == [{"acked": 7}])
    with served(neo4j_server, database, tmp_path) as again:
        assert again.ask("GET", "brokers", "b1")["acked"] == 7


def test_a_link_that_cannot_be_opened_is_planned_around(
    live: Served, neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path
) -> None:
    a, b = min(live.stored_links())
    body = {"link": [a, b], "reason": "connection refused"}
    done = live.ask("POST", "brokers", a, "failures", json=body)
    assert [a, b] in done["closed"]
    assert (a, b) not in live.stored_links()
    assert stored(live).is_tco()
    for end in (a, b):
        assert live.ask("GET", "brokers", end)["failures"][0]["reason"] == "connection refused"
    assert live.ask("GET", "overlay")["failures"] == {"reports": 1, "brokers": [a, b]}
    assert live.ask("POST", "brokers", a, "failures", json=body, status=404)["field"] == "link"
    body["link"] = ["x", "y"]
    assert live.ask("POST", "brokers", a, "failures", json=body, status=422)["field"] == "link"
    with served(neo4j_server, database, tmp_path) as again:
        assert again.ask("GET", "brokers", a)["failures"][0]["link"] == [a, b]
        assert again.ask("GET", "overlay")["failures"]["reports"] == 1
        again.leave(b)
        assert again.ask("GET", "overlay")["failures"] == {"reports": 1, "brokers": [a]}


def test_a_failed_link_that_nothing_can_replace_stays_and_is_shown(live: Served) -> None:
    live.join("one", "for two")
    before = live.join("two", "for two")["version"]
    body = {"link": ["one", "two"], "reason": "no route"}
    dry = live.ask("POST", "brokers", "two", "failures", json=body, params={"dry_run": True}, status=409)
    assert (dry["field"], live.version) == ("link", before)
    refused = live.ask("POST", "brokers", "two", "failures", json=body, status=409)
    assert "no other way" in refused["detail"]
    assert ("one", "two") in live.stored_links()
    for end in ("one", "two"):
        assert [told["reason"] for told in live.ask("GET", "brokers", end)["failures"]] == ["no route"]
    assert live.ask("GET", "overlay")["failures"]["reports"] == 1
    (change,) = live.ask("GET", "changes", params={"after": before})["items"]
    assert (change["kind"], change["broker"], change["closed"]) == ("failure", "two", [])
    # An agent goes on trying; only what is new makes a version.
    for end in ("one", "two"):
        again = live.ask("POST", "brokers", end, "failures", json=body, status=409)
        assert (again["detail"], live.version) == (refused["detail"], before + 1)
    live.ask("POST", "brokers", "two", "failures", json={**body, "reason": "refused"}, status=409)
    assert live.version == before + 2
    live.join("three", "for two")
    assert ["one", "two"] in live.ask("POST", "brokers", "two", "failures", json=body)["closed"]
    assert live.ask("GET", "check")["good"]


def test_failures_of_one_broker_that_come_together_are_all_kept(
    live: Served,
    neo4j_server: Neo4jServer,
    database: neo4j.Driver,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for spoke in "pqrs":
        live.join(spoke, f"with {spoke}", "all")
    live.join("hub", *(f"with {spoke}" for spoke in "pqrs"), "all")
    for spoke in "pqrs":  # somebody else has to be there
        live.join(f"{spoke}'s other", f"with {spoke}")
    noted = [{"link": ["hub", "long ago"], "reason": "r", "at": "2026-01-01T00:00:00.000000Z"}]
    text = "MATCH (b:Broker {id: 'hub'}) SET b.failures = $failures"
    rows(live.driver, text, failures=json.dumps(noted))  # as it was written before there were lists
    links = sorted(link for link in live.stored_links() if "hub" in link)[:2]
    groups: list[int] = []
    take, busy, gate = group.Attempt.commit, threading.Event(), threading.Event()

    def commit(attempt: group.Attempt, base: int) -> Any:
        groups.append(len(attempt.planned))
        return take(attempt, base)

    async def held(*given: Any) -> bool:
        busy.set()
        while not gate.wait(0):
            await asyncio.sleep(0.01)
        return await commit_store.commit_at(*given)

    monkeypatch.setattr(group.Attempt, "commit", commit)
    monkeypatch.setattr(live_writer, "commit_at", held)

    def report(link: tuple[str, str]) -> Any:
        body = {"link": list(link), "reason": f"no route {link}"}
        return live.ask("POST", "brokers", "hub", "failures", json=body)

    with ThreadPoolExecutor(3) as pool:
        try:
            first = pool.submit(live.join, "in front", "all")
            assert busy.wait(60)
            told = [pool.submit(report, link) for link in links]
            manager = cast(FastAPI, live.client.app).state.manager
            until(lambda: manager.writer.queue_length == 2, 60)
        finally:
            gate.set()
        first.result()
        replaced = [tuple(link) for one in told for link in one.result()["opened"]]
    assert groups == [1, 1, 1], "each is planned when those before it are committed"
    assert not set(replaced) & set(links), "no link that failed replaces another"
    reasons = {f"no route {link}" for link in links} | {"r"}
    (found,) = rows(live.driver, "MATCH (b:Broker {id: 'hub'}) RETURN b.failures AS failures")
    assert {told["reason"] for told in failures_of(found["failures"])} == reasons
    with served(neo4j_server, database, tmp_path) as again:
        assert {told["reason"] for told in again.ask("GET", "brokers", "hub")["failures"]} == reasons


def test_links_that_both_fail_do_not_replace_each_other(live: Served) -> None:
    for broker in ("p", "q", "r", "s"):
        live.join(broker, "one more topic")
    a, b = next(link for link in live.stored_links() if set(link) <= set("pqrs"))
    failed = set()
    for _ in range(2):  # one alone at its end has three others
        body = {"link": [a, b], "reason": "no route"}
        done = live.ask("POST", "brokers", a, "failures", json=body)
        failed.add((a, b))
        ((a, b),) = done["opened"]
        assert (a, b) not in failed


def test_prune_closes_what_no_topic_needs(live: Served) -> None:
    live.ask("PUT", "policy", json={"k": 2})
    live.ask("PUT", "policy", json={"k": 1})
    plan = live.ask("POST", "prune", params={"dry_run": "true"})
    done = live.ask("POST", "prune")
    assert done["closed"] == plan["closed"] != []
    assert stored(live).is_tco()
    assert live.ask("POST", "prune")["version"] == done["version"]


def test_what_another_process_changes_meanwhile_is_not_torn(
    live: Served,
    neo4j_server: Neo4jServer,
    database: neo4j.Driver,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with served(neo4j_server, database, tmp_path) as other:

        def between() -> None:
            other.join(f"late {other.version}", "all", "t0", "t1", "t2")

        monkeypatch.setattr(policy_routes, "missing_links", once(between, missing_links))
        assert live.ask("PUT", "policy", json={"k": 2})["version"] == 10
        assert stored(live).is_ktco(2)
        live.ask("PUT", "policy", json={"k": 1})
        monkeypatch.setattr(LiveOverlay, "plan_prune", once(between, LiveOverlay.plan_prune))
        assert live.ask("POST", "prune")["closed"]
        assert stored(live).is_tco()
        monkeypatch.setattr(LiveOverlay, "plan_prune", once(between, LiveOverlay.plan_prune))
        if_match = {"If-Match": f'"{live.version}"'}
        assert live.ask("POST", "prune", headers=if_match, status=412)["field"] == "If-Match"


def test_another_process_follows_policy_attributes_and_leases(
    live: Served,
    neo4j_server: Neo4jServer,
    database: neo4j.Driver,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def away() -> None:
        raise ServiceUnavailable

    with served(neo4j_server, database, tmp_path) as other:
        monkeypatch.setattr(live_replica, "read_policy", once(away, read_policy))
        live.ask("PUT", "policy", json={"rho": 2.5})
        until(lambda: other.ask("GET", "policy")["rho"] == 2.5)
        body = {"id": "n", "topics": ["all"], "attributes": {"rack": 7}, "ttl_seconds": 2}
        version = live.ask("POST", "brokers", json=body, status=201)["version"]
        ending = time.monotonic() + 7
        while time.monotonic() < ending:
            live.ask("POST", "brokers", "n", "heartbeat")
            time.sleep(0.3)
        told = other.ask("GET", "brokers", "n")
        assert told["attributes"] == {"rack": 7}
        assert told["lease"]["ttl_seconds"] == 2
        assert other.version == version, "it was heard of elsewhere"
        assert other.ask("GET", "check")["good"]
