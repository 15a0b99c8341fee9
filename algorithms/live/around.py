"""Around a link that cannot be opened: it is closed, and the topics that hung by it get other links.

Every topic that comes apart without the link falls into one piece around each of its ends, so a link from piece to piece
mends it, and one link may mend several topics. The pair itself is not a candidate, and pairs that failed lately are the
last ones, or two links that both fail would replace each other for ever. A topic that only these two brokers have cannot be
planned around.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from itertools import product

from algorithms.completion import missing_links
from algorithms.errors import BadInput
from algorithms.interests import Interests
from algorithms.live.overlay import LiveOverlay
from algorithms.live.plan import LinkChange, Plan
from algorithms.overlay import Overlay

CANDIDATES_A_SIDE = 40

Pair = tuple[str, str]


def plan_around(live: LiveOverlay, a: str, b: str, avoid: AbstractSet[Pair] = frozenset()) -> Plan:
    """Close the link between two brokers and open what replaces it; nothing is changed.

    ``avoid``: pairs, each in the order of its ids, that are taken only where no other will do.

    >>> from algorithms import build
    >>> live = LiveOverlay(build("gm", Interests.from_mapping({v: ["x"] for v in "abc"})))
    >>> (first, second) = live.snapshot().link_names()[0]
    >>> plan = plan_around(live, first, second)
    >>> len(plan.closed), len(plan.opened)
    (1, 1)
    """
    if b not in live.neighbours_of(a):
        raise BadInput("link", f"{a} - {b}", "no such link")
    failed = (a, b) if a < b else (b, a)
    opened = _mend(live, failed, avoid) if live.policy.k == 1 else _restore(live, failed, avoid)
    return live.replay(
        Plan(
            live.version,
            opened=tuple(LinkChange(*link, "repair", topics) for link, topics in opened.items()),
            closed=(LinkChange(*failed, "failed"),),
        )
    )


def _mend(live: LiveOverlay, failed: Pair, avoid: AbstractSet[Pair]) -> dict[Pair, tuple[str, ...]]:
    """One link after the other, each the one that mends most topics, of low degrees where several do."""
    sides = {
        topic: pieces for topic in live.shared_topics(*failed) if (pieces := _pieces(live, topic, failed))
    }
    degree = {
        broker: live.degree_of(broker) for pieces in sides.values() for side in pieces for broker in side
    }
    opened: dict[Pair, tuple[str, ...]] = {}
    while sides:
        pairs = {
            tuple(sorted(pair))
            for one, other in sides.values()
            for pair in product(_lowest(one, degree), _lowest(other, degree))
        } - {failed}
        if not pairs:
            raise BadInput(
                "link", f"{failed[0]} - {failed[1]}", f"only these two have the topic {next(iter(sides))!r}"
            )
        mended = {
            pair: tuple(t for t, (one, other) in sides.items() if _crosses(pair, one, other))
            for pair in pairs
        }
        best = min(
            pairs,
            key=lambda pair: (pair in avoid, -len(mended[pair]), degree[pair[0]] + degree[pair[1]], pair),
        )
        opened[best[0], best[1]] = mended[best]
        for broker in best:
            degree[broker] += 1
        for topic in mended[best]:
            del sides[topic]
    return opened


def _pieces(live: LiveOverlay, topic: str, failed: Pair) -> tuple[set[str], set[str]] | None:
    """The pieces around the two ends; None where the topic holds without the link."""
    graph = live.topic_overlay(topic).topic_graph(topic)
    graph.delete_edges([tuple(graph.vs.find(name=end).index for end in failed)])
    names = graph.vs["name"]
    one, other = (set(graph.subcomponent(graph.vs.find(name=end).index)) for end in failed)
    return None if one == other else ({names[v] for v in one}, {names[v] for v in other})


def _lowest(side: set[str], degree: dict[str, int]) -> list[str]:
    return sorted(side, key=lambda broker: (degree[broker], broker))[:CANDIDATES_A_SIDE]


def _crosses(pair: tuple[str, ...], one: set[str], other: set[str]) -> bool:
    a, b = pair
    return (a in one and b in other) or (b in one and a in other)


def _restore(live: LiveOverlay, failed: Pair, avoid: AbstractSet[Pair]) -> dict[Pair, tuple[str, ...]]:
    """For k >= 2: what the shared topics lack without the link."""
    topics = live.shared_topics(*failed)
    rows = [(broker, topic) for topic in topics for broker in live.subscribers_of(topic)]
    interests = Interests.from_rows([broker for broker, _ in rows], [topic for _, topic in rows])
    links = {link for topic in topics for link in live.topic_overlay(topic).link_names()} - {failed}
    missing = missing_links(Overlay.from_names(interests, sorted(links)), live.policy.k)
    opened = [(interests.brokers[min(link)], interests.brokers[max(link)]) for link in missing.tolist()]
    if not ({failed} | avoid).isdisjoint(opened):
        opened = _from_both_ends(live, failed, interests, links, avoid)
    return {link: tuple(live.shared_topics(*link)) for link in opened}


def _from_both_ends(
    live: LiveOverlay, failed: Pair, interests: Interests, links: set[Pair], avoid: AbstractSet[Pair]
) -> list[Pair]:
    """Links from one end and the other in turn, to brokers of low degree, until every shared topic holds."""
    opened: list[Pair] = []
    while weak := Overlay.from_names(interests, sorted(links)).topics_below(live.policy.k):
        topic = weak[0].topic
        pairs = [
            (end, other) if end < other else (other, end)
            for end in failed
            for other in interests.subscribers_of(topic)
            if other not in failed
        ]
        free = [pair for pair in pairs if pair not in links]
        if not free:
            raise BadInput("link", f"{failed[0]} - {failed[1]}", f"the topic {topic!r} cannot do without it")
        load = {end: sum(end in link for link in opened) for end in failed}
        best = min(
            free,
            key=lambda pair: (
                pair in avoid,
                sum(load.get(end, 0) for end in pair),
                sum(live.degree_of(end) for end in pair),
                pair,
            ),
        )
        opened.append(best)
        links = links | {best}
    return opened
