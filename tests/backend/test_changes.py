"""Changes through the API on a real Neo4j: each answer is what the database holds afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import neo4j
import pytest
from neo4j.exceptions import DatabaseError

from algorithms import Interests, Overlay
from backend.live import writer
from backend.store.database import Database, Transaction
from backend.store.idempotency import find_answers
from tests.backend.conftest import rows
from tests.backend.live import KEY, Served, served
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j

DEEP: list[Any] = []
for _ in range(400):
    DEEP = [DEEP]


@pytest.fixture
def live(neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path) -> Iterator[Served]:
    with served(neo4j_server, database, tmp_path) as opened:
        yield opened


def check(live: Served) -> None:
    """The database is a TCO, the mirror tells the same, versions have no gap."""
    interests = Interests.from_mapping(live.stored_interests())
    links = live.stored_links()
    assert Overlay.from_names(interests, links).is_tco()
    answer = live.ask("GET", "overlay")
    assert (answer["links"], answer["brokers"]) == (len(links), len(interests.brokers))
    assert answer["topics"] == len(interests.topics)
    versions = [
        row["v"] for row in rows(live.driver, "MATCH (c:Change) RETURN c.version AS v ORDER BY c.version")
    ]
    assert versions == list(range(1, answer["version"] + 1))
    for broker in interests.brokers:
        told = live.ask("GET", "brokers", broker)
        assert told["topics"] == interests.topics_of(broker)
        assert {link["broker"] for link in told["links"]} == {
            end for link in links if broker in link for end in link if end != broker
        }


def test_brokers_come_subscribe_and_go(live: Served) -> None:
    assert live.ask("GET", "overlay")["version"] == 0
    assert live.join("a", "x", "y") == {
        "version": 1, "opened": [], "closed": [], "opened_reasons": [], "closed_reasons": [], "dry_run": False,
    }  # fmt: skip
    assert live.join("b", "x")["opened"] == [["a", "b"]]
    assert live.join("c", "y")["opened_reasons"] == ["connects y"]
    before = live.stored_links()
    answer = live.ask("POST", "brokers", "b", "topics", "y")
    assert answer["version"] == 4
    assert live.stored_links() == (before | {tuple(link) for link in answer["opened"]}) - {
        tuple(link) for link in answer["closed"]
    }
    assert live.ask("PUT", "brokers", "c", "topics", json={"topics": ["x", "new/one"]})["version"] == 5
    check(live)
    assert live.leave("a")["closed_reasons"][0] == "an end has left"
    check(live)
    assert live.ask("DELETE", "brokers", "c", "topics", "new/one")["version"] == 7
    assert rows(live.driver, "MATCH (t:Topic {name: 'new/one'}) RETURN t") == []
    check(live)


def test_what_changes_nothing_is_no_version(live: Served) -> None:
    live.join("a", "x")
    again = live.ask("POST", "brokers", "a", "topics", "x")
    assert (again["version"], again["opened"]) == (1, [])
    assert (
        live.ask("POST", "changes", json=[{"op": "subscribe", "broker": "a", "topics": ["x"]}])["version"]
        == 1
    )
    check(live)


def test_a_batch_is_one_version_or_none(live: Served) -> None:
    batch = [{"op": "join", "broker": name, "topics": ["x", name]} for name in ("a", "b", "c")]
    assert live.ask("POST", "changes", json=batch)["version"] == 1
    refused = [{"op": "leave", "broker": "a"}, {"op": "leave", "broker": "nobody"}]
    problem = live.ask("POST", "changes", json=refused, status=404)
    assert problem["field"] == "broker"
    assert "nobody" in problem["detail"]
    assert live.version == 1
    mixed = [{"op": "leave", "broker": "a"}, {"op": "set-topics", "broker": "b", "topics": []}]
    assert live.ask("POST", "changes", json=mixed)["version"] == 2
    check(live)


@pytest.mark.parametrize(
    ("method", "segments", "body", "status", "field"),
    [
        ("POST", ["brokers"], {"id": "a", "topics": ["x"]}, 409, "id"),
        ("POST", ["brokers"], {"id": "n", "topics": "x"}, 422, "topics"),
        ("POST", ["brokers"], {"id": "", "topics": []}, 422, "id"),
        ("POST", ["brokers"], {"id": "n", "topics": ["bad\u0000"]}, 422, "topics"),
        ("POST", ["brokers"], {"id": "n", "topics": [], "colour": "red"}, 422, "colour"),
        ("POST", ["brokers"], {"id": "n", "topics": [], "attributes": {"a": DEEP}}, 422, "attributes"),
        ("POST", ["brokers"], {"id": "n", "topics": [DEEP]}, 422, "topics.0"),
        (
            "POST",
            ["changes"],
            [{"op": "join", "broker": "n", "topics": [], "attributes": {"a": DEEP}}],
            422,
            "0.attributes",
        ),
        ("POST", ["brokers"], {"id": "n", "topics": [], "ttl_seconds": 0}, 422, "ttl_seconds"),
        ("DELETE", ["brokers", "nobody"], None, 404, "broker"),
        ("DELETE", ["brokers", "a", "topics", "unheard of"], None, 404, "topic"),
        ("PUT", ["brokers", "nobody", "topics"], {"topics": []}, 404, "broker"),
        ("POST", ["changes"], [], 422, "changes"),
        ("POST", ["changes"], [{"op": "join", "broker": "n"}], 422, "0.topics"),
        ("POST", ["changes"], [{"op": "fly", "broker": "n"}], 422, "0.op"),
        (
            "POST",
            ["changes"],
            [{"op": "leave", "broker": "a"}, {"op": "leave", "broker": "a"}],
            422,
            "changes",
        ),
    ],
)
def test_what_is_refused_names_the_field_and_changes_nothing(
    live: Served, method: str, segments: list[str], body: object, status: int, field: str
) -> None:
    live.join("a", "x")
    problem = live.ask(method, *segments, json=body, status=status)
    assert problem["field"] == field
    assert live.version == 1
    assert live.stored_interests() == {"a": ["x"]}


def test_a_broker_does_not_grow_past_the_limit(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path
) -> None:
    with served(neo4j_server, database, tmp_path, max_broker_topics=3) as small:
        small.join("a", "t1", "t2", "t3")
        problem = small.ask("POST", "brokers", "a", "topics", "t4", status=422)
        assert (problem["field"], "at most 3 topics of 'a'" in problem["detail"]) == ("topics", True)
        steps = [
            {"op": "subscribe", "broker": "a", "topics": ["t4"]},
            {"op": "unsubscribe", "broker": "a", "topics": ["t1"]},
        ]
        small.ask("POST", "changes", json=steps)
        steps = [{"op": "join", "broker": "b", "topics": ["t1"]}] + [
            {"op": "join", "broker": f"c{i}", "topics": ["t1"]} for i in range(60)
        ]
        assert small.ask("POST", "changes", json=steps, params={"dry_run": True})["version"] == 2
        assert small.ask("POST", "changes", json=steps)["version"] == 3
        assert len(small.stored_interests()["a"]) == 3


def test_a_batch_has_so_many_topics_at_most(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path
) -> None:
    with served(neo4j_server, database, tmp_path, max_batch_subscriptions=3) as small:
        steps = [{"op": "join", "broker": name, "topics": ["t1", "t2"]} for name in "ab"]
        problem = small.ask("POST", "changes", json=steps, status=422)
        assert problem["field"] == "changes"
        assert "at most 3 topics in a batch (TOPICWEAVE_MAX_BATCH_SUBSCRIPTIONS; got 4)" in problem["detail"]
        assert small.version == 0
        small.ask("POST", "changes", json=[steps[0]])


def test_a_dry_run_tells_the_plan_and_changes_nothing(live: Served) -> None:
    live.join("a", "x")
    body = {"id": "b", "topics": ["x"]}
    plan = live.ask("POST", "brokers", json=body, params={"dry_run": "true"})
    assert (plan["version"], plan["opened"], plan["dry_run"]) == (1, [["a", "b"]], True)
    assert live.version == 1
    assert live.join("b", "x")["opened"] == plan["opened"]


def test_if_match_holds_the_version(live: Served) -> None:
    live.join("a", "x", headers={"If-Match": '"0"'})
    problem = live.ask("DELETE", "brokers", "a", headers={"If-Match": '"0"'}, status=412)
    assert problem["type"] == "urn:topicweave:problem:version-moved"
    assert live.ask("DELETE", "brokers", "a", headers={"If-Match": "soon"}, status=422)["field"] == "If-Match"
    assert live.leave("a", headers={"If-Match": '"1"'})["version"] == 2


def test_a_repeated_request_gets_the_first_answer(live: Served) -> None:
    once = {"Idempotency-Key": "k1"}
    first = live.join("a", "x", headers=once)
    live.join("b", "x")
    assert live.join("a", "x", headers=once) == first
    body = {"id": "c", "topics": ["x"]}
    assert live.ask("POST", "brokers", json=body, status=422, headers=once)["field"] == "Idempotency-Key"
    nothing = {"Idempotency-Key": "k2"}
    unchanged = live.ask("POST", "brokers", "a", "topics", "x", headers=nothing)
    live.leave("a")
    assert live.ask("POST", "brokers", "a", "topics", "x", headers=nothing) == unchanged
    refused = {"Idempotency-Key": "k3"}
    live.ask("DELETE", "brokers", "later", status=404, headers=refused)
    live.join("later", "x")
    assert live.leave("later", headers=refused)["version"] == live.version
    check(live)


def test_an_empty_key_of_a_request_is_none(live: Served) -> None:
    """Whoever sends one with every request would get the first answer to all of them."""
    for empty in ("", "  "):
        refused = live.ask("DELETE", "brokers", "a", status=422, headers={"Idempotency-Key": empty})
        assert refused["field"] == "Idempotency-Key"


def test_a_request_repeated_at_another_process_while_the_first_does_it(
    neo4j_server: Neo4jServer, live: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one finds no answer when it looks before its turn, and must not refuse who has left by then."""
    seen_before_the_lock: list[str] = []

    async def too_early(database: Database | Transaction, keys: Sequence[str]) -> dict[str, tuple[str, str]]:
        if isinstance(database, Transaction):
            return await find_answers(database, keys)
        seen_before_the_lock.extend(keys)
        return {}

    live.join("a", "x")
    once = {"Idempotency-Key": "k1"}
    with served(neo4j_server, live.driver, tmp_path / "other") as other:
        first = live.leave("a", headers=once)
        monkeypatch.setattr(writer, "find_answers", too_early)
        assert other.leave("a", headers=once) == first
        assert seen_before_the_lock
        assert other.ask("DELETE", "brokers", "b", headers=once, status=422)["field"] == "Idempotency-Key"
    check(live)


