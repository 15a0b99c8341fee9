"""What imports heed on a real Neo4j: the policy of the moment, the limits of the installation, all that is asked for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neo4j
import pytest

from algorithms import Interests, Overlay, build, workloads
from algorithms.files import write_links
from backend.worker import in_process
from tests.backend.conftest import rows
from tests.backend.live import Served, served, wait_until_ready
from tests.backend.test_imports import SMALL, finish, send, written
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j


@pytest.fixture
def live(neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path) -> Iterator[Served]:
    with served(neo4j_server, database, tmp_path / "home") as opened:
        yield opened


@pytest.mark.parametrize("kind", ["imports", "merges"])
def test_a_policy_that_is_changed_while_links_are_found_is_heeded(
    live: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    first = workloads.generate(brokers=30, topics=8, subscriptions=3, seed=1)
    named = Interests.from_mapping({f"first {b}": first.topics_of(b) for b in first.brokers})
    if kind == "merges":
        finish(live, send(live, "imports", {"interests": written(tmp_path, named)}))
    found, changed = threading.Event(), threading.Event()

    async def beside(*given: Any, **also: Any) -> Any:
        answer_comes_later = await in_process(*given, **also) if kind == "merges" else None
        found.set()
        while not changed.is_set():
            await asyncio.sleep(0.01)
        return answer_comes_later or await in_process(*given, **also)

    monkeypatch.setattr("backend.imports.jobs.in_process", beside)
    second = workloads.generate(brokers=30, topics=8, subscriptions=3, seed=2)
    write_links(build("gm", second), tmp_path / "links.csv")
    files = {"interests": written(tmp_path, second, "second.csv"), "links": tmp_path / "links.csv"}
    job = send(live, kind, files if kind == "merges" else {"interests": files["interests"]})
    assert found.wait(60)
    answer = live.ask("PUT", "policy", json={"k": 2, "settle_seconds": 7})
    changed.set()
    finish(live, job)
    wait_until_ready(live.client)
    policy = live.ask("GET", "policy")
    assert (policy["k"], policy["settle_seconds"]) == (2, 7)
    assert live.version == answer["version"] + 1
    (stored,) = rows(live.driver, "MATCH (o:Overlay) RETURN o.k AS k, o.settle_seconds AS seconds")
    assert stored == {"k": 2, "seconds": 7}
    interests = Interests.from_mapping(live.stored_interests())
    assert len(interests.brokers) == (60 if kind == "merges" else 30)
    assert Overlay.from_names(interests, live.stored_links()).is_ktco(2)


def test_what_would_be_ignored_is_refused(live: Served, tmp_path: Path) -> None:
    files = {"interests": written(tmp_path, SMALL)}
    refused = send(live, "imports", files, 422, adopt="false")
    assert (refused["field"], "adopt=false" in refused["detail"]) == ("links", True)
    live.join("a", "x")
    refused = send(live, "imports", files, 422, build="gm")
    assert (refused["field"], "1 brokers already" in refused["detail"]) == ("build", True)
    assert live.version == 1
    assert list((tmp_path / "home" / "uploads").iterdir()) == []


@pytest.mark.parametrize("lives", [False, True])
def test_files_obey_the_limits_of_the_installation(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path, lives: bool
) -> None:
    with served(neo4j_server, database, tmp_path / "home", max_id_length=40, max_broker_topics=2) as live:
        if lives:
            live.join("a", "x")
        for topics, told in (
            ({"b": ["long" * 11]}, "i.csv, topic: an id has at most 40 characters here"),
            ({"b": ["x"], "c": ["x", "y", "z"]}, "i.csv, topic: at most 2 topics a broker"),
        ):
            files = {"interests": written(tmp_path, Interests.from_mapping(topics), "i.csv")}
            failed = finish(live, send(live, "imports", files), "failed")
            assert failed["error"].startswith(told), failed
            assert failed["problem"] == "bad-value"
        assert live.version == int(lives)
