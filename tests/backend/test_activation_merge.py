"""A federation that is merged while an older plan is activated, or before it is rolled back, keeps its links."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import neo4j
import pytest

from algorithms import Interests, Overlay, build
from algorithms.files import write_links
from algorithms.workloads import generate
from backend.rebuilds import activation
from tests.backend.live import Served, served
from tests.backend.test_imports import finish, send, written
from tests.backend.test_rebuilds import candidates, check_every_version, fill, planned, wait_for
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j


@pytest.fixture
def live(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Served]:
    monkeypatch.setattr(activation, "SECONDS_BETWEEN_LOOKS", 0.05)
    with served(neo4j_server, database, tmp_path / "home") as opened:
        fill(opened)
        yield opened


def merged(live: Served, folder: Path, name: str) -> set[tuple[str, str]]:
    """The links that a second federation with the same topics brought."""
    second = generate(brokers=20, topics=15, subscriptions=4, seed=2)
    interests = Interests.from_mapping({f"{name} {b}": second.topics_of(b) for b in second.brokers})
    # More than any algorithm would leave, so that a plan made anew would close some.
    links: Overlay = build("degree-cover", interests, k=2)
    write_links(links, folder / "links.csv")
    files = {"interests": written(folder, interests), "links": folder / "links.csv"}
    finish(live, send(live, "merges", files))
    return set(links.link_names())


def test_a_federation_keeps_its_links(live: Served, tmp_path: Path) -> None:
    before = live.stored_links()
    live.ask("PUT", "policy", json={"settle_seconds": 3600, "strategy": "shadow"})
    found = planned(live, "gm2")["id"]
    target = candidates(live, found)
    late = min(min(target - before))  # its agent holds it up
    live.ask("POST", "brokers", late, "acks", json={"version": 0})
    live.ask("POST", "rebuilds", found, "activate", status=202)
    during = merged(live, tmp_path, "during")
    live.ask("PUT", "policy", json={"settle_seconds": 0})
    wait_for(live, found, "active")
    assert live.stored_links() >= target | during

    after = merged(live, tmp_path, "after")
    live.ask("POST", "rebuilds", found, "rollback", status=202)
    wait_for(live, found, "planned")
    assert live.stored_links() >= before | during | after
    check_every_version(live)
