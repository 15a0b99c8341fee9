"""A served overlay for tests: the app over the real server, with a few calls in its own words."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import neo4j
from fastapi.testclient import TestClient

from backend.api import create_app
from backend.settings import Settings
from tests.backend.conftest import rows
from tests.conftest import Neo4jServer

KEY = {"X-API-Key": "a key for tests"}


def settings_of(server: Neo4jServer, home: Path, **more: Any) -> Settings:
    """The settings of an installation on the server of the tests."""
    return Settings.load(
        home=home,
        api_key=KEY["X-API-Key"],
        neo4j_uri=server.uri,
        neo4j_user=server.user,
        neo4j_password=server.password,
        **more,
    )


class Served:
    """The API with an overlay, and the database behind it."""

    def __init__(self, client: TestClient, driver: neo4j.Driver) -> None:
        self.client = client
        self.driver = driver

    def ask(self, method: str, *segments: str, status: int = 200, **more: Any) -> Any:
        """The JSON answer of one call; each segment is percent-encoded by itself."""
        headers = {**KEY, **more.pop("headers", {})}
        path = "/v1/" + "/".join(quote(segment, safe="") for segment in segments)
        answer = self.client.request(method, path, headers=headers, **more)
        assert answer.status_code == status, (answer.status_code, answer.text)
        return answer.json()

    def join(self, broker: str, *topics: str, **more: Any) -> Any:
        return self.ask("POST", "brokers", status=201, json={"id": broker, "topics": list(topics)}, **more)

    def leave(self, broker: str, **more: Any) -> Any:
        return self.ask("DELETE", "brokers", broker, **more)

    @property
    def version(self) -> int:
        version: int = self.ask("GET", "overlay")["version"]
        return version

    def stored_links(self) -> set[tuple[str, str]]:
        """The links as Cypher reads them back."""
        return {
            (row["a"], row["b"])
            for row in rows(self.driver, "MATCH (a:Broker)-[:LINK]->(b:Broker) RETURN a.id AS a, b.id AS b")
        }

    def stored_interests(self) -> dict[str, list[str]]:
        """The interests as Cypher reads them back."""
        text = "MATCH (b:Broker) RETURN b.id AS id, [(b)-[:SUBSCRIBES]->(t) | t.name] AS topics"
        return {row["id"]: sorted(row["topics"]) for row in rows(self.driver, text)}


@contextmanager
def served(server: Neo4jServer, driver: neo4j.Driver, home: Path, **more: Any) -> Iterator[Served]:
    """Serve the overlay of a database until the block ends."""
    with TestClient(create_app(settings_of(server, home, **more))) as client:
        wait_until_ready(client)
        yield Served(client, driver)


def wait_until_ready(client: TestClient) -> None:
    deadline = time.monotonic() + 180  # the kernels may have to be compiled first
    while client.get("/readyz").status_code != 200:
        assert time.monotonic() < deadline, client.get("/readyz").json()
        time.sleep(0.05)
