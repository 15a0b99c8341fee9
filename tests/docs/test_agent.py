"""The agent of the API guide against the real API and Neo4j, through everything that happens to agents."""

from __future__ import annotations

import functools
import importlib.util
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import neo4j
import pytest
import uvicorn

from backend.api import create_app
from backend.api.__main__ import Server
from backend.managed.processes import free_port
from tests.backend.conftest import empty, rows
from tests.backend.live import KEY, settings_of
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j

AGENT = Path(__file__).parents[2] / "docs" / "examples" / "agent.py"
PATIENCE = 120.0  # a first start compiles kernels

# The same program on a network that lets some links down.
HARDER = f"""
import importlib.util, sys
spec = importlib.util.spec_from_file_location("agent", {str(AGENT)!r})
agent = importlib.util.module_from_spec(spec)
spec.loader.exec_module(agent)
broken, open_link = sys.argv.pop(1).split(), agent.open_link
agent.open_link = lambda other: other + " refuses" if other in broken else open_link(other)
agent.Agent(*sys.argv[1:]).run()
"""


def until(holds: Callable[[], bool], what: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, what()
        time.sleep(0.05)


class Running:
    """An agent in a process of its own; what it says is what its broker would do."""

    def __init__(self, out: Path, broker: str, command: list[str]) -> None:
        self.broker, self.out = broker, out
        with out.open("wb") as stream:
            environment = os.environ | {"TOPICWEAVE_API_KEY": KEY["X-API-Key"]}
            self.process = subprocess.Popen(
                [sys.executable, *command], stdout=stream, stderr=stream, env=environment
            )

    @property
    def said(self) -> str:
        return self.out.read_text()

    @property
    def open(self) -> set[str]:
        """The links it has open, by its own words."""
        found = set()
        for line in self.said.splitlines():
            act, _, other = line.partition(" ")
            if act == "open":
                assert other not in found, "opened twice"
                found.add(other)
            elif act == "close":
                found.remove(other)
        return found

    def end(self, how: signal.Signals) -> int:
        deadline = time.monotonic() + PATIENCE
        while True:
            # Once in a thousand times it comes while a generator is closed, where Python drops what is raised.
            self.process.send_signal(how)
            try:
                return self.process.wait(10)
            except subprocess.TimeoutExpired:
                if time.monotonic() > deadline:
                    raise


class Federation:
    """The API on a port that outlives its restarts, and the agents that follow it; topics keep the tests apart."""

    def __init__(self, server: Neo4jServer, home: Path) -> None:
        self.server, self.home, self.port = server, home, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.agents: list[Running] = []

    def serve(self) -> None:
        app = create_app(settings_of(self.server, self.home))
        self.api = Server(app, uvicorn.Config(app, port=self.port, log_config=None, access_log=False))
        self.thread = threading.Thread(target=self.api.run, name="the API")
        self.thread.start()
        until(lambda: self.status("/readyz") == 200, lambda: "the API does not start")

    def stop(self) -> None:
        self.api.should_exit = True
        self.thread.join(PATIENCE)

    def status(self, path: str) -> int:
        try:
            return httpx2.get(self.url + path, headers=KEY, trust_env=False).status_code
        except httpx2.HTTPError:
            return 0

    def ask(self, method: str, path: str, **more: Any) -> Any:
        answer = httpx2.request(method, f"{self.url}/v1{path}", headers=KEY, trust_env=False, **more)
        assert answer.is_success, answer.text
        return answer.json()

    def changes(self, broker: str) -> list[str]:
        """What happened to a broker, by kind."""
        items = self.ask("GET", "/changes", params={"broker": broker})["items"]
        return [item["kind"] for item in items if item["broker"] == broker]

    def start(self, broker: str, *topics: str, broken: str = "") -> Running:
        words = [self.url, broker, *topics]
        command = ["-c", HARDER, broken, *words] if broken else [str(AGENT), *words]
        agent = Running(self.home / f"agent-{len(self.agents)}", broker, command)
        self.agents.append(agent)
        return agent

    def settle(self, *agents: Running) -> None:
        """Wait until each has open what the overlay says, and has said so."""
        for agent in agents:
            until(functools.partial(self.is_settled, agent), lambda: [(a.broker, a.said) for a in agents])

    def is_settled(self, agent: Running) -> bool:
        path = f"/brokers/{quote(agent.broker, safe='')}"
        if self.status(f"/v1{path}") != 200:
            return False
        known = self.ask("GET", path)
        newest = max((link["since"] for link in known["links"]), default=1)
        return agent.open == {link["broker"] for link in known["links"]} and newest <= (known["acked"] or 0)


@pytest.fixture(scope="module")
def federation(neo4j_server: Neo4jServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Federation]:
    with driver_of(neo4j_server) as driver:
        empty(driver)
        made = Federation(neo4j_server, tmp_path_factory.mktemp("agents"))
        try:
            made.serve()
            yield made
        finally:
            for agent in made.agents:
                agent.process.kill()
                agent.process.wait()
            made.stop()
            empty(driver)


def driver_of(server: Neo4jServer) -> neo4j.Driver:
    return neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password))


