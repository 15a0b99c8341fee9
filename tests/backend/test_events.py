"""Events over a real connection: `python -m backend.api` in a process of its own, on a real Neo4j."""

from __future__ import annotations

import json
import queue
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import neo4j
import pytest

from backend.managed.processes import free_port
from tests.backend.conftest import rows
from tests.backend.live import KEY
from tests.conftest import Neo4jServer
from tests.ui.processes import started

pytestmark = pytest.mark.neo4j

PATIENCE = 120.0
"""A kernel may have to be compiled first, on a busy machine."""


@dataclass
class Api:
    """A running API."""

    url: str
    process: subprocess.Popen[bytes]

    def ask(self, method: str, path: str, **more: Any) -> Any:
        answer = httpx2.request(
            method, self.url + path, headers=KEY, timeout=PATIENCE, trust_env=False, **more
        )
        assert answer.is_success, answer.text
        return answer.json()

    def join(self, broker: str, *topics: str) -> int:
        answer = self.ask("POST", "/v1/brokers", json={"id": broker, "topics": list(topics)})
        return int(answer["version"])

    def clients(self) -> float:
        text = httpx2.get(self.url + "/metrics", timeout=PATIENCE, trust_env=False).text
        (line,) = [line for line in text.splitlines() if line.startswith("topicweave_event_clients ")]
        return float(line.split()[1])


@dataclass
class Follower:
    """A client of /v1/events, reading in a thread."""

    url: str
    params: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    events: queue.Queue[dict[str, str]] = field(default_factory=queue.Queue)
    pings: list[str] = field(default_factory=list)
    ended: bool = False

    def read(self, connected: threading.Event) -> None:
        with (
            httpx2.Client(timeout=PATIENCE, trust_env=False) as client,
            client.stream(
                "GET", self.url + "/v1/events", params=self.params, headers={**KEY, **self.headers}
            ) as answer,
        ):
            assert answer.status_code == 200, answer.read()
            assert answer.headers["content-type"].startswith("text/event-stream")
            self.socket = answer.extensions["network_stream"].get_extra_info("socket")
            event: dict[str, str] = {}
            try:
                for line in answer.iter_lines():
                    connected.set()
                    if line == ": ping":
                        event["ping"] = "yes"
                    elif line:
                        name, _, value = line.partition(": ")
                        event[name] = value
                    elif "ping" in event:
                        self.pings.append(event["id"])
                        event = {}
                    else:
                        self.events.put(event)
                        event = {}
                self.ended = True
            except httpx2.HTTPError:
                pass

    def next(self) -> dict[str, Any]:
        """The change of the next event."""
        event = self.events.get(timeout=PATIENCE)
        assert event["event"] == "change"
        change: dict[str, Any] = json.loads(event["data"])
        assert event["id"] == str(change["version"])
        return change


@contextmanager
def following(api: Api, headers: dict[str, str] | None = None, **params: Any) -> Iterator[Follower]:
    follower = Follower(api.url, params, headers or {})
    connected = threading.Event()
    thread = threading.Thread(target=follower.read, args=(connected,), daemon=True)
    thread.start()
    assert connected.wait(PATIENCE)
    yield follower
    # Closed under the thread that reads it, it would be noticed with the next ping, a quarter of a minute later.
    with suppress(OSError):
        follower.socket.shutdown(socket.SHUT_RDWR)
    thread.join(PATIENCE)


@contextmanager
def serving(server: Neo4jServer, home: Path, name: str = "api", **settings: str) -> Iterator[Api]:
    port = free_port()
    given = {
        "TOPICWEAVE_HOME": str(home),
        "TOPICWEAVE_API_PORT": str(port),
        "TOPICWEAVE_API_KEY": KEY["X-API-Key"],
        "NEO4J_URI": server.uri,
        "NEO4J_USER": server.user,
        "NEO4J_PASSWORD": server.password,
        **settings,
    }
    url = f"http://127.0.0.1:{port}"
    with started("backend.api", home / f"{name}.log", f"{url}/readyz", given, home, 250) as process:
        yield Api(url, process)


