"""A stand-in for the API, for states that the real one does not produce on request.

Topics that are apart, an API that is away, slow, starting or refusing, topics of a thousand subscribers: the pages'
tests say which overlay they want. What the product shows of a real overlay is tested on the real API.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import networkx as nx

KEY = "a-key-for-tests"


@dataclass
class FakeOverlay:
    """Topics as graphs; everything the API says is computed from them."""

    graphs: dict[str, nx.Graph[str]] = field(default_factory=dict)
    version: int = 1
    policy: dict[str, Any] = field(default_factory=lambda: {"k": 1})

    def whole(self) -> nx.Graph[str]:
        return nx.compose_all(list(self.graphs.values())) if self.graphs else nx.Graph()

    def overlay(self) -> dict[str, Any]:
        whole = self.whole()
        degrees = [degree for _, degree in whole.degree()]
        return {
            "version": self.version,
            "brokers": whole.number_of_nodes(),
            "topics": len(self.graphs),
            "subscriptions": sum(graph.number_of_nodes() for graph in self.graphs.values()),
            "links": whole.number_of_edges(),
            "average_degree": sum(degrees) / len(degrees) if degrees else 0.0,
            "max_degree": max(degrees, default=0),
            "policy": self.policy,
            "topics_apart": sum(nx.number_connected_components(graph) > 1 for graph in self.graphs.values()),
            "degree_histogram": [[d, degrees.count(d)] for d in sorted(set(degrees))],
        }

    def row(self, name: str) -> dict[str, Any]:
        graph = self.graphs[name]
        return {
            "name": name,
            "subscribers": graph.number_of_nodes(),
            "components": nx.number_connected_components(graph),
            "diameter": nx.diameter(graph) if nx.is_connected(graph) else None,
            "articulation_brokers": len(list(nx.articulation_points(graph))),
        }

    def page(self, query: str, sort: str, limit: int, offset: int) -> dict[str, Any]:
        column = sort.removeprefix("-")
        rows = sorted((self.row(name) for name in self.graphs if query in name), key=lambda row: row["name"])
        rows.sort(key=lambda row: (row[column] is None, row[column] or 0), reverse=sort.startswith("-"))
        return {"items": rows[offset : offset + limit], "total": len(rows), "next": None}

    def topic(self, name: str) -> dict[str, Any]:
        graph = self.graphs[name]
        components = sorted(
            (sorted(part) for part in nx.connected_components(graph)), key=lambda c: (-len(c), c)
        )
        if len(graph) < 100:
            connectivity = nx.node_connectivity(graph) if len(graph) > 1 else 0
        else:
            # Exact would take minutes; nobody asks a crowd for more than this.
            connectivity = 2 if nx.is_biconnected(graph) else int(nx.is_connected(graph))
        return {
            "name": name,
            "version": self.version,
            "subscribers": len(graph),
            "components": components,
            "blocks": len(list(nx.biconnected_components(graph))),
            "articulation_brokers": sorted(nx.articulation_points(graph)),
            "bridges": [sorted(bridge) for bridge in nx.bridges(graph)],
            "diameter": nx.diameter(graph) if nx.is_connected(graph) else None,
            "connectivity": connectivity if connectivity < 3 else "3+",
        }

    def graph(self, name: str) -> dict[str, Any]:
        graph, topic, whole = self.graphs[name], self.topic(name), self.whole()
        cut, bridges = set(topic["articulation_brokers"]), {tuple(bridge) for bridge in topic["bridges"]}
        members = [broker for part in topic["components"] for broker in part]
        rank = {broker: number for number, part in enumerate(topic["components"]) for broker in part}
        angle = {broker: 2 * math.pi * place / len(members) for place, broker in enumerate(members)}
        return {
            "name": name,
            "version": self.version,
            "nodes": [
                {
                    "id": broker,
                    "x": math.cos(angle[broker]),
                    "y": math.sin(angle[broker]),
                    "degree": whole.degree(broker),
                    "topic_degree": graph.degree(broker),
                    "component": rank[broker],
                    "articulation": broker in cut,
                }
                for broker in members
            ],
            "links": [
                {"a": min(a, b), "b": max(a, b), "bridge": (min(a, b), max(a, b)) in bridges}
                for a, b in graph.edges
            ],
        }


@dataclass
class FakeApi:
    """The running stand-in; a test changes ``overlay``, ``trouble`` and ``delay`` as it goes."""

    url: str
    overlay: FakeOverlay
    trouble: tuple[int, str, str] | None = None
    delay: float = 0.0
    asked: list[str] = field(default_factory=list)

    def answer(self, target: str, key: str | None) -> tuple[int, dict[str, Any]]:
        """Status and body for one GET."""
        self.asked.append(target)
        time.sleep(self.delay)
        if self.trouble is not None:
            status, title, detail = self.trouble
            return status, problem(status, title, detail)
        if key != KEY:
            return 401, problem(401, "No valid key", "Give a key in the header X-API-Key.")
        parts = urlsplit(target)
        params = {name: values[0] for name, values in parse_qs(parts.query).items()}
        match [unquote(part) for part in parts.path.split("/")[2:]]:
            case ["overlay"]:
                return 200, self.overlay.overlay()
            case ["topics"]:
                page = self.overlay.page(
                    params.get("q", ""),
                    params.get("sort", "name"),
                    int(params["limit"]),
                    int(params["offset"]),
                )
                return 200, page
            case ["topics", name] if name in self.overlay.graphs:
                return 200, self.overlay.topic(name)
            case ["topics", name, "graph"] if name in self.overlay.graphs:
                return 200, self.overlay.graph(name)
        return 404, problem(404, "Not found", f"{parts.path} is not there")


def problem(status: int, title: str, detail: str) -> dict[str, Any]:
    return {"type": "about:blank", "title": title, "status": status, "detail": detail}


@contextmanager
def serve(overlay: FakeOverlay, port: int = 0) -> Iterator[FakeApi]:
    """Serve until the block ends."""
    api = FakeApi(url="", overlay=overlay)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, body = api.answer(self.path, self.headers.get("X-API-Key"))
            payload = json.dumps(body).encode()
            kind = "application/json" if status < 400 else "application/problem+json"
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Nothing: the tests ask ``asked``."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    api.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def star(*brokers: str) -> nx.Graph[str]:
    """The first broker linked to each of the others."""
    return nx.Graph([(brokers[0], other) for other in brokers[1:]])


def ring(*brokers: str) -> nx.Graph[str]:
    """Each broker linked to the next, the last to the first."""
    return nx.Graph(list(zip(brokers, [*brokers[1:], brokers[0]], strict=True)))


def pieces(*parts: nx.Graph[str]) -> nx.Graph[str]:
    """A topic that is apart."""
    return nx.compose_all(list(parts))


def alone(broker: str) -> nx.Graph[str]:
    """A topic with one subscriber."""
    graph: nx.Graph[str] = nx.Graph()
    graph.add_node(broker)
    return graph


def small() -> FakeOverlay:
    """A topic of each kind, and enough others for a second page of the list."""
    names = [f"/region/{number // 4}/broker-{number}" for number in range(24)]
    graphs = {
        "/orders/created": star(*names[:9]),
        "/orders/paid": ring(*names[4:16]),
        "/stock/levels": pieces(ring(*names[:6]), star(*names[10:14]), alone(names[20])),
        "/audit/one": alone(names[0]),
        "/pair/of two": star(names[1], names[2]),
    }
    graphs |= {f"/plain/{number:03}": star(*names[number % 20 : number % 20 + 3]) for number in range(60)}
    return FakeOverlay(graphs)
