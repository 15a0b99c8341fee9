"""Random churn through the API on a real Neo4j, judged after every commit by what Cypher reads back.

At each version every topic is connected (2-connected where the policy says so, judged by igraph alone), the mirror is
the database, versions have no gap, and a change's opened and closed links are exactly the difference. In the end every
version between, rebuilt from the Change records by another way than the product's, is a TCO too.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import igraph
import neo4j
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.backend.conftest import rows
from tests.backend.live import Served, served
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j

BROKERS = [f"b{i}" for i in range(8)] + ["Ω", "a 'quoted' {id}", "/slash/and space", "😀"]
TOPICS = [f"t{i}" for i in range(5)] + ["/tf", "*"]
Link = tuple[str, str]


@dataclass(frozen=True)
class State:
    """Interests and links of one version."""

    brokers: frozenset[str]
    subscriptions: frozenset[tuple[str, str]]
    links: frozenset[Link]

    @classmethod
    def read(cls, driver: neo4j.Driver) -> State:
        brokers = rows(driver, "MATCH (b:Broker) RETURN b.id AS id")
        subscriptions = rows(
            driver, "MATCH (b:Broker)-[:SUBSCRIBES]->(t:Topic) RETURN b.id AS b, t.name AS t"
        )
        links = rows(driver, "MATCH (a:Broker)-[:LINK]->(b:Broker) RETURN a.id AS a, b.id AS b")
        found = cls(
            frozenset(row["id"] for row in brokers),
            frozenset((row["b"], row["t"]) for row in subscriptions),
            frozenset((row["a"], row["b"]) for row in links),
        )
        assert len(found.links) == len(links), "no link is stored twice"
        assert len(found.subscriptions) == len(subscriptions), "no subscription is stored twice"
        assert all(a < b for a, b in found.links)
        topics = rows(driver, "MATCH (t:Topic) RETURN t.name AS name")
        assert {row["name"] for row in topics} == {topic for _, topic in found.subscriptions}
        return found

    def before(self, change: dict[str, Any]) -> State:
        """The version before a change, from its record; everything it says must be there to be taken back."""
        opened, closed = pairs(change, "opened_a", "opened_b"), pairs(change, "closed_a", "closed_b")
        came = pairs(change, "subscribed_broker", "subscribed_topic")
        went = pairs(change, "unsubscribed_broker", "unsubscribed_topic")
        joined, left = frozenset(change["joined"]), frozenset(change["left"])
        for there, new, old in (
            (self.brokers, joined, left),
            (self.subscriptions, came, went),
            (self.links, opened, closed),
        ):
            assert new <= there
            assert not old & there
        return State(
            self.brokers - joined | left, self.subscriptions - came | went, self.links - opened | closed
        )

    def check(self, k: int) -> None:
        """Every topic is k-connected, and a clique where it has at most k subscribers."""
        for topic in {topic for _, topic in self.subscriptions}:
            members = sorted(broker for broker, its in self.subscriptions if its == topic)
            number = {broker: i for i, broker in enumerate(members)}
            inside = [(number[a], number[b]) for a, b in self.links if a in number and b in number]
            graph = igraph.Graph(n=len(members), edges=inside)
            assert graph.is_connected(), (topic, members)
            if k == 2 and len(members) > 2:
                assert graph.vertex_connectivity() >= 2, (topic, members)


def pairs(change: dict[str, Any], first: str, second: str) -> frozenset[tuple[str, str]]:
    return frozenset(zip(change[first], change[second], strict=True))


topic_lists = st.lists(st.sampled_from(TOPICS), unique=True, max_size=4)


class Churn(RuleBasedStateMachine):
    """Whoever may come, go and subscribe does, in any order."""

    opening: Callable[[], tuple[ExitStack, Served]]
    k = 1

    def __init__(self) -> None:
        super().__init__()
        self.stack, self.live = self.opening()
        self.state = State(frozenset(), frozenset(), frozenset())
        self.version = 0
        self.states = {0: self.state}

    @initialize(size=st.integers(0, 6), topics=st.lists(topic_lists, min_size=6, max_size=6))
    def some_are_there(self, size: int, topics: list[list[str]]) -> None:
        for name, its in zip(BROKERS[:size], topics, strict=False):
            self.told(self.live.join(name, *its))

    def told(self, answer: dict[str, Any]) -> None:
        """After a commit: the database is a TCO, and the answer is exactly the difference."""
        now = State.read(self.live.driver)
        now.check(self.k)
        assert {tuple(link) for link in answer["opened"]} == now.links - self.state.links
        assert {tuple(link) for link in answer["closed"]} == self.state.links - now.links
        moved = now != self.state
        assert answer["version"] == self.version + moved
        self.version, self.state = answer["version"], now
        self.states[self.version] = now

    def present(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from(sorted(self.state.brokers)))

    @precondition(lambda self: len(self.state.brokers) < len(BROKERS))
    @rule(data=st.data(), topics=topic_lists)
    def join(self, data: st.DataObject, topics: list[str]) -> None:
        name = data.draw(st.sampled_from([name for name in BROKERS if name not in self.state.brokers]))
        self.told(self.live.join(name, *topics))

    @precondition(lambda self: self.state.brokers)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        self.told(self.live.leave(self.present(data)))

    @precondition(lambda self: self.state.brokers)
    @rule(data=st.data(), topic=st.sampled_from(TOPICS))
    def subscribe(self, data: st.DataObject, topic: str) -> None:
        self.told(self.live.ask("POST", "brokers", self.present(data), "topics", topic))

    @precondition(lambda self: self.state.subscriptions)
    @rule(data=st.data())
    def unsubscribe(self, data: st.DataObject) -> None:
        broker, topic = data.draw(st.sampled_from(sorted(self.state.subscriptions)))
        self.told(self.live.ask("DELETE", "brokers", broker, "topics", topic))

    @precondition(lambda self: self.state.brokers)
    @rule(data=st.data(), topics=topic_lists)
    def set_topics(self, data: st.DataObject, topics: list[str]) -> None:
        body = {"topics": topics}
        self.told(self.live.ask("PUT", "brokers", self.present(data), "topics", json=body))

    @precondition(lambda self: self.state.brokers)
    @rule(data=st.data())
    def batch(self, data: st.DataObject) -> None:
        """Some leave together, some come together."""
        here = sorted(self.state.brokers)
        away = [name for name in BROKERS if name not in self.state.brokers]
        leavers = data.draw(st.lists(st.sampled_from(here), unique=True, min_size=1, max_size=3))
        steps: list[dict[str, Any]] = [{"op": "leave", "broker": name} for name in leavers]
        if away:
            newcomers = data.draw(st.lists(st.sampled_from(away), unique=True, max_size=3))
            steps += [{"op": "join", "broker": name, "topics": data.draw(topic_lists)} for name in newcomers]
        self.told(self.live.ask("POST", "changes", json=steps))

    @precondition(lambda self: self.state.brokers)
    @rule(data=st.data())
    def refused(self, data: st.DataObject) -> None:
        """What is refused, or only tried, leaves no trace."""
        name = self.present(data)
        self.live.ask("POST", "brokers", json={"id": name, "topics": ["only now"]}, status=409)
        self.live.ask("DELETE", "brokers", name, params={"dry_run": "true"})
        assert State.read(self.live.driver) == self.state

    @invariant()
    def mirror_is_the_database(self) -> None:
        told = self.live.ask("GET", "overlay")
        assert told["version"] == self.version
        assert (told["brokers"], told["links"]) == (len(self.state.brokers), len(self.state.links))
        assert (told["topics_apart"], told["topics_below_k"]) == (0, 0)
        names = [row["id"] for row in self.live.ask("GET", "brokers", params={"limit": 100})["items"]]
        assert names == sorted(self.state.brokers)
        for name in names:
            broker = self.live.ask("GET", "brokers", name)
            assert {(name, topic) for topic in broker["topics"]} == {
                pair for pair in self.state.subscriptions if pair[0] == name
            }
            mine = {tuple(sorted((name, link["broker"]))) for link in broker["links"]}
            assert mine == {link for link in self.state.links if name in link}

    def teardown(self) -> None:
        """Back from the live overlay, version by version, to the beginning."""
        try:
            self.check_history()
        finally:
            self.stack.close()

    def check_history(self) -> None:
        records = rows(
            self.live.driver, "MATCH (c:Change) RETURN properties(c) AS change ORDER BY c.version DESC"
        )
        assert [row["change"]["version"] for row in records] == list(range(self.version, 0, -1))
        state = self.state
        for row in records:
            assert state == self.states[row["change"]["version"]]
            state.check(self.k)
            state = state.before(row["change"])
        assert state == State(frozenset(), frozenset(), frozenset())
        for version in range(0, self.version, max(1, self.version // 4)):
            told = self.live.ask("GET", "overlay", params={"version": version})
            assert told["links"] == len(self.states[version].links)
            told = self.live.ask("GET", "diff", params={"from": self.version, "to": version})
            assert {tuple(link) for link in told["opened"]} == self.states[version].links - self.state.links


@pytest.fixture
def machine(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path
) -> Callable[[int], type[Churn]]:
    def of(k: int) -> type[Churn]:
        def opening() -> tuple[ExitStack, Served]:
            rows(database, "MATCH (any) DETACH DELETE any")
            if k != 1:
                rows(database, "CREATE (:Overlay {name: 'live', state: 'live', version: 0, k: $k})", k=k)
            stack = ExitStack()
            return stack, stack.enter_context(served(neo4j_server, database, tmp_path))

        return type(f"Churn{k}", (Churn,), {"opening": staticmethod(opening), "k": k})

    return of


def run(machine: type[Churn], examples: int, steps: int) -> None:
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


@pytest.mark.parametrize("k", [1, 2])
def test_random_churn(machine: Callable[[int], type[Churn]], k: int) -> None:
    run(machine(k), examples=2, steps=20)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("k", [1, 2])
def test_long_random_churn(machine: Callable[[int], type[Churn]], k: int) -> None:
    run(machine(k), examples=40, steps=60)
