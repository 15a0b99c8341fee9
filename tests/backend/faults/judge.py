"""The judge: counts every change that clients were told of in what plain Cypher reads back.

The records, replayed forwards from nothing, must give exactly what is stored; every version of it must be a TCO.
"""

from __future__ import annotations

import time
from collections import defaultdict
from typing import Any

import neo4j

from tests.backend.conftest import rows
from tests.backend.faults.clients import Crowd, Told, send
from tests.backend.faults.stage import Api, Stage

Pair = tuple[str, str]


class Overlay:
    """Brokers, subscriptions and links, changed by records alone."""

    def __init__(self) -> None:
        self.brokers: set[str] = set()
        self.subscribers: dict[str, set[str]] = defaultdict(set)
        self.links: set[Pair] = set()

    def do(self, change: dict[str, Any]) -> None:
        """The next version; a record that does not fit is a fault."""
        went = _pairs(change, "unsubscribed_broker", "unsubscribed_topic")
        for broker, topic in went:
            self.subscribers[topic].remove(broker)
        for link in _pairs(change, "closed_a", "closed_b"):
            self.links.remove(link)
        for broker in change["left"]:
            self.brokers.remove(broker)
        for broker in change["joined"]:
            assert broker not in self.brokers, change
            self.brokers.add(broker)
        for broker, topic in _pairs(change, "subscribed_broker", "subscribed_topic"):
            assert broker not in self.subscribers[topic], change
            self.subscribers[topic].add(broker)
        for link in _pairs(change, "opened_a", "opened_b"):
            assert link not in self.links, change
            self.links.add(link)

    def check(self, version: int) -> None:
        """Every topic is connected, and no link hangs in the air."""
        assert all(a in self.brokers and b in self.brokers for a, b in self.links), version
        neighbours: dict[str, set[str]] = defaultdict(set)
        for a, b in self.links:
            neighbours[a].add(b)
            neighbours[b].add(a)
        for topic, members in self.subscribers.items():
            assert members <= self.brokers, (version, topic)
            reached: set[str] = set()
            front = set(list(members)[:1])
            while front:
                reached |= front
                front = {other for one in front for other in neighbours[one] & members} - reached
            assert reached == members, (version, topic)


def judge(stage: Stage, *crowds: Crowd) -> int:
    """Count all that the clients were told; answers how many changes were done."""
    with stage.driver() as driver:
        records = [
            row["change"]
            for row in rows(driver, "MATCH (c:Change) RETURN properties(c) AS change ORDER BY c.version")
        ]
        version = rows(driver, "MATCH (o:Overlay) RETURN o.version AS version")[0]["version"]
        assert [record["version"] for record in records] == list(range(1, version + 1)), "versions have a gap"
        overlay = Overlay()
        for record in records:
            overlay.do(record)
            overlay.check(record["version"])
        _check_stored(driver, overlay)
    for crowd in crowds:
        _check_told(crowd, records, overlay)
    for api in stage.apis:
        _check_mirror(api, version)
    return sum(crowd.done for crowd in crowds)


def _check_stored(driver: neo4j.Driver, overlay: Overlay) -> None:
    """What is stored is what the records come to; nothing half done lies about."""
    assert {row["id"] for row in rows(driver, "MATCH (b:Broker) RETURN b.id AS id")} == overlay.brokers
    held = [
        (row["b"], row["t"])
        for row in rows(driver, "MATCH (b)-[:SUBSCRIBES]->(t) RETURN b.id AS b, t.name AS t")
    ]
    assert sorted(held) == sorted((b, topic) for topic, its in overlay.subscribers.items() for b in its)
    links = [
        (row["a"], row["b"]) for row in rows(driver, "MATCH (a)-[:LINK]->(b) RETURN a.id AS a, b.id AS b")
    ]
    assert sorted(links) == sorted(overlay.links)
    topics = {row["name"] for row in rows(driver, "MATCH (t:Topic) RETURN t.name AS name")}
    assert topics == {topic for topic, its in overlay.subscribers.items() if its}


def _check_told(crowd: Crowd, records: list[dict[str, Any]], overlay: Overlay) -> None:
    """Each change that was acknowledged is there, once, as it was told; a refused one is not; others may be."""
    by_broker: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in records:
        by_broker[record["broker"]].append(record)
    for client in crowd.clients:
        told_of: dict[str, list[Told]] = defaultdict(list)
        for told in client.told:
            told_of[told.broker].append(told)
        for broker, changes in told_of.items():
            found = by_broker[broker]
            wanted = [told for told in changes if told.outcome == "done"]
            unknown = [told.kind for told in changes if told.outcome == "unknown"]
            kinds = [record["kind"] for record in found]
            assert kinds[: len(wanted)] == [told.kind for told in wanted], (broker, changes)
            assert kinds[len(wanted) :] in ([], unknown), (broker, changes, kinds)
            for told, record in zip(wanted, found, strict=False):
                answer = told.answer
                assert answer["version"] == record["version"], told
                assert {tuple(link) for link in answer["opened"]} == _pairs(record, "opened_a", "opened_b")
                assert {tuple(link) for link in answer["closed"]} == _pairs(record, "closed_a", "closed_b")
        for broker, topics in client.topics.items():
            assert {topic for topic, its in overlay.subscribers.items() if broker in its} == topics, broker


def _check_mirror(api: Api, version: int) -> None:
    """What an API holds in memory is what is stored, by its own check."""
    deadline = time.monotonic() + 20
    while (answer := send(api, "GET", "/readyz")[2])["version"] != version:
        assert time.monotonic() < deadline, (api.name, answer, version)
        time.sleep(0.05)
    status, _, found = send(api, "GET", "/v1/check")
    assert status == 200, found
    assert found["good"], found


def check_repeats(crowd: Crowd, api: Api, most: int = 30) -> None:
    """Whatever happened meanwhile, a repeated Idempotency-Key finds its first answer."""
    keyed = [told for client in crowd.clients for told in client.told if told.key and told.outcome == "done"]
    for told in keyed[:: max(1, len(keyed) // most)]:
        status, _, answer = send(api, told.method, told.path, told.body, told.key)
        assert status in (200, 201), answer
        assert answer == told.answer, told


def _pairs(change: dict[str, Any], first: str, second: str) -> set[Pair]:
    return set(zip(change[first], change[second], strict=True))
