"""Rebuilds on a real Neo4j: planned beside the live overlay, activated and rolled back while churn goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import neo4j
import pytest

from algorithms import Interests, Overlay, build
from algorithms.analysis import measure
from algorithms.workloads import generate
from backend import drift
from backend.rebuilds import activation
from backend.rebuilds.rebuild import links_before
from tests.backend.conftest import rows
from tests.backend.held_api import note_ends
from tests.backend.live import KEY, Served, served
from tests.backend.targets import History
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j

INTERESTS = generate(brokers=60, topics=15, subscriptions=4, seed=1)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Each moment in which an activation waits, as it comes: whether it is paused."""
    found: list[bool] = []
    pause = activation.Activator._pause

    async def noted(self: activation.Activator, seconds: float) -> None:
        found.append(self._activation.paused)
        await pause(self, seconds)

    monkeypatch.setattr(activation, "SECONDS_BETWEEN_LOOKS", 0.05)
    monkeypatch.setattr(activation.Activator, "_pause", noted)
    return found


@pytest.fixture
def live(neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path) -> Iterator[Served]:
    with served(neo4j_server, database, tmp_path) as opened:
        fill(opened)
        yield opened


def fill(live: Served) -> None:
    batch = [
        {"op": "join", "broker": broker, "topics": INTERESTS.topics_of(broker)}
        for broker in INTERESTS.brokers
    ]
    live.ask("POST", "changes", json=batch)


def wait_for(live: Served, rebuild: str, *states: str) -> dict[str, Any]:
    deadline = time.monotonic() + 180
    while True:
        found: dict[str, Any] = live.ask("GET", "rebuilds", rebuild)
        if found["state"] in states:
            return found
        assert found["state"] not in ("failed", "dropped"), found["error"]
        assert time.monotonic() < deadline, found
        time.sleep(0.1)


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.05)


def candidates(live: Served, rebuild: str) -> set[tuple[str, str]]:
    """The links of a plan, or those kept for its rollback."""
    text = "MATCH (a)-[:CANDIDATE {rebuild: $rebuild}]->(b) RETURN a.id AS a, b.id AS b"
    return {(row["a"], row["b"]) for row in rows(live.driver, text, rebuild=rebuild)}


def planned(live: Served, algorithm: str = "gm", **params: Any) -> dict[str, Any]:
    request = {"algorithm": algorithm, "params": params}
    asked = live.ask("POST", "rebuilds", json=request, status=202)
    return wait_for(live, asked["id"], "planned")


def check_every_version(live: Served) -> None:
    """Backwards from the live overlay through the records: each version is topic-connected."""
    interests = {broker: set(topics) for broker, topics in live.stored_interests().items()}
    links = live.stored_links()
    text = "MATCH (c:Change) RETURN properties(c) AS c ORDER BY c.version DESC"
    for row in rows(live.driver, text):
        assert Overlay.from_names(
            Interests.from_mapping({b: sorted(t) for b, t in interests.items()}), links
        ).is_tco()
        change = row["c"]
        opened = set(zip(change["opened_a"], change["opened_b"], strict=True))
        closed = set(zip(change["closed_a"], change["closed_b"], strict=True))
        assert opened <= links
        assert not closed & links
        links = (links - opened) | closed
        for broker in change["left"]:
            interests[broker] = set()
        for pair, back in (
            (("subscribed_broker", "subscribed_topic"), False),
            (("unsubscribed_broker", "unsubscribed_topic"), True),
        ):
            for broker, topic in zip(change[pair[0]], change[pair[1]], strict=True):
                (interests[broker].add if back else interests[broker].remove)(topic)
        for broker in change["joined"]:
            del interests[broker]


def measured(live: Served, links: set[tuple[str, str]]) -> dict[str, Any]:
    """The figures of a plan for links of the live brokers, worked out from what is stored."""
    found = measure(Overlay.from_names(Interests.from_mapping(live.stored_interests()), links))
    return {
        "links": found.links,
        "average_degree": found.average_degree,
        "max_degree": found.max_degree,
        "mean_diameter": found.topic_diameter_mean,
        "max_diameter": found.topic_diameter_max,
        "diameters_sampled": found.topic_diameters_sampled,
        "topics_apart": found.topics_apart,
        "degree_histogram": [list(row) for row in sorted(found.degree_histogram.items())],
    }


