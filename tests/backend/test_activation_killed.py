"""Activations whose process dies: whoever finds them goes on, in whatever phase they were, and comes to the same end.

In each phase the tasks of one API end without a word while a second one, on the same database, is there to take over; and
real processes are killed with ``kill -9``, one after the other, each in another phase, while clients go on.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import neo4j
import pytest

from backend.managed.processes import Child
from backend.rebuilds import activation, jobs
from backend.rebuilds.rebuild import Activation
from tests.backend.conftest import rows
from tests.backend.faults import clients
from tests.backend.faults.clients import Client, Crowd
from tests.backend.faults.stage import KEY as FAULTS_KEY
from tests.backend.faults.stage import Api
from tests.backend.held_api import NOTE, PHASES, note_ends
from tests.backend.live import Served, served
from tests.backend.targets import History
from tests.backend.test_rebuilds import (
    INTERESTS,
    candidates,
    fill,
    planned,
    wait_for,
    wait_until,
)
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j

SILENT = "MATCH (r:Rebuild) SET r.heartbeat_at = datetime() - duration({minutes: 1})"
"""As if the time until a silent process is given up had passed."""


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


@pytest.mark.parametrize("phase", ["opening", "settling", "closing", "rolling back"])
def test_another_process_goes_on(
    two: tuple[Served, Served], phase: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = two
    steps = hold(monkeypatch, first, phase)
    noted: dict[str, int] = {}
    note_ends(monkeypatch.setattr, noted.update)
    agent = INTERESTS.brokers[0]
    # Repairs by weave may close links of the target that they make needless; those of shadow only open.
    settle = 3600 if phase == "settling" else 0
    first.ask("PUT", "policy", json={"settle_seconds": settle, "strategy": "shadow"})
    before = first.stored_links()
    found = planned(first, "treept" if phase == "settling" else "gm2")
    path = ("rebuilds", found["id"])
    target = before if phase == "rolling back" else candidates(first, found["id"])
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
    history = History(second.driver)
    links = history.target(target, noted["prepared"], noted["ended"])
    assert second.stored_links() == history.states[noted["ended"]].links == links
    history.check()
    assert second.ask("GET", "check")["good"]


class SmallBatches(Api):
    """An API process that opens and closes a few links at a time, and stays in the midst of a phase."""

    def __init__(self, name: str, home: Path, bolt_uri: str, password: str, phase: str = "") -> None:
        super().__init__(name, home, bolt_uri, password)
        self.phase = phase
        self._environment["PYTHONPATH"] = str(Path(__file__).parents[2])

    def start(self) -> None:
        script = f"from tests.backend.held_api import run; run({self.phase!r})"
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

    def noted(self, what: str) -> Any:
        """The last that it told of something; None where it has not."""
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        told = [json.loads(line.removeprefix(NOTE)) for line in lines if line.startswith(NOTE)]
        return next((note[what] for note in reversed(told) if what in note), None)

    def is_held(self) -> bool:
        assert self.child is not None
        assert self.child.exit_code() is None, self.child.tail()
        return bool(self.noted("held"))


class Relay:
    """API processes that hand an activation on by dying: one has it, one waits for it."""

    def __init__(self, home: Path, server: Neo4jServer, driver: neo4j.Driver, phases: list[str]) -> None:
        self.driver = driver
        self.id = ""
        self._waiting = [
            SmallBatches(f"api {i} {phase}".strip(), home, server.uri, server.password, phase)
            for i, phase in enumerate(phases)
        ]
        self.all = list(self._waiting)
        self.now = self._waiting.pop(0)
        self.pair: list[Api] = [self.now, self.now]
        """Whom clients may ask."""

    def __enter__(self) -> Relay:
        self.now.start()
        self.now.wait_until_ready()
        return self

    def __exit__(self, *_: object) -> None:
        for api in self.all:
            if api.child is not None:
                api.child.stop(20)

    def stand_by(self) -> None:
        """The next one starts."""
        self.heir = self._waiting.pop(0)
        self.heir.start()
        self.pair[self.pair.index(self.now) - 1] = self.heir

    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = self.now.ask("GET", f"rebuilds/{self.id}")
        return found

    def plan(self, algorithm: str) -> set[tuple[str, str]]:
        self.id = self.now.ask("POST", "rebuilds", {"algorithm": algorithm})["id"]
        wait_until(lambda: self.state()["state"] == "planned")
        return self.stored("CANDIDATE {rebuild: $id}")

    def stored(self, kind: str) -> set[tuple[str, str]]:
        text = f"MATCH (a)-[:{kind}]->(b) RETURN a.id AS a, b.id AS b"
        return {(row["a"], row["b"]) for row in rows(self.driver, text, id=self.id)}

    def owner(self) -> str | None:
        found: str | None = rows(self.driver, "MATCH (r:Rebuild) RETURN r.owner AS owner")[0]["owner"]
        return found

    def kill(self) -> None:
        """``kill -9`` in the midst of its phase; return when the next one has taken over."""
        self.heir.wait_until_ready()
        wait_until(self.now.is_held)
        self.check_midst(self.state())
        dead = self.owner()
        assert dead is not None
        self.now.kill()
        wait_until(lambda: self.heir_has_it(dead))
        self.now = self.heir

    def heir_has_it(self, dead: str) -> bool:
        # Again at each look: what the dead one sent last may be written only now.
        rows(self.driver, SILENT.replace("r:Rebuild", "r:Rebuild {owner: $dead}"), dead=dead)
        return self.owner() not in (dead, None)

    def check_midst(self, told: dict[str, Any]) -> None:
        """It has begun with the phase, and is not through with it."""
        phase, done = self.now.phase, told["activation"]
        assert told["state"] == "activating", told
        assert done["rollback"] is phase.endswith(" again")
        assert done["before_kept"] is (phase != "preparing")
        if phase == "preparing":
            assert done["opened"] == 0
            kept = self.stored("CANDIDATE {rebuild: $id + ' before'}")
            assert 0 < len(kept) < len(self.now.noted("kept"))
        else:
            assert done["phase"] == phase.removesuffix(" again")
        if done["phase"] == "opening" and phase != "preparing":
            assert 0 < done["opened"] < done["to_open"], done
        if done["phase"] == "closing":
            assert 0 < done["closed"] < done["to_close"], done

    def end(self, state: str) -> None:
        """It has ended, in the process that is left."""
        wait_until(lambda: self.state()["state"] == state)
        assert self.owner() is None

    def links_of_before(self, history: History) -> frozenset[tuple[str, str]]:
        """What was kept last: all links of a version at which nothing was opened yet."""
        kept = next(noted for api in reversed(self.all) if (noted := api.noted("kept")))
        links = frozenset((a, b) for a, b in kept)
        assert links in [history.states[v].links for v in range(history.versions_of("activate")[0])]
        return links

    def check_end(self, links: Iterable[tuple[str, str]], *, apart: bool) -> History:
        """After an activation, or the way back, to these links: exactly its target is there; all versions are good."""
        history = History(self.driver)
        history.check()
        prepared, ended = self.now.noted("prepared"), self.now.noted("ended")
        there = history.states[ended].links
        assert there == history.target(links, prepared, ended)
        if apart:
            own = {link for link in there if not set(link) & set(INTERESTS.brokers)}
            assert there - own == set(links)
            assert {link for link in self.stored("LINK") if set(link) & set(INTERESTS.brokers)} == set(links)
        assert self.now.ask("GET", "check")["good"]
        return history


class Visitor(Client):
    """A client that lets others do something between two changes of its own."""

    def _change(self) -> None:
        super()._change()
        time.sleep(0.05)


@contextmanager
def churn(relay: Relay) -> Iterator[Crowd]:
    """Two clients at whichever process lives; brokers of the plan are theirs too where its topics are.

    Each change has an Idempotency-Key and is repeated until it is answered, so none is done twice for a kill.
    """
    visitors = [Visitor(f"visitor {i}", relay.pair, keys=True, hang_up=0) for i in range(2)]
    if set(clients.TOPICS) & set(INTERESTS.topics):
        for i, broker in enumerate(INTERESTS.brokers[30:42]):
            visitors[i % 2].topics[broker] = set(INTERESTS.topics_of(broker))
    for visitor in visitors:
        visitor.start()
    try:
        yield Crowd(list(visitors))
    finally:
        for visitor in visitors:
            visitor.end()
        for visitor in visitors:
            visitor.join()
    for visitor in visitors:
        if visitor.failure:
            raise visitor.failure


@pytest.fixture
def apart(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether clients have topics of their own, so that they touch no link of a plan; else they have its topics."""
    if not request.param:
        monkeypatch.setattr(clients, "TOPICS", list(INTERESTS.topics))
    return bool(request.param)