def test_events_are_followed_resumed_and_end_with_the_api(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path
) -> None:
    with serving(neo4j_server, tmp_path) as api:
        with following(api) as all_, following(api, broker="b") as one:
            api.join("a", "x")
            api.join("b", "x")
            api.join("c", "y")
            api.ask("DELETE", "/v1/brokers/a")
            assert [all_.next()["version"] for _ in range(4)] == [1, 2, 3, 4]
            assert [one.next()["version"] for _ in range(2)] == [2, 4], "its link to a was closed"
            assert (all_.pings[0], one.pings[0]) == ("0", "0"), "a stream begins with where it is"
            assert api.clients() == 2
        _until(lambda: api.clients() == 0)
        history = api.ask("GET", "/v1/changes")["items"]
        with following(api, {"Last-Event-ID": "1"}, after=3) as resumed:
            assert [resumed.next() for _ in range(3)] == history[1:], "the header comes before the parameter"
        for headers, params, status, at_fault in (
            ({}, {"after": 5}, 404, "after"),
            ({"Last-Event-ID": "x"}, {}, 422, "Last-Event-ID"),
            ({}, {"after": -1}, 422, "after"),
            ({}, {"broker": "x" * 300}, 422, "broker"),
        ):
            answer = httpx2.get(
                api.url + "/v1/events",
                headers={**KEY, **headers},
                params=params,
                trust_env=False,
                timeout=PATIENCE,
            )
            assert (answer.status_code, answer.json()["field"]) == (status, at_fault)
        assert httpx2.get(api.url + "/v1/events", trust_env=False, timeout=PATIENCE).status_code == 401
        # A second process has no records in memory, and hears of others by looking.
        with serving(neo4j_server, tmp_path, "second") as second, following(second, after=0) as other:
            assert [other.next() for _ in range(4)] == history
            assert api.join("späte Ärztin / 'q'", "x") == 5
            change = other.next()
            assert (change["version"], change["broker"]) == (5, "späte Ärztin / 'q'")
            second.process.send_signal(signal.SIGINT)
            began = time.monotonic()
            second.process.wait(PATIENCE)
            assert time.monotonic() - began < 60, "followers do not hold the end up"
            _until(lambda: other.ended)


def test_a_change_of_the_policy_is_an_event_like_any_other(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path
) -> None:
    with serving(neo4j_server, tmp_path) as api:
        with following(api) as all_:
            api.ask("PUT", "/v1/policy", json={"rho": 2.5})
            api.join("a", "x")
            first, second = all_.next(), all_.next()
        assert (first["kind"], first["policy_after"], second["kind"]) == ("policy", {"rho": 2.5}, "join")
        with following(api, {"Last-Event-ID": "0"}) as resumed:
            assert [resumed.next(), resumed.next()] == [first, second]


def test_a_slow_client_is_served_from_the_database_and_told_when_it_is_too_late(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path
) -> None:
    with serving(neo4j_server, tmp_path) as api:
        api.join("a", "x")
        # Older than the memory of a process that starts now, and with a gap that only a removal can leave.
        api.process.terminate()
        api.process.wait(PATIENCE)
    rows(
        database,
        "UNWIND range(2, 451) AS v MATCH (c:Change {version: 1}) "
        "WITH c {.*, version: v, joined: [], subscribed_broker: [], subscribed_topic: [], broker: null} AS facts "
        "CREATE (d:Change) SET d = facts",
    )
    rows(database, "MATCH (o:Overlay) SET o.version = 451, o.forgotten = 3")
    rows(database, "MATCH (c:Change) WHERE c.version <= 3 DELETE c")
    with serving(neo4j_server, tmp_path) as api:
        gone = httpx2.get(
            api.url + "/v1/events", headers=KEY, params={"after": 2}, trust_env=False, timeout=PATIENCE
        )
        assert (gone.status_code, gone.json()["field"]) == (410, "after")
        gone = httpx2.get(
            api.url + "/v1/events", headers={**KEY, "Last-Event-ID": "1"}, trust_env=False, timeout=PATIENCE
        )
        assert (gone.status_code, gone.json()["field"]) == (410, "Last-Event-ID")
        with following(api, after=3) as late:
            assert [late.next()["version"] for _ in range(448)] == list(range(4, 452))
            assert api.join("b", "x") == 452
            assert late.next()["opened"] == [["a", "b"]]


def _until(true: Any) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)
