"""Metrics: what a scrape gets, with and without an overlay; few series, whatever is asked."""

from __future__ import annotations

from pathlib import Path

import neo4j
import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from backend.api import create_app
from backend.metrics import Metrics, OverlayFigures
from tests.backend.test_api import KEY, settings, wait_until_ready
from tests.conftest import Neo4jServer

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def samples(text: str) -> Samples:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(found: Samples, name: str, **labels: str) -> float:
    return found[name, frozenset(labels.items())]


def test_changes_and_commits_are_counted() -> None:
    metrics = Metrics()
    for outcome in ("committed", "committed", "refused"):
        metrics.change("join", outcome)
    metrics.commit_seconds.observe(0.015)
    metrics.group_size.observe(3)
    metrics.queue_length.set(7)
    metrics.event_clients.inc()
    found = samples(metrics.text().decode())
    assert value(found, "topicweave_changes_total", kind="join", outcome="committed") == 2
    assert value(found, "topicweave_changes_total", kind="join", outcome="refused") == 1
    assert value(found, "topicweave_commit_seconds_bucket", le="0.01") == 0
    assert value(found, "topicweave_commit_seconds_bucket", le="0.02") == 1
    assert value(found, "topicweave_commit_changes_sum") == 3
    assert value(found, "topicweave_queue_length") == 7
    assert value(found, "topicweave_event_clients") == 1


def test_the_overlay_is_asked_at_every_scrape() -> None:
    metrics = Metrics()
    figures: list[OverlayFigures | None] = [None]
    metrics.watch(lambda: figures[0])
    found = samples(metrics.text().decode())
    assert value(found, "topicweave_ready") == 0
    assert not any(name.startswith("topicweave_overlay") for name, _ in found)
    figures[0] = OverlayFigures(5, 10, 4, 30, 12, 2.4, 6)
    found = samples(metrics.text().decode())
    assert value(found, "topicweave_ready") == 1
    assert value(found, "topicweave_overlay_version") == 5
    assert value(found, "topicweave_overlay_average_degree") == 2.4
    assert not any(name == "topicweave_overlay_drift" for name, _ in found)
    figures[0] = OverlayFigures(6, 10, 4, 30, 12, 2.4, 6, drift=0.12)
    assert value(samples(metrics.text().decode()), "topicweave_overlay_drift") == 0.12


def test_two_apps_in_one_process_do_not_mix() -> None:
    first, second = Metrics(), Metrics()
    first.change("join", "committed")
    assert b'kind="join"' in first.text()
    assert b'kind="join"' not in second.text()


@pytest.mark.neo4j
def test_a_scrape_of_the_api(neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path) -> None:
    with TestClient(create_app(settings(neo4j_server, tmp_path, demo="autoware"))) as client:
        wait_until_ready(client)
        overlay = client.get("/v1/overlay", headers=KEY).json()
        for topic in ("%2Fdiagnostics", "nowhere", "a%2Fb"):
            client.get(f"/v1/topics/{topic}", headers=KEY)
        client.get("/v1/overlay")
        client.get("/wp-login.php")
        client.request("BREW", "/v1/overlay")
        answer = client.get("/metrics")
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        found = samples(answer.text)
        for name in (
            "version",
            "brokers",
            "topics",
            "subscriptions",
            "links",
            "average_degree",
            "max_degree",
        ):
            assert value(found, f"topicweave_overlay_{name}") == overlay[name]
        requests = "topicweave_http_requests_total"
        assert value(found, requests, method="GET", route="/v1/topics/{name}", status="200") == 1
        assert value(found, requests, method="GET", route="/v1/topics/{name}", status="404") == 2
        assert value(found, requests, method="GET", route="/v1/overlay", status="200") == 1
        assert value(found, requests, method="GET", route="/v1/overlay", status="401") == 1
        assert value(found, requests, method="GET", route="(none)", status="404") == 1
        assert value(found, requests, method="(other)", route="/v1/overlay", status="405") == 1
        seconds = "topicweave_http_request_seconds_count"
        assert value(found, seconds, method="GET", route="/v1/topics/{name}") == 3
        assert value(found, "topicweave_info", version=client.app.version) == 1  # type: ignore[attr-defined]
        assert "diagnostics" not in answer.text