def test_what_a_caller_sends_does_not_choose_the_answer(live: Served) -> None:
    live.join("no such x", "x")
    live.ask("POST", "brokers", json={"id": "no such x", "topics": []}, status=409)


def test_only_the_change_that_a_constraint_refuses_is_refused(live: Served) -> None:
    live.join("a", "x")
    rows(live.driver, "CREATE (:Broker {id: 'by hand'})")

    def work(broker: str) -> int:
        body = {"id": broker, "topics": ["x"]}
        return int(live.client.post("/v1/brokers", headers=KEY, json=body).status_code)

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(work, ["b", "c", "by hand", "d", "e"]))
    assert statuses == [201, 201, 409, 201, 201]


@pytest.mark.parametrize("happened", [True, False])
def test_a_commit_that_ends_in_an_error_of_the_server_is_settled(
    live: Served, monkeypatch: pytest.MonkeyPatch, happened: bool
) -> None:
    """The server may fail after it has written; whether it did is looked up, not guessed."""
    commit = neo4j.Transaction.commit
    failing = [True]

    def fail_once(transaction: neo4j.Transaction) -> None:
        if not failing:
            commit(transaction)
            return
        failing.pop()
        commit(transaction) if happened else transaction.rollback()
        raise DatabaseError("the log could not be written")

    monkeypatch.setattr(neo4j.Transaction, "commit", fail_once)
    assert live.join("a", "x")["version"] == 1
    assert not failing
    check(live)