def most_changed(before: set[tuple[str, str]], after: set[tuple[str, str]]) -> list[dict[str, Any]]:
    """The brokers that a plan changes most, equals by their names, counted link by link."""
    counts: dict[str, dict[str, Any]] = {}
    for name, links in (
        ("opened", after - before),
        ("closed", before - after),
        ("degree_before", before),
        ("degree_after", after),
    ):
        for broker in INTERESTS.brokers:
            counts.setdefault(broker, {"broker": broker})[name] = sum(broker in link for link in links)
    changed = [found for found in counts.values() if found["opened"] + found["closed"]]
    return sorted(changed, key=lambda found: (-found["opened"] - found["closed"], found["broker"]))[:20]


def most_links(live: Served, links: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The links that were open when an activation, which began with these, began to close."""
    text = "MATCH (c:Change {kind: 'activate'}) RETURN properties(c) AS c ORDER BY c.version"
    for row in rows(live.driver, text):
        if row["c"]["closed_a"]:
            break
        links = links | set(zip(row["c"]["opened_a"], row["c"]["opened_b"], strict=True))
    return links


def test_a_plan_is_what_activation_makes_of_it_and_rollback_undoes_it(live: Served) -> None:
    before = live.stored_links()
    version = live.version
    found = planned(live, "gm2")
    plan = found["plan"]
    assert live.version == version, "a plan changes nothing"
    assert live.stored_links() == before
    assert plan["kept"] + plan["closed"] == plan["before"]["links"] == len(before)
    assert plan["kept"] + plan["opened"] == plan["after"]["links"] == plan["links"]
    assert plan["peak"]["links"] == plan["kept"] + plan["opened"] + plan["closed"]
    candidates = rows(live.driver, "MATCH ()-[c:CANDIDATE]->() RETURN count(c) AS n")[0]["n"]
    assert candidates == plan["links"]
    live.ask("POST", "rebuilds", found["id"], "activate", status=202)
    active = wait_for(live, found["id"], "active")
    overlay = live.ask("GET", "overlay")
    for name in ("links", "average_degree", "max_degree", "degree_histogram"):
        assert overlay[name] == plan["after"][name], name
    assert measured(live, before) == plan["before"]
    assert measured(live, most_links(live, before)) == plan["peak"]
    assert measured(live, live.stored_links()) == plan["after"]
    assert plan["most_changed"] == most_changed(before, live.stored_links())
    assert active["activation"]["phase"] == "done"
    assert live.ask("POST", "rebuilds", found["id"], "activate", status=409)["field"] == "rebuild"
    live.ask("POST", "rebuilds", found["id"], "rollback", status=202)
    wait_for(live, found["id"], "planned")
    assert live.stored_links() == before
    assert live.ask("POST", "rebuilds", found["id"], "rollback", status=409)["field"] == "rebuild"
    check_every_version(live)
    live.ask("DELETE", "rebuilds", found["id"])
    assert rows(live.driver, "MATCH ()-[c:CANDIDATE]->() RETURN c") == []
    assert live.ask("GET", "rebuilds", found["id"])["state"] == "dropped"


def test_churn_goes_on_during_activation(live: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(activation, "LINKS_A_BATCH", 3)
    monkeypatch.setattr(activation, "SECONDS_BETWEEN_LOOKS", 0.05)
    noted: dict[str, int] = {}
    note_ends(monkeypatch.setattr, noted.update)
    found, other = planned(live, "degree-cover", k=2), planned(live, "gm")
    target = candidates(live, found["id"])
    # It cannot end before we let it: an agent is late, and stays.
    live.ask("PUT", "policy", json={"settle_seconds": 3600})
    live.ask("POST", "brokers", INTERESTS.brokers[-1], "acks", json={"version": 0})
    live.ask("POST", "rebuilds", found["id"], "activate", status=202)

    def churn(i: int) -> None:
        live.join(f"new{i}", *INTERESTS.topics[i % 5 : i % 5 + 3])
        live.leave(INTERESTS.brokers[i])

    def check_end(links: set[tuple[str, str]]) -> None:
        history = History(live.driver)
        history.check()
        there = history.states[noted["ended"]].links
        assert there == history.target(links, noted["prepared"], noted["ended"])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(churn, range(6)))
        problem = live.ask("POST", "rebuilds", other["id"], "activate", status=409)
        assert found["id"] in problem["detail"]
        live.ask("PUT", "policy", json={"settle_seconds": 0})
        list(pool.map(churn, range(6, 12)))
    wait_for(live, found["id"], "active")
    check_end(target)
    before = candidates(live, links_before(found["id"]))
    states = list(History(live.driver).states.values())
    # Of one version, but for those who have left since.
    here = states[0].brokers
    assert before in [{link for link in state.links if here.issuperset(link)} for state in states]
    live.ask("POST", "rebuilds", found["id"], "rollback", status=202)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda i: live.leave(f"new{i}"), range(12)))
    wait_for(live, found["id"], "planned")
    check_end(before)


def test_paused_resumed_and_cancelled(
    live: Served, looks: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activation, "LINKS_A_BATCH", 1)
    before = live.stored_links()
    found = planned(live, "gm2")
    live.ask("POST", "rebuilds", found["id"], "activate", status=202)
    assert live.ask("POST", "rebuilds", found["id"], "pause")["activation"]["paused"]
    wait_until(lambda: True in looks)  # the step that was under way is over
    version, links = live.version, live.stored_links()
    seen = len(looks)
    wait_until(lambda: len(looks) > seen + 5)
    assert (live.version, live.stored_links()) == (version, links), "a paused activation changes nothing"
    assert links != candidates(live, found["id"])
    problem = live.ask("DELETE", "rebuilds", found["id"], status=409)
    assert "is activating; only one that is planned or active can be dropped" in problem["detail"]
    assert live.ask("POST", "rebuilds", found["id"], "rollback", status=409)["field"] == "rebuild"
    assert not live.ask("POST", "rebuilds", found["id"], "resume")["activation"]["paused"]
    wait_until(lambda: live.version > version)
    live.ask("POST", "rebuilds", found["id"], "pause")
    live.ask("POST", "rebuilds", found["id"], "cancel")
    told = wait_for(live, found["id"], "planned")
    assert told["activation"]["rollback"]
    assert live.stored_links() == before
    for step in ("pause", "resume", "cancel", "rollback"):
        problem = live.ask("POST", "rebuilds", found["id"], step, status=409)
        assert problem["field"] == "rebuild"
        assert "is planned" in problem["detail"]
    check_every_version(live)


def test_two_activations_at_once_are_refused_by_name(live: Served) -> None:
    first, second = planned(live, "gm2"), planned(live, "treept")
    live.ask("PUT", "policy", json={"settle_seconds": 3600})
    live.ask(
        "POST", "brokers", INTERESTS.brokers[0], "acks", json={"version": 0}
    )  # it has an agent that is late
    live.ask("POST", "rebuilds", first["id"], "activate", status=202)
    problem = live.ask("POST", "rebuilds", second["id"], "activate", status=409)
    assert repr(first["id"]) in problem["detail"]
    assert live.ask("POST", "rebuilds", first["id"], "activate", status=409)["field"] == "rebuild"
    live.ask("POST", "rebuilds", first["id"], "cancel")
    live.ask("PUT", "policy", json={"settle_seconds": 0})
    wait_for(live, first["id"], "planned")
    live.ask("POST", "rebuilds", second["id"], "activate", status=202)
    wait_for(live, second["id"], "active")
    live.ask("POST", "rebuilds", first["id"], "activate", status=202)
    wait_for(live, first["id"], "active")
    assert live.ask("GET", "rebuilds", second["id"])["state"] == "dropped", "what was active is history"
    # The state comes first, the links of history go after it.
    wait_until(lambda: not candidates(live, second["id"]) | candidates(live, f"{second['id']} before"))
    assert live.stored_links() == candidates(live, first["id"])


def test_closing_waits_for_agents_or_the_settle_time(live: Served, looks: list[bool]) -> None:
    live.ask("PUT", "policy", json={"settle_seconds": 3600})
    found = planned(live, "treept")
    before = live.stored_links()
    opened = candidates(live, found["id"]) - before
    slow = min(min(opened))
    untouched = set(INTERESTS.brokers) - {end for link in opened for end in link}
    for agent in (slow, *sorted(untouched)[:1]):
        live.ask("POST", "brokers", agent, "acks", json={"version": live.version})
    live.ask("POST", "rebuilds", found["id"], "activate", status=202)
    wait_until(lambda: live.ask("GET", "rebuilds", found["id"])["activation"]["phase"] == "settling")
    seen = len(looks)
    wait_until(lambda: len(looks) > seen + 5)
    told = live.ask("GET", "rebuilds", found["id"])["activation"]
    assert (told["phase"], told["opened"], told["closed"]) == ("settling", len(opened), 0)
    assert live.stored_links() == before | candidates(live, found["id"])
    live.ask("POST", "brokers", slow, "acks", json={"version": live.version})
    wait_for(live, found["id"], "active")
    assert live.stored_links() == candidates(live, found["id"])
    live.ask("PUT", "policy", json={"settle_seconds": 0.2})
    live.ask("POST", "rebuilds", found["id"], "rollback", status=202)
    wait_for(live, found["id"], "planned")
    assert live.stored_links() == before


def test_a_link_that_an_agent_cannot_open_is_planned_around(live: Served) -> None:
    live.ask("PUT", "policy", json={"settle_seconds": 3600})
    found = planned(live, "gm2")
    opened = candidates(live, found["id"]) - live.stored_links()
    a, b = min(opened)
    live.ask("POST", "brokers", a, "acks", json={"version": 0})
    live.ask("POST", "rebuilds", found["id"], "activate", status=202)
    wait_until(lambda: live.ask("GET", "rebuilds", found["id"])["activation"]["phase"] == "settling")
    body = {"link": [a, b], "reason": "no route"}
    live.ask("POST", "brokers", a, "failures", json=body)
    live.ask("POST", "brokers", a, "acks", json={"version": live.version})
    wait_for(live, found["id"], "active")
    assert (a, b) not in live.stored_links()
    assert live.ask("GET", "brokers", b)["failures"][-1]["reason"] == "no route"
    live.ask("POST", "rebuilds", found["id"], "rollback", status=202)
    wait_until(lambda: live.ask("GET", "rebuilds", found["id"])["activation"]["phase"] == "settling")
    live.ask("PUT", "policy", json={"settle_seconds": 0})  # heeded by the activation that waits already
    wait_for(live, found["id"], "planned")
    live.ask("POST", "rebuilds", found["id"], "activate", status=202)
    wait_for(live, found["id"], "active")
    assert (a, b) not in live.stored_links(), "what failed since it was planned is not tried again"
    check_every_version(live)


def test_a_link_that_failed_shortly_before_the_request_is_not_opened_by_the_plan(live: Served) -> None:
    wanted = candidates(live, planned(live, "gm")["id"])

    def fails(link: tuple[str, str]) -> bool:
        body = {"link": link, "reason": "no route"}
        answer = live.client.post(f"/v1/brokers/{link[0]}/failures", headers=KEY, json=body)
        return answer.status_code == 200  # else a topic has nobody else

    failed = next(link for link in sorted(wanted & live.stored_links()) if fails(link))
    again = planned(live, "gm")["id"]
    assert failed in candidates(live, again), "the algorithm knows nothing of it"
    live.ask("POST", "rebuilds", again, "activate", status=202)
    wait_for(live, again, "active")
    assert failed not in live.stored_links()
    check_every_version(live)


def test_a_plan_below_the_policy_is_not_activated(live: Served) -> None:
    found = planned(live, "gm")
    live.ask("PUT", "policy", json={"k": 2})
    for step, body in (("activate", None), (None, {"algorithm": "gm"}), (None, {"algorithm": "weave"})):
        path = ["rebuilds", found["id"], step] if step else ["rebuilds"]
        problem = live.ask("POST", *path, json=body, status=422)
        assert problem["field"] == "params.k"
        assert "the policy promises k = 2" in problem["detail"]
    assert live.ask("GET", "rebuilds", found["id"])["state"] == "planned"


def test_a_job_whose_process_ended_has_failed(
    live: Served, neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path
) -> None:
    """What is left of rebuilds whose process died, or was stopped, or of a drop that did not come to its end."""
    record = {
        "engine": "local", "algorithm": "gm", "actor": "somebody", "base_version": 1, "params": "{}", "owner": "gone",
    }  # fmt: skip
    link = (
        "MATCH (a:Broker)-[:LINK]->(b:Broker) WITH a, b LIMIT 9 CREATE (a)-[:CANDIDATE {rebuild: $id}]->(b)"
    )
    for id_, state in (("died", "running"), ("waited", "queued"), ("dropped", "dropped")):
        text = (
            "CREATE (r:Rebuild) SET r = $record, r.created_at = datetime(), "
            "r.heartbeat_at = datetime() - duration({minutes: 1})"
        )
        rows(database, text, record={**record, "id": id_, "state": state})
        rows(database, link, id=id_)
        rows(database, link, id=f"{id_} before")
    for id_ in ("died", "waited"):
        told = live.ask("GET", "rebuilds", id_)
        assert (told["state"], told["error"]) == ("failed", "the API process that ran it ended before it did")
    with served(neo4j_server, database, tmp_path / "other") as other:
        wait_until(lambda: not any(candidates(other, id_) for id_ in ("died", "waited", "dropped")))
        wait_until(lambda: not candidates(other, "dropped before"))
        running = other.ask("POST", "rebuilds", json={"algorithm": "weave"}, status=202)
        waiting = other.ask("POST", "rebuilds", json={"algorithm": "gm"}, status=202)
        wait_until(lambda: live.ask("GET", "rebuilds", running["id"])["state"] == "running")
        assert live.ask("GET", "rebuilds", waiting["id"])["state"] == "queued"
        live.ask("POST", "rebuilds", waiting["id"], "cancel")
        wait_until(lambda: live.ask("GET", "rebuilds", waiting["id"])["state"] == "cancelled")
    stored = {
        row["id"]: (row["state"], row["error"])
        for row in rows(database, "MATCH (r:Rebuild) RETURN r.id AS id, r.state AS state, r.error AS error")
    }
    assert stored["died"][0] == stored["waited"][0] == "failed"
    assert stored[running["id"]] in (
        ("failed", "the API was stopped before it was done"),
        ("planned", None),
    )


def test_all_processes_together_compute_one_rebuild_at_a_time(
    live: Served, neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path
) -> None:
    with served(neo4j_server, database, tmp_path / "other") as other:
        asked = [
            api.ask("POST", "rebuilds", json={"algorithm": algorithm}, status=202)["id"]
            for api, algorithm in ((live, "weave"), (other, "gm"), (live, "treept"))
        ]
        ended: list[str] = []
        deadline = time.monotonic() + 120
        while len(ended) < len(asked):
            assert time.monotonic() < deadline, ended
            text = "MATCH (r:Rebuild) RETURN r.id AS id, r.state AS state"
            states = {row["id"]: row["state"] for row in rows(database, text)}
            assert sum(state == "running" for state in states.values()) <= 1, states
            ended += [id_ for id_ in asked if states[id_] == "planned" and id_ not in ended]
            time.sleep(0.05)
        assert ended == asked, "in the order in which they were asked for"


def test_drift_is_told_against_the_algorithm_of_the_policy(
    live: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drift, "SECONDS_BETWEEN_ESTIMATES", 0.0)

    def told(algorithm: str) -> dict[str, Any]:
        """The estimate of this very version."""
        wait_until(lambda: (live.ask("GET", "overlay")["drift"] or {}).get("version") == live.version)
        found = live.ask("GET", "overlay")
        overlay = Overlay.from_names(Interests.from_mapping(live.stored_interests()), live.stored_links())
        fresh = build(algorithm, overlay.interests).average_degree
        assert found["drift"]["drift"] == pytest.approx(overlay.average_degree / fresh - 1)
        assert (found["drift"]["algorithm"], found["drift"]["exact"]) == (algorithm, True)
        return dict(found["drift"])

    told("weave")
    live.ask("PUT", "policy", json={"algorithm": "treept", "drift_threshold": 0})
    live.join("one more", "t0")
    assert not told("treept")["advised"], "treept has more links than what is there"
    live.ask("PUT", "policy", json={"algorithm": "weave"})
    for i in range(8):
        live.join(f"new-{i}", *INTERESTS.topics[i : i + 5])
    found = told("weave")
    assert found["drift"] > 0
    assert found["advised"]


def test_an_activation_makes_the_drift_old(live: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drift, "SECONDS_BETWEEN_ESTIMATES", 0.0)
    monkeypatch.setattr(drift, "SECONDS_BETWEEN_LOOKS", 0.1)
    wait_until(lambda: live.ask("GET", "overlay")["drift"] is not None)
    monkeypatch.setattr(drift, "SHARE_CHANGED", 0.25)  # fifteen versions, or a quarter of the links
    found = planned(live, "hararypt", k=4)
    live.ask("POST", "rebuilds", found["id"], "activate", status=202)
    wait_for(live, found["id"], "active")
    grown = found["plan"]["after"]["average_degree"] / found["plan"]["before"]["average_degree"]
    assert grown > 1.25

    def follows() -> bool:
        told = live.ask("GET", "overlay")
        then = told["drift"]["fresh_degree"] * (1 + told["drift"]["drift"])
        return bool(abs(then / told["average_degree"] - 1) < 0.25)

    wait_until(follows)


def test_a_sticky_rebuild_of_a_2_connected_overlay(live: Served, looks: list[bool]) -> None:
    live.ask("PUT", "policy", json={"k": 2})
    before = live.stored_links()
    fresh = planned(live, "weave", k=2)
    sticky = planned(live, "weave", k=2, keep=0.5)
    assert sticky["plan"]["kept"] > fresh["plan"]["kept"]
    curve = {row["keep"]: row for row in sticky["plan"]["keep_curve"]}
    for keep in (0.0, 0.25, 0.5, 1.0):
        overlay = build("weave", INTERESTS, earlier=Overlay.from_names(INTERESTS, before), k=2, keep=keep)
        links = set(overlay.link_names())
        assert curve[keep] == {
            "keep": keep,
            "links": len(links),
            "opened": len(links - before),
            "closed": len(before - links),
            "average_degree": overlay.average_degree,
            "max_degree": overlay.max_degree,
        }
    assert curve[0.5]["opened"] == sticky["plan"]["opened"]
    live.ask("POST", "rebuilds", sticky["id"], "activate", status=202)
    wait_for(live, sticky["id"], "active")
    after = live.stored_links()
    assert after == candidates(live, sticky["id"])
    assert (len(after - before), len(before - after)) == (sticky["plan"]["opened"], sticky["plan"]["closed"])
    assert Overlay.from_names(INTERESTS, after).is_ktco(2)


REFUSED: tuple[tuple[dict[str, Any], str], ...] = (
    ({"algorithm": "magic"}, "algorithm"),
    ({"algorithm": "gm", "params": {"k": 2}}, "k"),
    ({"algorithm": "hararypt", "params": {"k": 0}}, "k"),
    ({"algorithm": "gm", "engine": "abacus"}, "engine"),
    ({"algorithm": "low-oda", "engine": "spark"}, "algorithm"),
    ({"algorithm": "gm", "seed": -1}, "seed"),
    ({"algorithm": "gm", "params": {"seed": 3}}, "params.seed"),
    ({"algorithm": "weave", "params": {"keep": -1}}, "keep"),
    ({"algorithm": "weave", "params": {"keep": 1e9, "k": 2}}, "keep"),
    ({"algorithm": "weave", "params": {"delta": 0.1, "k": 2}}, "delta"),
    ({"algorithm": "weave", "params": {"shortcuts": 1, "k": 2}}, "shortcuts"),
    ({"algorithm": "low-oda", "params": {"rho": "many"}}, "rho"),
    ({"algorithm": "gm", "speed": 9}, "speed"),
    ({"algorithm": "gm", "params": {"rounds": 10**300}}, "rounds"),
    ({"algorithm": "gm2", "params": {"b": 0.5}}, "b"),
    ({"algorithm": "dc", "params": {"score": "weave", "ties": "random"}}, "ties"),
    ({"algorithm": "dc", "params": {"parts": 61}}, "parts"),
    ({"params": {}}, "algorithm"),
)


def test_what_cannot_be_rebuilt_is_refused(live: Served) -> None:
    for request, field in REFUSED:
        assert live.ask("POST", "rebuilds", json=request, status=422)["field"] == field
    assert live.ask("GET", "rebuilds")["items"] == []
    for method, *path in (
        ("GET", "no"),
        ("POST", "no", "activate"),
        ("POST", "no", "rollback"),
        ("DELETE", "no"),
    ):
        problem = live.ask(method, "rebuilds", *path, status=404)
        assert problem["detail"] == "rebuild: no such rebuild (got 'no')"


def test_a_rebuild_is_cancelled_while_it_waits(live: Served) -> None:
    first = live.ask("POST", "rebuilds", json={"algorithm": "weave"}, status=202)
    second = live.ask("POST", "rebuilds", json={"algorithm": "gm"}, status=202)
    assert live.ask("POST", "rebuilds", second["id"], "activate", status=409)["field"] == "rebuild"
    assert live.ask("POST", "rebuilds", second["id"], "cancel")["state"] == "cancelled"
    found = wait_for(live, first["id"], "planned")
    curve = found["plan"]["keep_curve"]
    assert [row["keep"] for row in curve] == sorted(row["keep"] for row in curve)
    assert {row["state"] for row in live.ask("GET", "rebuilds")["items"]} == {"planned", "cancelled"}
