"""The overlay behind the stand-in API: topics as graphs, from which every answer is computed.

A change repairs in the simplest way that is right (components of a topic joined by their first brokers), remembers the
graphs it found, and writes a Change; so plans, history, differences and older versions agree with each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import networkx as nx

from backend.policy import Policy

Link = tuple[str, str]
Graphs = dict[str, "nx.Graph[str]"]
START = datetime(2026, 3, 1, 22, 0, tzinfo=UTC)


def link(a: str, b: str) -> Link:
    return (a, b) if a < b else (b, a)


def links_of(graphs: Graphs) -> set[Link]:
    return {link(a, b) for graph in graphs.values() for a, b in graph.edges}


def subscriptions_of(graphs: Graphs) -> set[tuple[str, str]]:
    return {(broker, topic) for topic, graph in graphs.items() for broker in graph}


def brokers_of(graphs: Graphs) -> list[str]:
    return sorted({broker for graph in graphs.values() for broker in graph})


@dataclass
class Planned:
    """What a change would do: the graphs after it, the links it opens and closes, and why."""

    graphs: Graphs
    opened: list[Link]
    closed: list[Link]
    opened_reasons: list[str]
    closed_reasons: list[str]
    apart: list[dict[str, Any]]
    weak: int = 0
    """How many topics are not 2-connected before the repair, those apart among them."""

    def lists(self) -> dict[str, Any]:
        return {
            "opened": [list(pair) for pair in self.opened],
            "closed": [list(pair) for pair in self.closed],
            "opened_reasons": self.opened_reasons,
            "closed_reasons": self.closed_reasons,
        }


@dataclass
class FakeOverlay:
    """The live overlay and its past."""

    graphs: Graphs = field(default_factory=dict)
    version: int = 1
    policy: dict[str, Any] = field(default_factory=lambda: Policy().properties())
    drift: dict[str, Any] | None = None
    alarms: list[dict[str, Any]] = field(default_factory=list)
    failures: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    changes: list[dict[str, Any]] = field(default_factory=list)
    past: dict[int, Graphs] = field(default_factory=dict)
    oldest_version: int = 1

    def at(self, version: int | None) -> FakeOverlay:
        """The overlay as it was; reads only."""
        if version is None or version == self.version:
            return self
        return FakeOverlay(self.past[version], version, self.policy)

    def whole(self) -> nx.Graph[str]:
        return nx.compose_all(list(self.graphs.values())) if self.graphs else nx.Graph()

    def figures(self) -> dict[str, Any]:
        whole = self.whole()
        degrees = [degree for _, degree in whole.degree()]
        return {
            "brokers": whole.number_of_nodes(),
            "links": whole.number_of_edges(),
            "average_degree": sum(degrees) / len(degrees) if degrees else 0.0,
            "max_degree": max(degrees, default=0),
        }

    def overlay(self) -> dict[str, Any]:
        degrees = [degree for _, degree in self.whole().degree()]
        apart = sum(nx.number_connected_components(graph) > 1 for graph in self.graphs.values())
        return self.figures() | {
            "version": self.version,
            "at": self.time_of(self.version),
            "topics": len(self.graphs),
            "subscriptions": sum(graph.number_of_nodes() for graph in self.graphs.values()),
            "policy": self.policy,
            "topics_apart": apart,
            "topics_below_k": apart,
            "degree_histogram": [[d, degrees.count(d)] for d in sorted(set(degrees))],
            "drift": self.drift,
            "activation": None,
            "alarms": self.alarms,
            "failures": {
                "reports": len(self.failures),
                "brokers": sorted(self.failures),
            },
            "oldest_version": self.oldest_version,
            "queue": 0,
        }

    def time_of(self, version: int) -> str:
        return (
            (START + timedelta(minutes=7 * version)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        )

    # Topics

    def row(self, name: str) -> dict[str, Any]:
        graph = self.graphs[name]
        return {
            "name": name,
            "subscribers": graph.number_of_nodes(),
            "components": nx.number_connected_components(graph),
            "connectivity": min(2, int(nx.is_connected(graph))),
            "diameter": nx.diameter(graph) if nx.is_connected(graph) else None,
            "diameter_sampled": len(graph) > 600,
            "articulation_brokers": len(list(nx.articulation_points(graph))),
        }

    def topics(self, query: str, sort: str, limit: int, offset: int, problems: bool) -> dict[str, Any]:
        rows = [self.row(name) for name in self.graphs if query.casefold() in name.casefold()]
        if problems:
            rows = [row for row in rows if row["components"] > 1]
        return page(rows, "name", sort, limit, offset)

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
            # As of an API that has no time for more; the real one looks further.
            "diameter_sampled": len(graph) > 600,
            "connectivity": connectivity if connectivity < 3 else "3+",
        }

    def graph(self, name: str, around: str | None = None) -> dict[str, Any]:
        graph, topic, whole = self.graphs[name], self.topic(name), self.whole()
        if around is not None:
            graph = nx.ego_graph(graph, around, radius=2)
        cut, bridges = set(topic["articulation_brokers"]), {tuple(bridge) for bridge in topic["bridges"]}
        members = [broker for part in topic["components"] for broker in part if broker in graph]
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

    # Brokers

    def topics_of(self, broker: str) -> list[str]:
        return sorted(topic for topic, graph in self.graphs.items() if broker in graph)

    def blast_radius(self, broker: str) -> list[str]:
        return [t for t in self.topics_of(broker) if broker in set(nx.articulation_points(self.graphs[t]))]

    def backups(self, broker: str) -> list[str]:
        """The next two in the order of ids."""
        everyone = brokers_of(self.graphs)
        place = everyone.index(broker)
        return [other for other in (everyone * 2)[place + 1 : place + 3] if other != broker]

    def primaries(self, broker: str) -> list[str]:
        return [other for other in brokers_of(self.graphs) if broker in self.backups(other)]

    def brokers(self, query: str, sort: str, limit: int, offset: int) -> dict[str, Any]:
        whole = self.whole()
        rows: list[dict[str, Any]] = [
            {
                "id": broker,
                "degree": whole.degree(broker),
                "topics": len(self.topics_of(broker)),
                "backups": len(self.backups(broker)),
                "primaries": len(self.primaries(broker)),
            }
            for broker in brokers_of(self.graphs)
            if query.casefold() in broker.casefold()
        ]
        if sort.endswith("blast_radius"):
            for row in rows:
                row["blast_radius"] = len(self.blast_radius(row["id"]))
        return page(rows, "id", sort, limit, offset)

    def broker(self, broker: str) -> dict[str, Any]:
        shared = {
            other: [t for t, graph in sorted(self.graphs.items()) if graph.has_edge(broker, other)]
            for other in sorted(self.whole()[broker])
        }
        return {
            "id": broker,
            "version": self.version,
            "topics": self.topics_of(broker),
            "links": [
                {
                    "broker": other,
                    "since": 1,
                    "reason": "import",
                    "topics_served": len(topics),
                    "topics": topics,
                }
                for other, topics in shared.items()
            ],
            "degree": len(shared),
            "backups": self.backups(broker),
            "primaries": self.primaries(broker),
            "blast_radius": self.blast_radius(broker),
            "attributes": {"site": "north"},
            "lease": None,
            "acked": None,
            "failures": self.failures.get(broker, []),
        }

    # Changes

    def plan(self, operations: Iterable[dict[str, Any]]) -> Planned:
        graphs = {topic: graph.copy() for topic, graph in self.graphs.items()}
        for operation in operations:
            broker, topics = operation["broker"], operation.get("topics") or []
            if operation["op"] == "leave":
                topics = [topic for topic, graph in graphs.items() if broker in graph]
            for topic in topics:
                if operation["op"] in ("join", "subscribe"):
                    graphs.setdefault(topic, nx.Graph()).add_node(broker)
                elif broker in graphs.get(topic, ()):
                    graphs[topic].remove_node(broker)
        graphs = {topic: graph for topic, graph in graphs.items() if len(graph)}
        apart: list[dict[str, Any]] = []
        weak = sum(
            len(graph) < len(self.graphs[topic]) and not nx.is_biconnected(graph)
            for topic, graph in graphs.items()
            if topic in self.graphs and len(graph) > 2
        )
        reasons: dict[Link, str] = {}
        for topic, graph in sorted(graphs.items()):
            parts = sorted((sorted(p) for p in nx.connected_components(graph)), key=lambda p: (-len(p), p))
            was_apart = topic in self.graphs and not nx.is_connected(self.graphs[topic])
            if len(parts) > 1 and not was_apart:
                apart.append({"topic": topic, "subscribers": len(graph), "components": parts})
                for part in parts[1:]:
                    repair = link(parts[0][0], part[0])
                    reasons.setdefault(repair, f"joins 2 components of {topic}")
                    for other in graphs.values():
                        if repair[0] in other and repair[1] in other:
                            other.add_edge(*repair)
        before, after = links_of(self.graphs), links_of(graphs)
        opened, closed = sorted(after - before), sorted(before - after)
        return Planned(
            graphs,
            opened,
            closed,
            [reasons.get(pair, "repair") for pair in opened],
            ["its broker left" if any(o["op"] == "leave" for o in operations) else "no shared topic"]
            * len(closed),
            apart,
            weak,
        )

    def change_policy(self, values: dict[str, Any], actor: str) -> None:
        """Another policy, which changes no link here."""
        before = {name: self.policy[name] for name in values}
        self.policy = self.policy | values
        self.apply(self.plan([]), "policy", None, actor)
        self.changes[-1] |= {"policy_before": before, "policy_after": values}

    def apply(self, planned: Planned, kind: str, broker: str | None, actor: str) -> None:
        """Make the plan true, and write it down."""
        before = set(brokers_of(self.graphs)), subscriptions_of(self.graphs)
        after = set(brokers_of(planned.graphs)), subscriptions_of(planned.graphs)
        self.past[self.version] = self.graphs
        self.graphs, self.version = planned.graphs, self.version + 1
        self.changes.append(
            {
                "version": self.version,
                "group": f"group-{self.version}",
                "at": self.time_of(self.version),
                "actor": actor,
                "kind": kind,
                "broker": broker,
                "joined": sorted(after[0] - before[0]),
                "left": sorted(before[0] - after[0]),
                "subscribed": [list(pair) for pair in sorted(after[1] - before[1])],
                "unsubscribed": [list(pair) for pair in sorted(before[1] - after[1])],
                **planned.lists(),
            }
        )

    def diff(self, first: int, second: int) -> dict[str, Any]:
        a, b = self.at(first).graphs, self.at(second).graphs

        def difference(one: Iterable[Any], other: Iterable[Any]) -> list[Any]:
            return [list(x) if isinstance(x, tuple) else x for x in sorted(set(other) - set(one))]

        return {
            "from": first,
            "to": second,
            "opened": difference(links_of(a), links_of(b)),
            "closed": difference(links_of(b), links_of(a)),
            "joined": difference(brokers_of(a), brokers_of(b)),
            "left": difference(brokers_of(b), brokers_of(a)),
            "subscribed": difference(subscriptions_of(a), subscriptions_of(b)),
            "unsubscribed": difference(subscriptions_of(b), subscriptions_of(a)),
        }

    def trend(self) -> dict[str, Any]:
        opened = {change["version"]: len(change["opened"]) for change in self.changes}
        closed = {change["version"]: len(change["closed"]) for change in self.changes}
        return {
            "points": [
                self.at(version).figures()
                | {
                    "version": version,
                    "at": self.time_of(version),
                    "opened": opened.get(version, 0),
                    "closed": closed.get(version, 0),
                }
                for version in [*sorted(self.past), self.version]
            ]
        }


def page(rows: list[dict[str, Any]], name: str, sort: str, limit: int, offset: int) -> dict[str, Any]:
    column = sort.removeprefix("-")
    rows = sorted(rows, key=lambda row: row[name])
    rows.sort(key=lambda row: (row[column] is None, row[column] or 0), reverse=sort.startswith("-"))
    if column == name:
        rows.sort(key=lambda row: row[name], reverse=sort.startswith("-"))
    following = str(offset + limit) if offset + limit < len(rows) else None
    return {"items": rows[offset : offset + limit], "total": len(rows), "next": following}


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
