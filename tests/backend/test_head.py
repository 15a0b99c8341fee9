"""Planning ahead: what waits is planned on what is being written, and counts only if that is committed."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import neo4j
import pytest
from neo4j.exceptions import DatabaseError, ServiceUnavailable

from algorithms import Interests, build
from algorithms.live import Change, LiveOverlay, Plan, join, leave, subscribe
from algorithms.workloads import generate
from backend.live import writer
from backend.live.group import FEWEST_APART, Attempt, next_group
from backend.live.head import Head, Planned
from backend.live.mirror import Mirror
from backend.live.proposal import Answer, Proposal, planner, takes_long
from backend.policy import Policy
from backend.store import BrokerFacts, StoredOverlay
from backend.store.commit import commit_at, was_committed
from tests.backend.conftest import rows
from tests.backend.live import KEY, Served, served
from tests.backend.test_changes import check
from tests.conftest import Neo4jServer


async def proposals(*changes: Change) -> list[Proposal]:
    def one(change: Change) -> Proposal:
        return Proposal("batch", "tests", planner(lambda live: live.plan(change)), ahead=True)

    return [one(change) for change in changes]


def mirror_of(interests: Interests) -> Mirror:
    overlay = build("gm", interests)
    links = dict.fromkeys(overlay.link_names(), (0, "demo"))
    return Mirror(StoredOverlay(overlay=overlay, version=0, policy=Policy(), links=links, facts={}))


def some_changes(interests: Interests, count: int) -> list[Change]:
    """Newcomers, who may leave again, others who leave or subscribe."""
    chosen, here = random.Random(3), list(interests.brokers)
    changes: list[Change] = []
    for i in range(count):
        topics = chosen.sample([*interests.topics, f"new-{i}"], 3)
        if i % 3 == 0:
            changes.append(join(f"z-{i}", topics))
            here.append(f"z-{i}")
        elif i % 3 == 1:
            changes.append(leave(here.pop(chosen.randrange(len(here)))))
        else:
            changes.append(subscribe(chosen.choice(here), topics))
    return changes


def test_a_head_plans_what_the_overlay_itself_would() -> None:
    # As many newcomers as it takes for the arrays to grow, which the head does before the mirror.
    interests = generate(brokers=12, topics=8, subscriptions=3, seed=1)
    changes = some_changes(interests, 90)
    mirror = mirror_of(interests)
    alone = mirror.live.copy()
    head = Head(mirror)
    before = mirror.live.images()
    asked = asyncio.run(proposals(*changes))
    for proposal in asked:
        head.plan(proposal)
    assert mirror.live.images() == before
    for proposal, change in zip(asked, changes, strict=True):
        planned = head.take(proposal)
        assert isinstance(planned, Planned)
        assert planned.plan == alone.change(change)
        mirror.live.apply(planned.plan)
        assert planned.answer.version == mirror.version
    assert mirror.live.snapshot().link_names() == alone.snapshot().link_names()
    assert mirror.live.snapshot().is_tco()
    assert len(head) == 0


def test_a_head_fits_a_group_that_it_planned_first() -> None:
    mirror = mirror_of(Interests.from_mapping({"a": ["x"], "b": ["x"]}))
    first, second, third = asyncio.run(proposals(join("c", ["x"]), join("d", ["x"]), join("c", ["x"])))
    head = Head(mirror)
    assert head.fits([first])
    head.plan(first)
    head.plan(second)
    assert head.fits([first])
    assert head.fits([first, second])
    assert head.fits([first, second, third])  # the third is planned next
    assert not head.fits([second, first])
    assert not head.fits([second])
    assert not head.fits([first, third])  # the second would come between
    assert not head.fits([third])
    head.plan(third)
    assert "has joined already" in str(head.take(third))


def test_many_who_wait_are_two_groups_and_few_are_one() -> None:
    waiting = asyncio.run(proposals(*(join(str(i), ["x"]) for i in range(64))))
    assert len(next_group(waiting[:FEWEST_APART], 0)) == FEWEST_APART
    assert next_group(waiting, 0) == waiting[:32]
    assert next_group(waiting[:32], 32) == waiting[:32]
    assert len(next_group(waiting * 10, 0)) == 100


@pytest.fixture
def live(neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path) -> Iterator[Served]:
    with served(neo4j_server, database, tmp_path) as opened:
        yield opened


class Held:
    """Holds the first commit when it is to be written, until somebody says what becomes of it."""

    def __init__(self, live: Served, monkeypatch: pytest.MonkeyPatch) -> None:
        self.live, self.goes_on, self.fails = live, threading.Event(), False
        self.taken = threading.Event()

        async def hold(*args: Any) -> bool:
            monkeypatch.setattr(writer, "commit_at", commit_at)
            self.taken.set()
            await asyncio.to_thread(self.goes_on.wait)
            if self.fails:
                raise ServiceUnavailable("the tests refuse this commit")
            return await commit_at(*args)

        monkeypatch.setattr(writer, "commit_at", hold)

    @property
    def head(self) -> Head | None:
        return self.live.client.app.state.manager.writer._head  # type: ignore[attr-defined, no-any-return]


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def asked(live: Served, method: str, *segments: str, **more: Any) -> Callable[[], Any]:
    return lambda: live.ask(method, *segments, **more)


@pytest.mark.neo4j
@pytest.mark.parametrize("fails", [False, True])
def test_what_waits_is_planned_meanwhile_and_anew_where_that_is_wrong(
    live: Served, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    live.join("a", "x", "y")
    held = Held(live, monkeypatch)
    with ThreadPoolExecutor(4) as callers:
        first: Future[Any] = callers.submit(
            asked(live, "DELETE", "brokers", "a", status=503 if fails else 200)
        )
        held.taken.wait(30)
        # With "a" gone this is a join; while "a" is there it is refused.
        again = callers.submit(
            asked(live, "POST", "brokers", status=409 if fails else 201, json={"id": "a", "topics": ["x"]})
        )
        until(lambda: held.head is not None and len(held.head) == 1)
        other = callers.submit(asked(live, "POST", "brokers", status=201, json={"id": "b", "topics": ["x"]}))
        until(lambda: held.head is not None and len(held.head) == 2)
        assert live.version == 1
        held.fails = fails
        held.goes_on.set()
        first.result()
        again.result()
        assert other.result()["opened"] == [["a", "b"]]
    assert live.version == (2 if fails else 4)
    check(live)


@pytest.mark.neo4j
@pytest.mark.parametrize("ahead", [True, False])
def test_what_takes_long_to_plan_keeps_nobody_from_reading(live: Served, ahead: bool) -> None:
    """And has a group of its own, whoever waits before and behind it."""
    live.join("a", "x")
    manager = live.client.app.state.manager  # type: ignore[attr-defined]
    begun, goes_on = threading.Event(), threading.Event()

    def plan(overlay: LiveOverlay) -> Plan:
        begun.set()
        assert goes_on.wait(30)
        return overlay.plan(join("slow", ["x"]))

    async def slow() -> Answer:
        proposal = Proposal("merge", "tests", plan, slow=True, ahead=ahead)
        answer: Answer = await manager.writer.submit(proposal)
        return answer

    assert live.client.portal is not None
    merging = live.client.portal.start_task_soon(slow)
    assert begun.wait(30)
    with ThreadPoolExecutor(1) as callers:
        joins = callers.submit(asked(live, "POST", "brokers", status=201, json={"id": "b", "topics": ["x"]}))
        until(lambda: manager.writer.queue_length == 1)
        assert live.ask("GET", "brokers", "a")["degree"] == 0
        goes_on.set()
        assert merging.result(30).version == 2
        assert joins.result()["version"] == 3
    groups = rows(live.driver, "MATCH (c:Change) RETURN count(DISTINCT c.group) AS groups")
    assert groups == [{"groups": 3}]
    check(live)


@pytest.mark.neo4j
def test_who_is_refused_hears_of_it_after_a_commit_of_unknown_outcome(
    live: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    live.join("a", "x")
    held = Held(live, monkeypatch)
    commit = neo4j.Transaction.commit
    commits: list[neo4j.Transaction] = []

    def unsure_at_the_second(transaction: neo4j.Transaction) -> None:
        commit(transaction)
        commits.append(transaction)
        if len(commits) == 2:
            raise DatabaseError("the log could not be written")

    monkeypatch.setattr(neo4j.Transaction, "commit", unsure_at_the_second)

    def joins() -> int:
        body = {"id": "b", "topics": ["x"]}
        return live.client.post("/v1/brokers", headers=KEY, json=body).status_code

    with ThreadPoolExecutor(3) as callers:
        first = callers.submit(asked(live, "DELETE", "brokers", "a"))
        held.taken.wait(30)
        twice = [callers.submit(joins) for _ in range(2)]
        until(lambda: held.head is not None and len(held.head) == 2)
        held.goes_on.set()
        first.result(60)
        assert sorted(one.result(60) for one in twice) == [201, 409]
    assert len(commits) == 2
    check(live)


@pytest.mark.neo4j
def test_what_was_planned_while_a_commit_was_in_doubt_is_planned_anew_when_it_turns_out_to_have_happened(
    live: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    live.join("a", "x")
    commit = neo4j.Transaction.commit
    looked_for, goes_on = threading.Event(), threading.Event()

    def unsure(transaction: neo4j.Transaction) -> None:
        monkeypatch.setattr(neo4j.Transaction, "commit", commit)
        commit(transaction)
        raise DatabaseError("the log could not be written")

    async def held(*args: Any) -> bool:
        looked_for.set()
        await asyncio.to_thread(goes_on.wait)
        return await was_committed(*args)

    monkeypatch.setattr(neo4j.Transaction, "commit", unsure)
    monkeypatch.setattr(writer, "was_committed", held)
    head = live.client.app.state.manager.writer  # type: ignore[attr-defined]
    with ThreadPoolExecutor(2) as callers:
        first = callers.submit(asked(live, "DELETE", "brokers", "a"))
        assert looked_for.wait(30)
        # The one in doubt let "a" leave: who joins is alone.
        second = callers.submit(asked(live, "POST", "brokers", status=201, json={"id": "b", "topics": ["x"]}))
        until(lambda: head._head is not None and len(head._head) == 1)
        goes_on.set()
        assert first.result(60)["version"] == 2
        assert second.result(60) == {**second.result(), "version": 3, "opened": []}
    check(live)


@pytest.mark.neo4j
def test_a_key_that_cannot_be_looked_for_is_no_error_of_ours(
    live: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: Any) -> None:
        raise ServiceUnavailable("the tests took it away")

    monkeypatch.setattr(writer, "find_answers", away)
    body = {"id": "a", "topics": ["x"]}
    answer = live.client.post("/v1/brokers", headers={**KEY, "Idempotency-Key": "1"}, json=body)
    assert (answer.status_code, answer.json()["type"]) == (503, "urn:topicweave:problem:not-ready")
    assert "nothing was changed" in answer.json()["detail"]
    assert live.version == 0


def test_what_names_many_topics_or_has_many_links_takes_long() -> None:
    topics = [f"t{i}" for i in range(1000)]
    star = Interests.from_mapping({"hub": topics, **{f"b{i}": [topic] for i, topic in enumerate(topics * 2)}})
    live = mirror_of(star).live
    assert live.degree_of("hub") >= 1000
    twenty = topics[:20]
    assert not takes_long(live, [join(f"new-{i}", twenty) for i in range(50)])
    assert takes_long(live, [join(f"new-{i}", twenty) for i in range(51)])
    assert not takes_long(live, [join("new", topics)])
    assert takes_long(live, [join("new", [f"u{i}" for i in range(2000)])])
    assert not takes_long(live, [subscribe("hub", twenty)])
    assert not takes_long(live, [leave("b1"), leave("nobody")])
    assert takes_long(live, [leave("hub"), join("new", topics)])


def test_who_comes_again_within_a_group_has_nothing_of_before() -> None:
    def one(left: tuple[str, ...] = (), **newcomers: BrokerFacts) -> Any:
        proposal = SimpleNamespace(newcomers=newcomers, repeatable=None, also=lambda _: ())
        return SimpleNamespace(
            plan=SimpleNamespace(left=left),
            proposal=proposal,
            answer=SimpleNamespace(version=1),
            figures=None,
        )

    leased = BrokerFacts(attributes={"rack": 7})
    attempt = Attempt(planned=[one(a=leased, b=leased), one(left=("a",)), one()])
    assert attempt.commit(0).newcomers == {"b": leased}
    attempt = Attempt(planned=[one(a=BrokerFacts()), one(left=("a",)), one(a=leased)])
    assert attempt.commit(0).newcomers == {"a": leased}