def test_many_at_once_each_get_their_own_answer(live: Served) -> None:
    def work(i: int) -> dict[str, object]:
        answer: dict[str, object] = live.join(f"b{i:03d}", f"t{i % 7}", f"t{i % 5}", "all")
        return answer

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(work, range(120)))
    assert sorted(int(str(answer["version"])) for answer in answers) == list(range(1, 121))
    groups = rows(live.driver, "MATCH (c:Change) RETURN count(DISTINCT c.group) AS groups")[0]["groups"]
    assert groups < 120, "waiting changes are committed together"
    check(live)
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda i: live.leave(f"b{i:03d}"), range(0, 120, 2)))
    check(live)


def test_two_processes_on_one_database(
    live: Served, neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path
) -> None:
    with served(neo4j_server, database, tmp_path) as other:

        def work(i: int) -> None:
            (live, other)[i % 2].join(f"b{i:03d}", f"t{i % 5}", "all")

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(40)))
        for one in (live, other):
            one.join(f"last of {id(one)}", "all")
        check(other)
        deadline_version = other.version
        while live.version < deadline_version:
            pass
        check(live)
        assert (
            live.ask("GET", "overlay")["degree_histogram"] == other.ask("GET", "overlay")["degree_histogram"]
        )


def test_a_restart_finds_everything(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path
) -> None:
    with served(neo4j_server, database, tmp_path) as first:
        first.ask(
            "POST", "brokers", status=201,
            json={"id": "a", "topics": ["x"], "attributes": {"rack": 7}, "ttl_seconds": 600},
        )  # fmt: skip
        first.join("b", "x")
        first.join("lonely")
        told = first.ask("GET", "brokers", "a")
        assert told["attributes"] == {"rack": 7}
        assert told["lease"]["ttl_seconds"] == 600
    with served(neo4j_server, database, tmp_path) as again:
        found = again.ask("GET", "brokers", "a")
        assert found["lease"]["ttl_seconds"] == 600
        # Backups are built meanwhile, and a lease gets a full term more at a start.
        moving = dict.fromkeys(("backups", "primaries", "lease"))
        assert {**found, **moving} == {**told, **moving}
        assert again.ask("GET", "brokers", "lonely")["topics"] == []
        check(again)