def fill_for(relay: Relay, k: int, settle: float) -> None:
    relay.now.ask("PUT", "policy", {"k": k, "settle_seconds": settle})
    batch = [{"op": "join", "broker": b, "topics": INTERESTS.topics_of(b)} for b in INTERESTS.brokers]
    relay.now.ask("POST", "changes", batch)


def cases(*short: tuple[int, bool]) -> list[Any]:
    """Each k, with churn apart and among; all but the short ones for ``make test-all``."""
    return [
        pytest.param(
            k,
            apart,
            marks=[] if (k, apart) in short else pytest.mark.long,
            id=f"k={k}-{'apart' if apart else 'among'}",
        )
        for k in (1, 2)
        for apart in (False, True)
    ]


@pytest.mark.parametrize(("k", "apart"), cases((1, False)), indirect=["apart"])
def test_killed_in_each_phase(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path, k: int, apart: bool
) -> None:
    """``kill -9`` while it prepares, opens, waits for agents and closes; each time another process goes on."""
    agent = INTERESTS.brokers[0]
    there = "MATCH (b:Broker {id: $agent}) WHERE b.acked IS NOT NULL RETURN b"
    with Relay(tmp_path, neo4j_server, database, [*PHASES[:4], ""]) as relay:
        fill_for(relay, k, 3600)
        plan = relay.plan("treept" if k == 1 else "hararypt")
        relay.now.ask("POST", f"brokers/{agent}/acks", {"version": 0})  # it will be late
        wait_until(lambda: bool(rows(database, there, agent=agent)))  # for those that start from now on
        with churn(relay) as crowd:
            crowd.wait_for(5)
            relay.now.ask("POST", f"rebuilds/{relay.id}/activate")
            for phase in PHASES[:4]:
                relay.stand_by()
                relay.kill()
                crowd.wait_for(5)
                if phase == "settling":
                    wait_until(lambda: relay.now.noted("prepared") is not None)
                    assert relay.state()["activation"]["closed"] == 0
                    relay.now.ask("PUT", "policy", {"settle_seconds": 0})
            relay.end("active")
        history = relay.check_end(plan, apart=apart)
        relay.links_of_before(history)
        assert history.between("activate") > 0


@pytest.mark.parametrize(("k", "apart"), cases((2, True)), indirect=["apart"])
def test_killed_on_the_way_back(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path, k: int, apart: bool
) -> None:
    """``kill -9`` while a rollback opens and while it closes; the links of before are there again."""
    with Relay(tmp_path, neo4j_server, database, [*PHASES[4:], ""]) as relay:
        fill_for(relay, k, 0)
        before = relay.stored("LINK")
        relay.plan("treept" if k == 1 else "hararypt")
        relay.now.ask("POST", f"rebuilds/{relay.id}/activate")
        wait_until(lambda: relay.state()["state"] == "active")
        with churn(relay) as crowd:
            crowd.wait_for(5)
            relay.now.ask("POST", f"rebuilds/{relay.id}/rollback")
            for _ in PHASES[4:]:
                relay.stand_by()
                relay.kill()
                crowd.wait_for(5)
            relay.end("planned")
        history = relay.check_end(before, apart=apart)
        assert relay.links_of_before(history) == before
        assert history.between("rollback") > 0
