"""What Prometheus is told: one :class:`Metrics` an app, with a registry of its own.

Labels hold what the code names (kinds, outcomes, routes), never a broker or a topic: a federation of a million
brokers has as many series as one of ten. The overlay's figures are read when a scrape asks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import version

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

_COMMIT_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
_REQUEST_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
_GROUP_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


@dataclass(frozen=True)
class OverlayFigures:
    """The live overlay in numbers; ``drift`` is None where nobody has estimated it."""

    version: int
    brokers: int
    topics: int
    subscriptions: int
    links: int
    average_degree: float
    max_degree: int
    drift: float | None = None


_FIGURES = {
    "version": "the overlay's version",
    "brokers": "brokers in the overlay",
    "topics": "topics with a subscriber",
    "subscriptions": "subscriptions of all brokers",
    "links": "links of the live overlay",
    "average_degree": "links a broker keeps, on average",
    "max_degree": "links of the broker that keeps most",
    "drift": "by what share the average degree is above that of a fresh build, as estimated; absent while unknown",
}


class Metrics:
    """Every metric of one API process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._changes = Counter(
            "topicweave_changes",
            "changes asked for, by kind and by what became of them",
            ["kind", "outcome"],
            registry=self.registry,
        )
        self.commit_seconds = Histogram(
            "topicweave_commit_seconds",
            "one commit of waiting changes, from its begin to Neo4j's answer",
            buckets=_COMMIT_SECONDS,
            registry=self.registry,
        )
        self.group_size = Histogram(
            "topicweave_commit_changes",
            "changes that one transaction committed together",
            buckets=_GROUP_SIZES,
            registry=self.registry,
        )
        self.queue_length = Gauge(
            "topicweave_queue_length", "changes that wait to be planned", registry=self.registry
        )
        self.event_clients = Gauge(
            "topicweave_event_clients", "clients that follow /v1/events now", registry=self.registry
        )
        self.lease_brake = Gauge(
            "topicweave_lease_brake",
            "1 while too many leases have expired at once, so that none is enforced",
            registry=self.registry,
        )
        self._requests = Counter(
            "topicweave_http_requests",
            "HTTP requests answered",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self._request_seconds = Histogram(
            "topicweave_http_request_seconds",
            "one HTTP request, to the end of its answer (to its begin for a stream of events)",
            ["method", "route"],
            buckets=_REQUEST_SECONDS,
            registry=self.registry,
        )
        Info("topicweave", "the release", registry=self.registry).info({"version": version("topicweave")})
        ProcessCollector(registry=self.registry)

    def change(self, kind: str, outcome: str) -> None:
        """Count one change; outcomes: ``committed``, ``unchanged``, ``refused``, ``failed``."""
        self._changes.labels(kind, outcome).inc()

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one answered request; ``route`` is the template, not the path."""
        self._requests.labels(method, route, str(status)).inc()
        self._request_seconds.labels(method, route).observe(seconds)

    def watch(self, figures: Callable[[], OverlayFigures | None]) -> None:
        """Ask ``figures`` at every scrape; None while no overlay is served."""
        self.registry.register(_OverlayCollector(figures))

    def text(self) -> bytes:
        """What a scrape gets, in Prometheus' text format."""
        return generate_latest(self.registry)


class _OverlayCollector(Collector):
    def __init__(self, figures: Callable[[], OverlayFigures | None]) -> None:
        self._figures = figures

    def describe(self) -> Iterable[Metric]:
        return ()  # so that registering does not ask for figures that are not there yet

    def collect(self) -> Iterable[Metric]:
        figures = self._figures()
        yield GaugeMetricFamily("topicweave_ready", "is the overlay served?", value=int(figures is not None))
        if figures is None:
            return
        for name, meaning in _FIGURES.items():
            value = getattr(figures, name)
            if value is not None:
                yield GaugeMetricFamily(f"topicweave_overlay_{name}", meaning, value=value)
