"""The real system for browser tests, pictures and figures: API and console as `topicweave up` starts them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen
from typing import Any

import httpx2
from neo4j import GraphDatabase

from tests.conftest import Neo4jServer
from tests.ui.processes import free_port, started

KEY = "a-key-of-the-browser-test"


@dataclass(frozen=True)
class Stack:
    """A running API and the console on it."""

    api: str
    console: str
    key: str = KEY

    def call(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        answer = httpx2.request(
            method,
            self.api + path,
            json=body,
            headers={"X-API-Key": self.key},
            trust_env=False,
            timeout=120,
            **more,
        )
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    def get(self, path: str) -> Any:
        return self.call("GET", path)

    def until(self, path: str, good: Callable[[Any], bool], seconds: float = 120) -> Any:
        """Ask again until the answer is good."""
        end = time.monotonic() + seconds
        while not good(answer := self.get(path)):
            assert time.monotonic() < end, f"{path} after {seconds:g} s: {answer}"
            time.sleep(0.3)
        return answer

    def wait(self, path: str, states: tuple[str, ...], seconds: float = 120) -> Any:
        """Look at a job until it is in one of the states."""
        return self.until(path, lambda job: job["state"] in states, seconds)


def wipe(server: Neo4jServer) -> None:
    """The server is shared: found empty, left empty."""
    login = (server.user, server.password)
    with GraphDatabase.driver(server.uri, auth=login) as driver, driver.session() as session:
        session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 2000 ROWS").consume()


@contextmanager
def api_on(server: Neo4jServer, home: Path, key: str = KEY, demo: bool = True) -> Iterator[str]:
    """The API over a wiped database, with the demo overlay or with none."""
    key_file = home / "api-key"
    key_file.touch(mode=0o600)
    key_file.write_text(key)
    port = free_port()
    settings = {
        "TOPICWEAVE_HOME": str(home),
        "TOPICWEAVE_API_PORT": str(port),
        "NEO4J_URI": server.uri,
        "NEO4J_USER": server.user,
        "NEO4J_PASSWORD": server.password,
    }
    if demo:
        settings["TOPICWEAVE_DEMO"] = "autoware"
    url = f"http://127.0.0.1:{port}"
    wipe(server)
    try:
        with started("backend.api", home / "api.log", f"{url}/readyz", settings, home):
            yield url
    finally:
        wipe(server)


def console_on(api: str, key_file: Path, port: int, directory: Path) -> AbstractContextManager[Popen[bytes]]:
    """The console, as a process, on some API."""
    settings = {
        "TOPICWEAVE_API_URL": api,
        "TOPICWEAVE_API_KEY_FILE": str(key_file),
        "TOPICWEAVE_CONSOLE_PORT": str(port),
    }
    ready = f"http://127.0.0.1:{port}/_stcore/health"
    return started("ui", directory / f"console-{port}.log", ready, settings, directory)


@contextmanager
def system(server: Neo4jServer, home: Path, demo: bool = True) -> Iterator[Stack]:
    """All of it, until the block ends."""
    with api_on(server, home, demo=demo) as api:
        port = free_port()
        with console_on(api, home / "api-key", port, home):
            yield Stack(api, f"http://127.0.0.1:{port}")
