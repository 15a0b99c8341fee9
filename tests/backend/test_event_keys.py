"""A stream of events goes on for as long as its key works."""

from __future__ import annotations

from pathlib import Path

import httpx2
import neo4j
import pytest

from backend.api import create_app, events
from tests.backend.live import KEY, settings_of
from tests.backend.running_api import running
from tests.backend.test_rebuilds import wait_until
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j


def test_a_revoked_key_loses_its_stream_of_events(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "SECONDS_BETWEEN_PINGS", 0.2)
    with (
        running(create_app(settings_of(neo4j_server, tmp_path))) as url,
        httpx2.Client(base_url=url, headers=KEY, timeout=60, trust_env=False) as client,
    ):
        wait_until(lambda: client.get("/readyz").status_code == 200)
        made = client.post("/v1/keys", json={"name": "follower", "scope": "read"}).json()
        with client.stream("GET", "/v1/events", headers={"X-API-Key": made["key"]}) as stream:
            lines = stream.iter_lines()
            pings = 0
            while pings < 3:  # it goes on for as long as the key works
                pings += next(lines).startswith(": ping")
            assert client.delete(f"/v1/keys/{made['id']}").status_code == 200
            rest = sum(line.startswith(": ping") for line in lines)
        assert rest <= 20, "it ended by itself"
