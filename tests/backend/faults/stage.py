"""The stage of the fault tests: a Neo4j and API processes of our own, which may be killed and come back."""

from __future__ import annotations

import os
import signal
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import neo4j

from backend.managed.jars import neo4j_jars
from backend.managed.java import find_java
from backend.managed.processes import Child, free_port
from backend.managed.server import ManagedNeo4j
from backend.settings import Settings
from tests.backend.bolt_proxy import BoltProxy

KEY = "a key for the faults"
PATIENCE = 180.0


class Api:
    """One API process; after a kill it can be started again, at the same address."""

    def __init__(self, name: str, home: Path, bolt_uri: str, password: str) -> None:
        self.name = name
        self.port = free_port()
        self._log = home / f"{name}.log"
        self._environment = {
            **os.environ,
            "TOPICWEAVE_HOME": str(home),
            "TOPICWEAVE_API_PORT": str(self.port),
            "TOPICWEAVE_API_KEY": KEY,
            "TOPICWEAVE_LOG_LEVEL": "warning",
            "NEO4J_URI": bolt_uri,
            "NEO4J_PASSWORD": password,
        }
        self.child: Child | None = None

    def start(self) -> None:
        """Start the process, without waiting."""
        self.child = Child(self.name, [sys.executable, "-m", "backend.api"], self._environment, self._log)

    def kill(self) -> None:
        """``kill -9``."""
        assert self.child is not None
        os.kill(self.child.pid, signal.SIGKILL)
        self.child.stop(10)

    def wait_until_ready(self) -> None:
        """Return when it serves the overlay."""
        assert self.child is not None
        deadline = time.monotonic() + PATIENCE
        while not self._ready():
            assert self.child.exit_code() is None, self.child.tail()
            assert time.monotonic() < deadline, self.child.tail()
            time.sleep(0.05)

    def _ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5):
                return True
        except urllib.error.HTTPError as error:
            error.close()
            return False
        except OSError:
            return False


class Stage:
    """A database, a proxy in front of it, and two API processes: one behind the proxy, one beside it."""

    def __init__(self, neo4j_server: ManagedNeo4j, proxy: BoltProxy, home: Path) -> None:
        self.neo4j = neo4j_server
        self.proxy = proxy
        self.cut_off = Api("api behind the proxy", home, proxy.uri, neo4j_server.password)
        self.beside = Api("api beside the proxy", home, neo4j_server.uri, neo4j_server.password)
        self.apis = [self.cut_off, self.beside]

    @contextmanager
    def driver(self) -> Iterator[neo4j.Driver]:
        """A driver of our own, for what is read back."""
        with neo4j.GraphDatabase.driver(
            self.neo4j.uri, auth=(self.neo4j.user, self.neo4j.password)
        ) as driver:
            yield driver

    def kill_neo4j(self) -> None:
        """``kill -9``."""
        self.signal_neo4j(signal.SIGKILL)
        self.neo4j.stop()

    def signal_neo4j(self, number: signal.Signals) -> None:
        """Stop it, let it go on, or kill it."""
        assert self.neo4j.child is not None
        os.kill(self.neo4j.child.pid, number)

    def logs(self) -> str:
        """What the API processes said last."""
        return "\n".join(f"{api.name}:\n{api.child.tail() if api.child else ''}" for api in self.apis)


@contextmanager
def stage(home: Path) -> Iterator[Stage]:
    """Set all up, everything ready; nothing of it is left when the block ends."""
    with ManagedNeo4j(
        home,
        free_port(),
        find_java(print),
        neo4j_jars(Settings.load(), print),
        heap_mb=512,
        page_cache_mb=64,
        short_lived=True,
    ) as server:
        proxy = BoltProxy(server.bolt_port)
        played = Stage(server, proxy, home)
        try:
            # The first makes the schema and the overlay; two at once would do no harm, and tell nothing here.
            for api in played.apis:
                api.start()
            for api in played.apis:
                api.wait_until_ready()
            yield played
        finally:
            for api in played.apis:
                if api.child is not None:
                    api.child.stop(20)
            proxy.close()
