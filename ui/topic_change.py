"""A topic's drawing after brokers failed: before the repair, and with the links that the repair opens and without those
that it closes.

Both keep the places of the living topic, so that the two pictures compare at a glance.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

from ui.answers import GraphBroker, GraphLink, TopicGraph

Parts = Sequence[Sequence[str]]
"""Components as the API knows them, for a drawing that shows a part of its topic: there they cannot be seen."""

FURTHER = 0.45


def failed(graph: TopicGraph, gone: Collection[str], parts: Parts | None = None) -> TopicGraph:
    """The topic right after the failure: the failed brokers crossed out, each component in its colour."""
    links = [link for link in graph["links"] if link["a"] not in gone and link["b"] not in gone]
    return _drawn(graph, gone, [_plain(link["a"], link["b"]) for link in links], parts)


def repaired(
    graph: TopicGraph,
    gone: Collection[str],
    opened: Iterable[tuple[str, str]],
    closed: Iterable[Sequence[str]],
    parts: Parts | None = None,
) -> TopicGraph:
    """The same with the links that the repair opens, as far as both their ends are in the drawing, without the closed."""
    here = {broker["id"] for broker in graph["nodes"]} - set(gone)
    no_more = {frozenset(link) for link in closed}
    links = [x for x in failed(graph, gone)["links"] if frozenset((x["a"], x["b"])) not in no_more]
    links += [_plain(a, b) | {"opened": True} for a, b in opened if a in here and b in here]
    return _drawn(graph, gone, links, parts)


def cut_off(parts: Parts, closed: Iterable[Sequence[str]]) -> str:
    """A broker worth looking at in a topic too large to draw: of the smallest component, beside what failed."""
    smallest = min(parts, key=len)
    lost = {end for link in closed for end in link}
    return next((broker for broker in smallest if broker in lost), smallest[0])


def reached(graph: TopicGraph, opened: Iterable[tuple[str, str]], parts: Parts) -> TopicGraph:
    """The drawing with the far ends of the repair's links, as far as they have the topic: further out, fanned."""
    places = {broker["id"]: broker for broker in graph["nodes"]}
    members = {broker for part in parts for broker in part}
    added: dict[str, GraphBroker] = {}
    fan: dict[str, int] = {}
    for a, b in opened:
        for near, far in ((a, b), (b, a)):
            if near not in places or far in places or far in added or far not in members:
                continue
            turn = fan[near] = fan.get(near, 0) + 1
            x, y = places[near]["x"], places[near]["y"]
            angle = math.atan2(y, x) + (turn // 2) * (0.5 if turn % 2 else -0.5)
            added[far] = {
                "id": far,
                "x": x + FURTHER * math.cos(angle),
                "y": y + FURTHER * math.sin(angle),
                "degree": 1,
                "topic_degree": 0,
                "component": 0,
                "articulation": False,
            }
    return {**graph, "nodes": [*graph["nodes"], *added.values()]}


def _plain(a: str, b: str) -> GraphLink:
    return {"a": a, "b": b, "bridge": False}


def _drawn(
    graph: TopicGraph, gone: Collection[str], links: list[GraphLink], parts: Parts | None
) -> TopicGraph:
    living = [broker["id"] for broker in graph["nodes"] if broker["id"] not in gone]
    if parts is None:
        rank = components(living, [(link["a"], link["b"]) for link in links])
    else:
        largest_first = sorted(parts, key=lambda part: (-len(part), min(part)))
        rank = {broker: number for number, part in enumerate(largest_first) for broker in part}
    degree = dict.fromkeys(living, 0)
    for link in links:
        degree[link["a"]] += 1
        degree[link["b"]] += 1
    nodes: list[GraphBroker] = [
        broker
        | {
            "component": rank.get(broker["id"], 0),
            "topic_degree": degree.get(broker["id"], 0),
            "articulation": False,
            "failed": broker["id"] in gone,
        }
        for broker in graph["nodes"]
    ]
    return {"name": graph["name"], "version": graph["version"], "nodes": nodes, "links": links}


def components(brokers: Iterable[str], links: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Each broker's component, 0 for the largest; of equals the one with the first id comes first.

    >>> components(["a", "b", "c"], [("b", "c")])
    {'b': 0, 'c': 0, 'a': 1}
    """
    head = {broker: broker for broker in brokers}

    def find(broker: str) -> str:
        while head[broker] != broker:
            head[broker] = head[head[broker]]
            broker = head[broker]
        return broker

    for a, b in links:
        head[find(a)] = find(b)
    members: dict[str, list[str]] = {}
    for broker in sorted(head):
        members.setdefault(find(broker), []).append(broker)
    ordered = sorted(members.values(), key=lambda part: (-len(part), part[0]))
    return {broker: rank for rank, part in enumerate(ordered) for broker in part}