def test_agents_come_go_and_die(federation: Federation) -> None:
    middle = federation.start("/ids/have slashes", "x", "y")
    left, right = federation.start("left", "x"), federation.start("right", "y")
    federation.settle(left, middle, right)
    assert (left.open, right.open) == ({middle.broker}, {middle.broker})
    assert middle.open == {"left", "right"}

    fourth = federation.start("fourth", "x", "y")
    federation.settle(fourth, left, middle)
    assert middle.end(signal.SIGTERM) == 0  # SIGINT is ignored by what a shell starts in the background
    assert middle.open == set()
    federation.settle(fourth, left)
    assert left.open == {"fourth"}

    # Its lease would run for another minute: the last sign of life asks for a second, which nobody can renew.
    right.end(signal.SIGKILL)
    assert federation.ask("GET", "/brokers/right")["lease"]["ttl_seconds"] == 60
    federation.ask("POST", "/brokers/right/heartbeat", json={"ttl_seconds": 1})
    until(lambda: federation.changes("right")[-1] == "expire", lambda: federation.changes("right"))
    federation.settle(fourth, left)
    assert fourth.open == {"left"}
    assert federation.ask("GET", "/overlay")["topics_apart"] == 0


def test_a_link_that_cannot_be_opened_is_reported_and_planned_around(federation: Federation) -> None:
    deaf, caller = federation.start("deaf", "p", "q"), federation.start("caller", "p", broken="deaf")
    # Nobody else has the topic: there is no way around yet, so it keeps trying.
    until(lambda: "409" in caller.said, lambda: caller.said)
    assert caller.open == set()
    helper = federation.start("helper", "p", "q")
    federation.settle(caller, helper, deaf)
    assert caller.open == {"helper"}
    assert "failure" in federation.changes("caller")
    reported = federation.ask("GET", "/brokers/deaf")["failures"][-1]
    assert (reported["link"], reported["reason"]) == (["caller", "deaf"], "deaf refuses")


def test_an_agent_comes_back_from_everything(federation: Federation) -> None:
    one, two = federation.start("one", "u", "v"), federation.start("two", "u")
    federation.settle(one, two)

    # Killed and started again with other topics before anybody noticed: 409.
    two.end(signal.SIGKILL)
    two = federation.start("two", "u", "v")
    until(lambda: federation.changes("two") == ["join", "set-topics"], lambda: two.said)
    federation.settle(one, two)

    # To the overlay it has left: what an expired lease looks like from beside the broker.
    federation.ask("DELETE", "/brokers/two")
    until(lambda: federation.changes("two")[2:] == ["leave", "join"], lambda: two.said)
    federation.settle(one, two)
    assert one.open == {"two"}

    # The API goes away and comes back at the same place.
    federation.stop()
    federation.serve()
    federation.ask("POST", "/brokers", json={"id": "three", "topics": ["v"]})
    until(lambda: "three" in one.open | two.open, lambda: (one.said, two.said))
    federation.settle(one, two)
    assert one.process.poll() is two.process.poll() is None


def test_an_agent_that_is_stopped_closes_its_links_whether_it_can_say_so_or_not(
    federation: Federation,
) -> None:
    one, two, three = (federation.start(name, "s") for name in ("stays", "goes", "expires"))
    federation.settle(one, two, three)
    federation.stop()
    try:
        assert two.open
        assert two.end(signal.SIGTERM) == 0  # the API is away
        assert two.open == set()
    finally:
        federation.serve()
    federation.ask("DELETE", "/brokers/goes")
    federation.settle(one, three)
    federation.ask("DELETE", "/brokers/expires")  # and it is told to stop before it notices
    assert three.end(signal.SIGTERM) == 0
    assert three.open == set()
    federation.settle(one)


def test_a_version_that_is_kept_no_more_makes_it_join_again(
    federation: Federation, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = importlib.util.spec_from_file_location("agent", AGENT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    federation.ask("POST", "/brokers", json={"id": "late", "topics": ["w"]})
    with driver_of(federation.server) as driver:
        rows(driver, "MATCH (o:Overlay) SET o.forgotten = 2")
        rows(driver, "MATCH (c:Change) WHERE c.version <= 2 DELETE c")
    monkeypatch.setenv("TOPICWEAVE_API_KEY", KEY["X-API-Key"])
    agent = module.Agent(federation.url, "late", "w")
    with pytest.raises(httpx2.HTTPStatusError, match="410"):
        agent.follow({"links": [], "version": 1})

    read = []

    def join() -> dict[str, Any]:
        read.append(agent.http.get(agent.path).json()["version"])
        return {"links": [], "version": 1}

    def stop(_: float) -> None:
        if len(read) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(agent, "join", join)
    monkeypatch.setattr(module.time, "sleep", stop)
    agent.run()
    agent.http.close()
    assert federation.changes("late") == ["join", "leave"]
