"""The right answers to the analysts' questions, computed in Python from the remembered overlay and its past.

``@answers("hubs", limit=5)`` stands above the function that computes the rows of hubs asked with limit 5; a question
may be asked in several ways.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import networkx as nx

from backend.times import stamp
from tests.cypher.lived import START, Link, Lived, State

Rows = list[list[Any]]
Compute = Callable[..., Rows]
LEASES = {"still-leaf": -30, "still-twin-a": 20, "still-twin-b": 3600, "still-hub": 5400}
"""Seconds from now until the leases that are stored beside the overlay end."""
ACKED = {"still-leaf": 61, "still-twin-a": 10, "still-twin-b": 40, "still-end": 30}
"""One of them without a lease; and one with a lease has acknowledged nothing."""
FORGOTTEN = "forgotten"
"""A topic that nobody subscribes to."""


@dataclass(frozen=True)
class Case:
    query: str
    params: dict[str, Any]
    compute: Compute

    def rows(self, lived: Lived) -> Rows:
        return self.compute(lived, **self.params)


CASES: list[Case] = []
_Function = TypeVar("_Function", bound=Compute)


def answers(query: str, **params: Any) -> Callable[[_Function], _Function]:
    def note(compute: _Function) -> _Function:
        CASES.append(Case(query, params, compute))
        return compute

    return note


def down(*values: int | float) -> tuple[float, ...]:
    """A key that sorts the largest first."""
    return tuple(-value for value in values)


def sizes(state: State) -> dict[str, int]:
    return {FORGOTTEN: 0} | {topic: len(brokers) for topic, brokers in state.subscribers().items()}


def graph(state: State, topic: str) -> nx.Graph[str]:
    found: nx.Graph[str] = nx.Graph()
    for broker, near in state.neighbours(topic).items():
        found.add_node(broker)
        found.add_edges_from((broker, other) for other in near)
    return found


def all_changes(lived: Lived) -> list[dict[str, Any]]:
    """The import included."""
    first: dict[str, Any] = {name: [] for name, value in lived.changes[0].items() if isinstance(value, list)}
    first |= {"version": 1, "at": START, "actor": "demo", "kind": "import", "broker": None}
    return [first, *lived.changes]


def changes_since(lived: Lived, moment: str) -> list[dict[str, Any]]:
    from_ = datetime.fromisoformat(moment).replace(tzinfo=START.tzinfo)
    return [change for change in all_changes(lived) if change["at"] >= from_]


def opened(change: dict[str, Any]) -> list[Link]:
    return list(zip(change["opened_a"], change["opened_b"], strict=True))


def closed(change: dict[str, Any]) -> list[Link]:
    return list(zip(change["closed_a"], change["closed_b"], strict=True))


@answers("overlay_figures")
def overlay_figures(lived: Lived) -> Rows:
    now, links = lived.now, len(lived.now.links)
    held = sum(map(len, now.topics.values()))
    average = 2 * links / len(now.topics)
    return [
        [
            lived.version,
            len(now.topics),
            len(sizes(now)),
            held,
            links,
            average,
            max(now.degrees().values()),
            1,
        ]
    ]


@answers("degree_distribution")
def degree_distribution(lived: Lived) -> Rows:
    counts = Counter(lived.now.degrees().values())
    return [[degree, count, count / len(lived.now.topics)] for degree, count in sorted(counts.items())]


def primaries(lived: Lived) -> Counter[str]:
    return Counter(backup for backups in lived.backups.values() for backup in backups)


@answers("hubs", limit=5)
def hubs(lived: Lived, limit: int) -> Rows:
    backed = primaries(lived)
    found = sorted(lived.now.degrees().items(), key=lambda item: (-item[1], item[0]))
    return [[b, degree, len(lived.now.topics[b]), backed[b]] for b, degree in found[:limit]]


@answers("links_beyond_interests", limit=7)
def links_beyond_interests(lived: Lived, limit: int) -> Rows:
    rows: Rows = [
        [b, degree, len(lived.now.topics[b]), degree / len(lived.now.topics[b])]
        for b, degree in lived.now.degrees().items()
        if lived.now.topics[b]
    ]
    return sorted(rows, key=lambda row: (-row[3], row[0]))[:limit]


@answers("unlinked_brokers", limit=20)
def unlinked_brokers(lived: Lived, limit: int) -> Rows:
    size = sizes(lived.now)
    rows: Rows = [
        [b, len(lived.now.topics[b]), sum(size[topic] > 1 for topic in lived.now.topics[b])]
        for b, degree in lived.now.degrees().items()
        if degree == 0
    ]
    return sorted(rows, key=lambda row: (-row[2], row[0]))[:limit]


@answers("topics_by_size", limit=3)
@answers("topics_by_size", limit=100)
def topics_by_size(lived: Lived, limit: int) -> Rows:
    found = sorted(sizes(lived.now).items(), key=lambda item: (-item[1], item[0]))
    return [[topic, size, size / len(lived.now.topics)] for topic, size in found[:limit]]


@answers("topic_size_distribution")
def topic_size_distribution(lived: Lived) -> Rows:
    found: dict[tuple[int, int], list[int]] = defaultdict(list)
    for size in sizes(lived.now).values():
        digits = len(str(size))
        found[(10 ** (digits - 1), 10**digits - 1) if size else (0, 0)].append(size)
    return [[*bounds, len(held), sum(held)] for bounds, held in sorted(found.items())]


@answers("idle_topics", subscribers=0, limit=20)
@answers("idle_topics", subscribers=4, limit=20)
def idle_topics(lived: Lived, subscribers: int, limit: int) -> Rows:
    who = lived.now.subscribers()
    found = sorted((size, topic) for topic, size in sizes(lived.now).items() if size <= subscribers)
    return [[topic, size, sorted(who.get(topic, ()))[:10]] for size, topic in found[:limit]]


@answers("quiet_topics", limit=8)
def quiet_topics(lived: Lived, limit: int) -> Rows:
    size = sizes(lived.now)
    last = dict.fromkeys(size, 0)
    at: dict[int, datetime] = {}
    for change in lived.changes:
        at[change["version"]] = change["at"]
        for topic in change["subscribed_topic"] + change["unsubscribed_topic"]:
            if topic in last:
                last[topic] = change["version"]
    found = sorted(last.items(), key=lambda item: (item[1], item[0]))[:limit]
    return [
        [topic, size[topic], version, stamp(at[version]) if version else None] for topic, version in found
    ]


def alike(groups: dict[str, set[str]], at_least: int, limit: int) -> Rows:
    found: dict[frozenset[str], list[str]] = defaultdict(list)
    for name, members in groups.items():
        if len(members) >= at_least:
            found[frozenset(members)].append(name)
    rows: Rows = [
        [sorted(names), len(names), len(members)] for members, names in found.items() if len(names) > 1
    ]
    return sorted(rows, key=lambda row: (-row[1], -row[2], row[0][0]))[:limit]


@answers("equal_interests", topics=1, limit=20)
@answers("equal_interests", topics=4, limit=20)
def equal_interests(lived: Lived, topics: int, limit: int) -> Rows:
    return alike(lived.now.topics, topics, limit)


@answers("equal_topics", subscribers=1, limit=20)
def equal_topics(lived: Lived, subscribers: int, limit: int) -> Rows:
    return alike(lived.now.subscribers(), subscribers, limit)


@answers("similar_brokers", broker="still-hub", limit=6)
def similar_brokers(lived: Lived, broker: str, limit: int) -> Rows:
    mine = lived.now.topics[broker]
    rows: Rows = []
    for other, theirs in lived.now.topics.items():
        if other != broker and mine & theirs:
            linked = tuple(sorted((broker, other))) in lived.now.links
            rows.append([other, len(mine & theirs), len(mine & theirs) / len(mine | theirs), linked])
    return sorted(rows, key=lambda row: (-row[2], row[0]))[:limit]


@answers("topics_followed_together", topic="t01", limit=5)
def topics_followed_together(lived: Lived, topic: str, limit: int) -> Rows:
    who = lived.now.subscribers()
    rows: Rows = [
        [other, len(who[topic] & brokers), len(who[topic] & brokers) / len(who[topic])]
        for other, brokers in who.items()
        if other != topic and who[topic] & brokers
    ]
    return sorted(rows, key=lambda row: (-row[1], row[0]))[:limit]


@answers("unlinked_pairs", brokers=12, limit=10)
@answers("unlinked_pairs", brokers=2000, limit=10)
def unlinked_pairs(lived: Lived, brokers: int, limit: int) -> Rows:
    topics = lived.now.topics
    chosen = sorted(topics, key=lambda b: (-len(topics[b]), b))[:brokers]
    rows: Rows = [
        [a, b, len(topics[a] & topics[b])]
        for a in chosen
        for b in chosen
        if a < b and topics[a] & topics[b] and (a, b) not in lived.now.links
    ]
    return sorted(rows, key=lambda row: (-row[2], row[0], row[1]))[:limit]


@answers("links_by_topics")
def links_by_topics(lived: Lived) -> Rows:
    counts = Counter(len(lived.now.common(link)) for link in lived.now.links)
    return [list(item) for item in sorted(counts.items())]


@answers("most_useful_links", limit=6)
def most_useful_links(lived: Lived, limit: int) -> Rows:
    rows: Rows = [[*link, len(lived.now.common(link)), *lived.now.links[link]] for link in lived.now.links]
    return sorted(rows, key=lambda row: (-row[2], row[0], row[1]))[:limit]


@answers("links_for_one_topic", limit=30)
def links_for_one_topic(lived: Lived, limit: int) -> Rows:
    return sorted(
        [*link, *lived.now.common(link), since_]
        for link, (since_, _) in lived.now.links.items()
        if len(lived.now.common(link)) == 1
    )[:limit]


@answers("links_for_nothing", limit=20)
def links_for_nothing(lived: Lived, limit: int) -> Rows:
    assert all(lived.now.common(link) for link in lived.now.links)
    return []


@answers("link_reasons")
def link_reasons(lived: Lived) -> Rows:
    found: dict[str, list[int]] = defaultdict(list)
    for since_, reason in lived.now.links.values():
        found["connects topics" if reason.startswith("connects ") else reason].append(since_)
    rows: Rows = [[reason, len(some), min(some), max(some)] for reason, some in found.items()]
    return sorted(rows, key=lambda row: (-row[1], row[0]))


@answers("link_ages")
def link_ages(lived: Lived) -> Rows:
    day = {change["version"]: change["at"].date().isoformat() for change in all_changes(lived)}
    return [list(item) for item in sorted(Counter(day[s] for s, _ in lived.now.links.values()).items())]


@answers("broker_links", broker="still-hub")
def broker_links(lived: Lived, broker: str) -> Rows:
    rows: Rows = []
    for link, why in lived.now.links.items():
        if broker in link:
            names = sorted(lived.now.common(link))
            rows.append([link[0] if link[1] == broker else link[1], len(names), names[:10], *why])
    return sorted(rows, key=lambda row: (-row[1], row[0]))


@answers("shared_topics", a="still-hub", b="still-twin-a")
@answers("shared_topics", a="still-leaf", b="still-hub")
def shared_topics(lived: Lived, a: str, b: str) -> Rows:
    size = sizes(lived.now)
    linked = tuple(sorted((a, b))) in lived.now.links
    common = sorted((size[topic], topic) for topic in lived.now.topics[a] & lived.now.topics[b])
    return [[topic, count, linked] for count, topic in common]


@answers("topic_distances", topic="t01", broker="still-hub")
@answers("topic_distances", topic="t02", broker="b99")
def topic_distances(lived: Lived, topic: str, broker: str) -> Rows:
    if broker not in lived.now.topics:
        return []
    assert topic in lived.now.topics[broker]
    lengths = nx.single_source_shortest_path_length(graph(lived.now, topic), broker)
    return [list(item) for item in sorted(Counter(lengths.values()).items())]


@answers("topic_reach", topic="t01")
@answers("topic_reach", topic="t05")
def topic_reach(lived: Lived, topic: str) -> Rows:
    drawn = graph(lived.now, topic)
    reached = nx.node_connected_component(drawn, min(drawn))
    apart = sorted(set(drawn) - reached)
    return [[len(drawn), len(reached), apart[:100], not apart]]


@answers("topic_dependence", topic="t01")
@answers("topic_dependence", topic="t03")
@answers("topic_dependence", topic="t06")
def topic_dependence(lived: Lived, topic: str) -> Rows:
    drawn, degrees = graph(lived.now, topic), lived.now.degrees()
    rows: Rows = [[b, drawn.degree(b), degrees[b]] for b in nx.articulation_points(drawn)]
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def split(lived: Lived, broker: str) -> list[str]:
    return [
        topic
        for topic in lived.now.topics[broker]
        if broker in set(nx.articulation_points(graph(lived.now, topic)))
    ]


@answers("broker_loss", broker="still-hub")
@answers("broker_loss", broker="still-twin-a")
def broker_loss(lived: Lived, broker: str) -> Rows:
    size = sizes(lived.now)
    rows: Rows = [
        [topic, size[topic], graph(lived.now, topic).degree(broker)] for topic in split(lived, broker)
    ]
    return sorted(rows, key=lambda row: (-row[1], row[0]))


@answers("brokers_splitting_topics", brokers=15)
@answers("brokers_splitting_topics", brokers=1000)  # all of them
def brokers_splitting_topics(lived: Lived, brokers: int) -> Rows:
    found = sorted(lived.now.degrees().items(), key=lambda item: (-item[1], item[0]))[:brokers]
    rows: Rows = [[b, degree, len(lived.now.topics[b]), len(split(lived, b))] for b, degree in found]
    return sorted(rows, key=lambda row: (-row[3], -row[1], row[0]))


@answers("topics_on_one_broker", topics=5, limit=20)
@answers("topics_on_one_broker", topics=1000, limit=20)
def topics_on_one_broker(lived: Lived, topics: int, limit: int) -> Rows:
    found = sorted(sizes(lived.now).items(), key=lambda item: (-item[1], item[0]))
    rows: Rows = []
    for topic, size in [item for item in found if item[1] > 2][:topics]:
        near = lived.now.neighbours(topic)
        hanging = Counter(next(iter(others)) for others in near.values() if len(others) == 1)
        if hanging:
            count, broker = min((-count, broker) for broker, count in hanging.items())
            rows.append([topic, size, broker, -count, -count / (size - 1)])
    return sorted(rows, key=lambda row: (-row[4], row[0]))[:limit]


@answers("topic_bridges", topic="t01")
@answers("topic_bridges", topic="t06")
def topic_bridges(lived: Lived, topic: str) -> Rows:
    bridges = sorted((min(ends), max(ends)) for ends in nx.bridges(graph(lived.now, topic)))
    return [[*link, len(lived.now.common(link))] for link in bridges]


@answers("spare_links", limit=30)
def spare_links(lived: Lived, limit: int) -> Rows:
    rows: Rows = []
    for topic, size in sizes(lived.now).items():
        if size > 1:
            links = graph(lived.now, topic).number_of_edges()
            rows.append([topic, size, links, links - (size - 1)])
    return sorted(rows, key=lambda row: (row[3], -row[1], row[0]))[:limit]


@answers("single_link_brokers", limit=20)
def single_link_brokers(lived: Lived, limit: int) -> Rows:
    rows: Rows = []
    for broker, degree in lived.now.degrees().items():
        if degree == 1:
            (link,) = [link for link in lived.now.links if broker in link]
            other = link[0] if link[1] == broker else link[1]
            rows.append([broker, other, len(lived.now.topics[broker]), lived.now.links[link][0]])
    return sorted(rows, key=lambda row: (-row[2], row[0]))[:limit]


@answers("busy_backups", above=2, limit=10)
def busy_backups(lived: Lived, above: int, limit: int) -> Rows:
    degrees = lived.now.degrees()
    found = sorted(primaries(lived).items(), key=lambda item: (-item[1], item[0]))
    return [[b, n, len(lived.now.topics[b]), degrees[b]] for b, n in found if n > above][:limit]


@answers("brokers_without_backup", limit=20)
def brokers_without_backup(lived: Lived, limit: int) -> Rows:
    rows: Rows = [
        [b, degree, len(lived.now.topics[b])]
        for b, degree in lived.now.degrees().items()
        if not lived.backups[b]
    ]
    return sorted(rows, key=lambda row: (-row[1], row[0]))[:limit]


@answers("backup_cover", broker="still-hub")
def backup_cover(lived: Lived, broker: str) -> Rows:
    size = sizes(lived.now)
    rows: Rows = [
        [topic, sum(topic in lived.now.topics[b] for b in lived.backups[broker]), min(3, size[topic] - 1)]
        for topic in lived.now.topics[broker]
    ]
    return sorted(rows, key=lambda row: (row[1], row[0]))


@answers("lagging_agents", versions=1, limit=20)
@answers("lagging_agents", versions=40, limit=20)
def lagging_agents(lived: Lived, versions: int, limit: int) -> Rows:
    rows: Rows = []
    for broker in LEASES | ACKED:
        opened = ACKED.get(broker, 0)
        waiting = sum(broker in link and why[0] > opened for link, why in lived.now.links.items())
        if lived.version - opened >= versions:
            rows.append([broker, ACKED.get(broker), lived.version - opened, waiting])
    return sorted(rows, key=lambda row: (-row[3], -row[2], row[0]))[:limit]


COUNTED = ("joined", "left", "subscribed_broker", "unsubscribed_broker", "opened_a", "closed_a")


@answers("churn_by_day", since="1970-01-01")
@answers("churn_by_day", since="2026-03-05T12:00:00")
def churn_by_day(lived: Lived, since: str) -> Rows:
    found: dict[str, list[int]] = defaultdict(lambda: [0] * (1 + len(COUNTED)))
    for change in changes_since(lived, since):
        row = found[change["at"].date().isoformat()]
        for place, value in enumerate([1, *(len(change[name]) for name in COUNTED)]):
            row[place] += value
    return [[day, *row] for day, row in sorted(found.items())]


def grouped(changes: Iterable[dict[str, Any]], key: Callable[[dict[str, Any]], Any]) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = defaultdict(list)
    for change in changes:
        found[key(change)].append(change)
    return found


def moved(changes: list[dict[str, Any]]) -> list[int]:
    return [sum(len(change[name]) for change in changes) for name in ("opened_a", "closed_a")]


@answers("changes_by_hour", since="1970-01-01")
def changes_by_hour(lived: Lived, since: str) -> Rows:
    found = grouped(all_changes(lived), lambda change: change["at"].hour)
    return [[hour, len(some), *moved(some)] for hour, some in sorted(found.items())]


@answers("who_changed_what", since="1970-01-01")
def who_changed_what(lived: Lived, since: str) -> Rows:
    found = grouped(all_changes(lived), lambda change: (change["actor"], change["kind"]))
    rows: Rows = [
        [*who, len(some), *moved(some), stamp(some[0]["at"]), stamp(some[-1]["at"])]
        for who, some in found.items()
    ]
    return sorted(rows, key=lambda row: (-row[2], row[0], row[1]))


@answers("cost_of_changes", since="2026-03-03")
def cost_of_changes(lived: Lived, since: str) -> Rows:
    found = grouped(changes_since(lived, since), lambda change: change["kind"])
    rows: Rows = [
        [
            kind,
            len(some),
            *(count / len(some) for count in moved(some)),
            max(sum(moved([change])) for change in some),
        ]
        for kind, some in found.items()
    ]
    return sorted(rows, key=lambda row: (-row[1], row[0]))


@answers("largest_changes", since="2026-03-03", limit=9)
def largest_changes(lived: Lived, since: str, limit: int) -> Rows:
    found = sorted(changes_since(lived, since), key=lambda change: (-sum(moved([change])), change["version"]))
    return [
        [c["version"], stamp(c["at"]), c["actor"], c["kind"], c["broker"], *moved([c])] for c in found[:limit]
    ]


@answers("changes_of_broker", broker="still-hub", limit=50)
@answers("changes_of_broker", broker="b08", limit=3)
def changes_of_broker(lived: Lived, broker: str, limit: int) -> Rows:
    rows: Rows = []
    for change in reversed(all_changes(lived)):
        touched = [
            *([t for b, t in zip(change[f"{n}_broker"], change[f"{n}_topic"], strict=True) if b == broker]
              for n in ("subscribed", "unsubscribed")),
            *([b for a, b in links if a == broker] + [a for a, b in links if b == broker]
              for links in (opened(change), closed(change))),
        ]  # fmt: skip
        if any(touched) or broker == change["broker"] or broker in change["joined"] + change["left"]:
            rows.append(
                [
                    change["version"],
                    stamp(change["at"]),
                    change["actor"],
                    change["kind"],
                    change["broker"],
                    *touched,
                ]
            )
    return rows[:limit]


@answers("changes_of_topic", topic="t01", limit=5)
def changes_of_topic(lived: Lived, topic: str, limit: int) -> Rows:
    rows: Rows = []
    for change in reversed(all_changes(lived)):
        who = [
            [b for b, t in zip(change[f"{n}_broker"], change[f"{n}_topic"], strict=True) if t == topic]
            for n in ("subscribed", "unsubscribed")
        ]
        if any(who):
            rows.append([change["version"], stamp(change["at"]), change["actor"], change["kind"], *who])
    return rows[:limit]


def most_moved_link(lived: Lived) -> Link:
    counts = Counter(link for change in lived.changes for link in opened(change) + closed(change))
    return min(counts, key=lambda link: (-counts[link], link))


def links_between(lived: Lived, a: str, b: str) -> Rows:
    link = (min(a, b), max(a, b))
    rows: Rows = []
    for change in lived.changes:
        for event, links in (("opened", opened(change)), ("closed", closed(change))):
            if link in links:
                reason = change[f"{event}_reason"][links.index(link)]
                rows.append(
                    [change["version"], stamp(change["at"]), event, reason, change["actor"], change["kind"]]
                )
    return rows


@answers("overlay_at_version", version=1, broker="", limit=1000)
@answers("overlay_at_version", version=17, broker="", limit=1000)
@answers("overlay_at_version", version=30, broker="still-hub", limit=1000)
@answers("overlay_at_version", version=0, broker="", limit=1000)
@answers("overlay_at_version", version=10_000, broker="", limit=1000)
def overlay_at_version(lived: Lived, version: int, broker: str, limit: int) -> Rows:
    if version not in lived.states:
        return []
    return [list(link) for link in sorted(lived.states[version].links) if broker in ("", *link)][:limit]


@answers("topic_at_version", topic="t01", version=1)
@answers("topic_at_version", topic="t02", version=23)
def topic_at_version(lived: Lived, topic: str, version: int) -> Rows:
    return [
        [broker, sorted(near)] for broker, near in sorted(lived.states[version].neighbours(topic).items())
    ]


@answers("difference_between", **{"from": 1, "to": 40, "limit": 1000})
@answers("difference_between", **{"from": 20, "to": 40, "limit": 7})
@answers("difference_between", **{"from": 0, "to": 40, "limit": 1000})
def difference_between(lived: Lived, **versions: int) -> Rows:
    if versions["from"] not in lived.states:
        return []
    before, after = lived.states[versions["from"]].links, lived.states[versions["to"]].links
    last = {
        link: change["version"]
        for change in lived.changes
        if versions["from"] < change["version"] <= versions["to"]
        for link in opened(change) + closed(change)
    }
    rows: Rows = [[*link, "opened", last[link]] for link in after.keys() - before.keys()]
    rows += [[*link, "closed", last[link]] for link in before.keys() - after.keys()]
    return sorted(rows, key=lambda row: (row[2], row[0], row[1]))[: versions["limit"]]


@answers("growth_by_day")
def growth_by_day(lived: Lived) -> Rows:
    last = {change["at"].date().isoformat(): change["version"] for change in all_changes(lived)}
    rows: Rows = []
    for day, version in sorted(last.items()):
        state = lived.states[version]
        held, brokers, links = sum(map(len, state.topics.values())), len(state.topics), len(state.links)
        rows.append([day, version, brokers, held, links, 2 * links / brokers])
    return rows


@answers("max_degree_growth", points=7)
@answers("max_degree_growth", points=100)
def max_degree_growth(lived: Lived, points: int) -> Rows:
    rows: Rows = []
    for version in sorted({1 + (lived.version - 1) * i // (points - 1) for i in range(points)}):
        degrees = [degree for degree in lived.states[version].degrees().values() if degree]
        rows.append([version, max(degrees), sum(degrees) / len(degrees)])
    return rows


@answers("busiest_brokers", since="2026-03-03", limit=10)
def busiest_brokers(lived: Lived, since: str, limit: int) -> Rows:
    changes = changes_since(lived, since)
    ups = Counter(end for change in changes for link in opened(change) for end in link)
    downs = Counter(end for change in changes for link in closed(change) for end in link)
    rows: Rows = [[b, ups[b], downs[b], b in lived.now.topics] for b in ups | downs]
    return sorted(rows, key=lambda row: (-row[1] - row[2], row[0]))[:limit]


@answers("flapping_links", since="1970-01-01", limit=10)
def flapping_links(lived: Lived, since: str, limit: int) -> Rows:
    found: dict[Link, list[int]] = defaultdict(lambda: [0, 0, 0])
    for change in lived.changes:
        for place, links in enumerate((opened(change), closed(change))):
            for link in links:
                found[link][place] += 1
                found[link][2] = change["version"]
    rows: Rows = [
        [*link, *row, link in lived.now.links] for link, row in found.items() if row[0] + row[1] > 1
    ]
    return sorted(rows, key=lambda row: (-row[2] - row[3], row[0], row[1]))[:limit]


@answers("returning_brokers", since="1970-01-01", limit=10)
@answers("returning_brokers", since="1970-01-01", limit=1000)
def returning_brokers(lived: Lived, since: str, limit: int) -> Rows:
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    back: set[str] = set()
    for change in lived.changes:
        back |= {broker for broker in change["joined"] if found[broker][1]}
        for place, brokers in enumerate((change["joined"], change["left"])):
            for broker in brokers:
                found[broker][place] += 1
                found[broker][2] = change["version"]
    rows: Rows = [[b, *found[b], b in lived.now.topics] for b in back]
    return sorted(rows, key=lambda row: (-row[1] - row[2], row[0]))[:limit]


@answers("moving_topics", since="1970-01-01", limit=10)
def moving_topics(lived: Lived, since: str, limit: int) -> Rows:
    gained = Counter(topic for change in lived.changes for topic in change["subscribed_topic"])
    lost = Counter(topic for change in lived.changes for topic in change["unsubscribed_topic"])
    size = sizes(lived.now)
    rows: Rows = [[t, gained[t], lost[t], gained[t] - lost[t], size.get(t, 0)] for t in gained | lost]
    return sorted(rows, key=lambda row: (-abs(row[3]), -row[1] - row[2], row[0]))[:limit]


@answers("rebuilds", limit=20)
def rebuilds(lived: Lived, limit: int) -> Rows:
    at = stamp(lived.changes[-1]["at"])
    return [["r1", "planned", "gm", "local", "ops", at, lived.version, len(lived.candidates), None]]


@answers("rebuild_against_live", rebuild="r1")
@answers("rebuild_against_live", rebuild="unknown")
@answers("rebuild_against_live", rebuild="r1 before")
def rebuild_against_live(lived: Lived, rebuild: str) -> Rows:
    if rebuild != "r1":
        return []
    wanted, links = set(lived.candidates), set(lived.now.links)
    then = Counter(end for link in wanted for end in link)
    most = max(lived.now.degrees().values())
    return [
        [
            len(wanted),
            len(links),
            len(wanted & links),
            len(wanted - links),
            len(links - wanted),
            most,
            max(then.values()),
        ]
    ]


@answers("rebuild_brokers", rebuild="r1", limit=12)
@answers("rebuild_brokers", rebuild="unknown", limit=3)
def rebuild_brokers(lived: Lived, rebuild: str, limit: int) -> Rows:
    if rebuild != "r1":
        return []
    wanted = set(lived.candidates)
    rows: Rows = []
    for broker, degree in lived.now.degrees().items():
        to_open = sum(broker in link for link in wanted - lived.now.links.keys())
        to_close = sum(broker in link for link in lived.now.links.keys() - wanted)
        rows.append([broker, to_open, to_close, degree, degree + to_open - to_close])
    return sorted(rows, key=lambda row: (-row[1] - row[2], row[0]))[:limit]
