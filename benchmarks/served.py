"""A system to be measured: Neo4j with the sizes that `topicweave up` gives it, and an API process on it."""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import neo4j
import psutil

from algorithms import Overlay
from backend.managed.jars import neo4j_jars
from backend.managed.java import find_java
from backend.managed.processes import Child, free_port
from backend.managed.server import ManagedNeo4j
from backend.policy import Policy
from backend.settings import Settings
from backend.store import Database
from backend.store.bulk import import_overlay

KEY = "a key for the benchmark"
SECONDS_BETWEEN_LOOKS = 0.05
OVER = ("failed", "cancelled", "dropped")


@contextmanager
def neo4j_on(home: Path) -> Iterator[ManagedNeo4j]:
    """A server of its own below a home directory."""
    settings = Settings.load()
    with ManagedNeo4j(
        home,
        free_port(),
        find_java(_quiet),
        neo4j_jars(settings, _quiet),
        settings.neo4j_heap_mb,
        settings.neo4j_page_cache_mb,
    ) as server:
        yield server


def fill(server: ManagedNeo4j, overlay: Overlay) -> None:
    """Store an overlay in an empty server, as an import does."""

    async def run() -> None:
        async with Database(server.uri, server.user, server.password) as database:
            await database.wait_until_up(60)
            await database.apply_schema()
            await import_overlay(database, overlay, Policy(), actor="benchmark")

    asyncio.run(run())


@dataclass(frozen=True)
class Api:
    """An API that is ready, the processes behind it, and the seconds from its start to its readiness."""

    port: int
    process: psutil.Process
    server: psutil.Process
    driver: neo4j.Driver
    client: httpx2.Client
    seconds_to_ready: float

    def ask(self, method: str, path: str, **more: Any) -> Any:
        """The JSON of one call below /v1; a refusal ends the benchmark."""
        answer = self.client.request(method, f"/v1{path}", **more)
        if not answer.is_success:
            sys.exit(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json()

    def wait(self, path: str, *states: str) -> dict[str, Any]:
        """Until a job is in one of the states."""
        while (found := self.ask("GET", path))["state"] not in states:
            if found["state"] in OVER:
                sys.exit(f"{path} is {found['state']}: {found['error']}")
            time.sleep(SECONDS_BETWEEN_LOOKS)
        return dict(found)

    def import_file(self, path: str, field: str, file: Path) -> None:
        """Upload a file to an import or a restore, until its job is done."""
        with file.open("rb") as content:
            job = self.ask("POST", path, files={field: (file.name, content)})
        while job["state"] != "done":
            if job["state"] not in ("queued", "running"):
                sys.exit(f"{path}: {job}")
            time.sleep(SECONDS_BETWEEN_LOOKS)
            answer = self.client.get(f"/v1/imports/{job['id']}")
            job = answer.json() if answer.is_success else job

    def download(self, path: str, target: Path) -> None:
        """Write the answer of a call to a file."""
        with self.client.stream("GET", f"/v1{path}") as answer, target.open("wb") as out:
            if not answer.is_success:
                sys.exit(f"{path}: {answer.status_code}")
            for chunk in answer.iter_bytes():
                out.write(chunk)


@contextmanager
def api_on(server: ManagedNeo4j, home: Path) -> Iterator[Api]:
    """An API process over a server, from its readiness on."""
    assert server.child is not None
    port = free_port()
    environment = {
        **os.environ,
        "TOPICWEAVE_HOME": str(home),
        "TOPICWEAVE_API_PORT": str(port),
        "TOPICWEAVE_API_KEY": KEY,
        "NEO4J_URI": server.uri,
        "NEO4J_USER": server.user,
        "NEO4J_PASSWORD": server.password,
    }
    began = time.perf_counter()
    child = Child("API", [sys.executable, "-m", "backend.api"], environment, home / "logs" / "api.log")
    url = f"http://127.0.0.1:{port}"
    login = (server.user, server.password)
    with (
        httpx2.Client(base_url=url, headers={"X-API-Key": KEY}, timeout=1800, trust_env=False) as client,
        neo4j.GraphDatabase.driver(server.uri, auth=login, notifications_min_severity="OFF") as driver,
    ):
        try:
            _wait_until_ready(client, child)
            yield Api(
                port,
                psutil.Process(child.pid),
                psutil.Process(server.child.pid),
                driver,
                client,
                time.perf_counter() - began,
            )
        finally:
            child.stop(30)


def _wait_until_ready(client: httpx2.Client, api: Child) -> None:
    while True:
        try:
            if client.get("/readyz").status_code == 200:
                return
        except httpx2.TransportError:
            if api.exit_code() is not None:
                sys.exit(api.tail())
        time.sleep(SECONDS_BETWEEN_LOOKS)


def percentile(values: list[float], percent: int) -> float:
    """A percentile by interpolation between measured values."""
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def used(process: psutil.Process) -> float:
    """Processor seconds of a process and of its children that have ended."""
    return float(sum(process.cpu_times()[:4]))


def _quiet(_: str) -> None:
    return
