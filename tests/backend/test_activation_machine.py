"""Random churn during activation and rollback, on a real Neo4j: every version in between is judged from the records.

Batches are so small that an activation spans many versions. Brokers come, go and subscribe meanwhile, links fail, and
operators pause, resume, cancel and roll back. When an activation has ended, the links are exactly its target; where nothing
else happened meanwhile, that is the plan itself, or what was before.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

import neo4j
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from backend.rebuilds import activation
from tests.backend.conftest import rows
from tests.backend.live import KEY, Served, served
from tests.backend.test_churn_machine import BROKERS, TOPICS, Link, State, topic_lists
from tests.backend.test_rebuilds import candidates, wait_for
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j

PLANS: dict[int, list[dict[str, Any]]] = {
    1: [{"algorithm": "gm"}, {"algorithm": "degree-cover", "params": {"k": 2}}, {"algorithm": "treept"}],
    2: [{"algorithm": "gm2"}, {"algorithm": "hararypt", "params": {"k": 3}}],
}
BEFORE = "MATCH (c:Change) RETURN properties(c) AS change ORDER BY c.version DESC"
Targets = list[tuple[bool, set[Link], int]]
"""Of each activation that ended: whether it went back, the links it was to come to, the version it ended at."""


picks = st.integers(0, 999)
"""One of what is there, whatever that is by then: it moves with the clock, and what hypothesis draws must not."""

SECONDS_BETWEEN_BATCHES = 0.3
"""So that changes come between them, on a fast machine as on a slow one."""


class Activations(RuleBasedStateMachine):
    """One plan, activated and rolled back again and again while the overlay lives."""

    opening: Callable[[], tuple[ExitStack, Served]]
    ended: Targets
    between: list[int]
    """Changes that came between two batches of an activation, one number an example."""
    k = 1

    def __init__(self) -> None:
        super().__init__()
        self.stack, self.live = self.opening()
        self.ended.clear()
        self.checked = 0
        self.id = ""
        self.before: set[Link] = set()
        self.quiet = True
        """Whether nothing but the activation changed the overlay since it began."""
        self.as_planned = True
        """The same since the plan was made: what came in between is in the target, not in the candidates."""
        self.failed = False
        """Whether an agent could not open some link since then: no target has that link."""

    @initialize(seed=st.integers(0, 99), plan=st.integers(0, 2))
    def a_plan_is_activated(self, seed: int, plan: int) -> None:
        """Of interests that leave it something to change: drawn by hypothesis, the first ones would all be alike."""
        pick = random.Random(seed)
        topics = [pick.sample(TOPICS, pick.randint(2, 4)) for _ in range(9)]
        batch = [
            {"op": "join", "broker": name, "topics": its}
            for name, its in zip(BROKERS[:9], topics, strict=True)
        ]
        self.live.ask("POST", "changes", json=batch)
        asked = self.live.ask("POST", "rebuilds", json=PLANS[self.k][plan % len(PLANS[self.k])], status=202)
        self.id = wait_for(self.live, asked["id"], "planned")["id"]
        self.activate()
        while self.state() == "activating" and not rows(
            self.live.driver, "MATCH (c:Change {kind: 'activate'}) RETURN c"
        ):
            time.sleep(0.02)  # the first batch, so that what comes next may come between two
        if len(self.between) % 2 == 0 and self.state() == "activating":
            # Whatever hypothesis draws, a change comes between two batches of every other example.
            self.changes()
            self.live.join(BROKERS[9], TOPICS[0], TOPICS[1])

    # What is there, as Cypher reads it

    def brokers(self) -> list[str]:
        return sorted(row["id"] for row in rows(self.live.driver, "MATCH (b:Broker) RETURN b.id AS id"))

    def changes(self) -> None:
        self.quiet = self.as_planned = False

    def state(self) -> str:
        return str(self.live.ask("GET", "rebuilds", self.id)["state"])

    # Churn

    @rule(pick=picks, topics=topic_lists)
    def join(self, pick: int, topics: list[str]) -> None:
        away = [name for name in BROKERS if name not in self.brokers()]
        if away:
            self.changes()
            self.live.join(away[pick % len(away)], *topics)

    @rule(pick=picks)
    def leave(self, pick: int) -> None:
        here = self.brokers()
        if len(here) > 4:
            self.changes()
            self.live.leave(here[pick % len(here)])

    @rule(pick=picks, topics=topic_lists)
    def set_topics(self, pick: int, topics: list[str]) -> None:
        self.changes()
        here = self.brokers()
        self.live.ask("PUT", "brokers", here[pick % len(here)], "topics", json={"topics": topics})

    @rule(pick=picks, topic=st.sampled_from(TOPICS))
    def subscribe(self, pick: int, topic: str) -> None:
        self.changes()
        here = self.brokers()
        self.live.ask("POST", "brokers", here[pick % len(here)], "topics", topic)

    @rule(pick=picks)
    def a_link_fails(self, pick: int) -> None:
        """An agent cannot open it: closed and planned around, or refused where a topic has nobody else."""
        links = sorted(self.live.stored_links())
        if links:
            self.changes()
            self.failed = True
            a, b = links[pick % len(links)]
            path, body = f"/v1/brokers/{quote(a, safe='')}/failures", {"link": [a, b], "reason": "refused"}
            answer = self.live.client.post(path, json=body, headers=KEY)
            assert answer.status_code in (200, 404, 409), answer.text

    # Operators

    def call(self, step: str) -> bool:
        """One step of an operator; it may come too late, and is refused then."""
        path = f"/v1/rebuilds/{self.id}/{step}"
        answer = self.live.client.post(path, headers=KEY)
        assert answer.status_code in (200, 202, 409), answer.text
        return answer.status_code != 409

    @rule()
    def activate(self) -> None:
        if self.state() == "planned":
            self.look_at_the_end()
            self.before, self.quiet = self.live.stored_links(), True
            assert self.call("activate")

    @rule()
    def roll_back(self) -> None:
        if self.state() == "active":
            self.look_at_the_end()
            assert self.call("rollback")

    @rule()
    def pause(self) -> None:
        self.call("pause")

    @rule()
    def resume(self) -> None:
        self.call("resume")

    @rule()
    def cancel(self) -> None:
        if self.state() == "activating":
            self.call("cancel")

    @rule(seconds=st.sampled_from([0.02, 0.1, 0.4]))
    def wait(self, seconds: float) -> None:
        time.sleep(seconds)

    @invariant()
    def nothing_is_apart(self) -> None:
        told = self.live.ask("GET", "overlay")
        assert (told["topics_apart"], told["topics_below_k"]) == (0, 0)

    # The end

    def look_at_the_end(self) -> None:
        """Of what ended since the last look: the links at that version are exactly the target."""
        ended = self.ended[self.checked :]
        self.checked += len(ended)
        for returned, target, version in ended:
            links = self.links_at(version)
            assert links == target
            if returned and self.quiet and not self.failed:
                assert links == self.before
            if not returned and self.as_planned:
                assert links == candidates(self.live, self.id)

    def links_at(self, version: int) -> set[Link]:
        state = State.read(self.live.driver)
        for row in rows(self.live.driver, BEFORE):
            if row["change"]["version"] <= version:
                break
            state = state.before(row["change"])
        return set(state.links)

    def teardown(self) -> None:
        try:
            if self.id:
                self.call("resume")
                wait_for(self.live, self.id, "planned", "active")
                self.look_at_the_end()
                self.check_history()
                assert self.live.ask("GET", "check")["good"]
        finally:
            self.stack.close()

    def check_history(self) -> None:
        """Back from the live overlay through the records: every version keeps what the policy promises."""
        state = State.read(self.live.driver)
        kinds = []
        for row in rows(self.live.driver, BEFORE):
            state.check(self.k)
            state = state.before(row["change"])
            kinds.append(row["change"]["kind"] in ("activate", "rollback"))
        if True in kinds:
            within = kinds[kinds.index(True) : len(kinds) - kinds[::-1].index(True)]
            self.between.append(within.count(False))
        assert state == State(frozenset(), frozenset(), frozenset())


@pytest.fixture
def machine(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[int], type[Activations]]:
    monkeypatch.setattr(activation, "LINKS_A_BATCH", 1)
    monkeypatch.setattr(activation, "SECONDS_BETWEEN_LOOKS", 0.05)
    monkeypatch.setattr(activation, "SECONDS_AFTER_TROUBLE", 0.05)
    ended: Targets = []
    finish = activation.Activator._finish

    async def noted(self: activation.Activator, version: int) -> bool:
        assert self.rebuild.activation is not None
        # First: its state tells the rules that it has ended.
        ended.append((self.rebuild.activation.rollback, set(self._wanted), version))
        done = await finish(self, version)
        if not done:
            ended.pop()  # somebody wants it back
        return done

    step = activation.Activator._step

    async def slowly(self: activation.Activator) -> bool:
        await asyncio.sleep(SECONDS_BETWEEN_BATCHES)
        return await step(self)

    monkeypatch.setattr(activation.Activator, "_finish", noted)
    monkeypatch.setattr(activation.Activator, "_step", slowly)

    def of(k: int) -> type[Activations]:
        def opening() -> tuple[ExitStack, Served]:
            rows(database, "MATCH (any) DETACH DELETE any")
            if k != 1:
                rows(database, "CREATE (:Overlay {name: 'live', state: 'live', version: 0, k: $k})", k=k)
            stack = ExitStack()
            return stack, stack.enter_context(served(neo4j_server, database, tmp_path))

        return type(
            f"Activations{k}",
            (Activations,),
            {"opening": staticmethod(opening), "ended": ended, "between": [], "k": k},
        )

    return of


def run(machine: type[Activations], examples: int, steps: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            derandomize=examples < 10,  # the short form is the same every time
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )
    assert sum(machine.between) > 0, "no change came between two batches: this proved nothing"


def test_churn_during_activations(machine: Callable[[int], type[Activations]]) -> None:
    run(machine(1), examples=2, steps=30)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("k", [1, 2])
def test_long_churn_during_activations(machine: Callable[[int], type[Activations]], k: int) -> None:
    run(machine(k), examples=30, steps=120)
