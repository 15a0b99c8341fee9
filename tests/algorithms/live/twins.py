"""The shadows paper in plain Python, line by line: Alg 2-4, 6-12, with nothing but sets and recomputation.

C. Chen, H.-A. Jacobsen, R. Vitenberg, "Reinforce your overlay with shadows". Deviations are those of the product and
named there: components are the whole topic's, the maximum degree is the candidates', only the
churned broker's topics count, backups that cannot be found are done without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

Topics = dict[str, set[str]]
Link = frozenset[str]
Links = set[Link]


def components(topic: str, topics: Topics, links: Links) -> dict[str, int]:
    """The component of each subscriber of a topic."""
    members = {v for v in topics if topic in topics[v]}
    label = {v: i for i, v in enumerate(sorted(members))}
    changed = True
    while changed:
        changed = False
        for link in links:
            a, b = link
            if a in members and b in members and label[a] != label[b]:
                label[a] = label[b] = min(label[a], label[b])
                changed = True
    return label


def contribution(link: Link, counted: Iterable[str], topics: Topics, links: Links) -> int:
    """By how much a link lowers the number of components of the counted topics."""
    a, b = link
    total = 0
    for t in counted:
        if t in topics[a] and t in topics[b]:
            label = components(t, topics, links)
            total += label[a] != label[b]
    return total


def obeys_low_edge_rule(
    opened: list[Link], potential: set[Link], counted: set[str], topics: Topics, links: Links, rho: float
) -> str | None:
    """Whether links, in this order, are what findLowEdge may choose (Alg 2); the reason if not."""
    links = set(links)
    pool = {v for link in potential for v in link}
    for step, link in enumerate([*opened, None]):
        worth = {e: contribution(e, counted, topics, links) for e in potential - links}
        best = max(worth.values(), default=0)
        if link is None:
            return f"{best} more could be joined" if best else None
        degree = {v: sum(v in e for e in links) for v in pool}
        maximum = max(degree.values(), default=0)
        lows = {e: c for e, c in worth.items() if c and all(degree[v] < maximum for v in e)}
        best_low = max(lows.values(), default=0)
        if link not in worth:
            return f"step {step}: {set(link)} is no potential edge"
        if lows and rho * best_low >= best:
            if lows.get(link) != best_low:
                return f"step {step}: {set(link)} is not the best that keeps the maximum degree"
        elif worth[link] != best:
            return f"step {step}: {set(link)} contributes {worth[link]}, the best {best}"
        links.add(link)
    return None


def potential_on_join(newcomer: str, shadow: set[str]) -> set[Link]:
    """Alg 3 line 2 (shadow = everybody) and Alg 10 line 3 (shadow = backups)."""
    return {frozenset((newcomer, u)) for u in shadow - {newcomer}}


def potential_on_leave(shadow: set[str]) -> set[Link]:
    """Alg 4 line 3 (shadow = everybody) and Alg 7 line 3 (shadow = former neighbours and backups)."""
    return {frozenset((u, w)) for u in shadow for w in shadow if u != w}


def primal_dual_backups(
    v: str,
    cover: int,
    topics: Topics,
    subscribers: dict[str, list[str]],
    weigh: Callable[[str, list[str]], int],
    draw: Callable[[int], int],
) -> list[str]:
    """Alg 12; ``weigh(u, backups)`` = |u.neighbors| + |u.primaries|, v's backups so far counted."""
    backups: list[str] = []
    for _ in range(cover):
        rest = [t for t in sorted(topics[v]) if len(subscribers[t]) > 1]
        weight: dict[str, int] = {}
        while rest:
            topic = rest[draw(len(rest))]
            members = subscribers[topic]
            first = draw(len(members))
            can = [u for u in members[first:] + members[:first] if u != v and u not in backups]
            for u in can:
                weight.setdefault(u, weigh(u, backups))
            can = [u for u in can if weight[u] > 0]
            if not can:
                rest.remove(topic)
                continue
            w = min(can, key=lambda u: weight[u])
            old = weight[w]
            for u in can:
                weight[u] -= old
            backups.append(w)
            rest = [t for t in rest if t not in topics[w]]
    return backups


def greedy_backups(
    v: str,
    cover: int,
    topics: Topics,
    subscribers: dict[str, list[str]],
    weigh: Callable[[str, list[str]], int],
    draw: Callable[[int], int],
) -> list[str]:
    """Alg 11."""
    backups: list[str] = []
    for _ in range(cover):
        rest = [t for t in sorted(topics[v]) if len(subscribers[t]) > 1]
        firsts = [draw(len(subscribers[t])) for t in rest]
        order: dict[str, None] = {}
        for t, first in zip(rest, firsts, strict=True):
            order.update(dict.fromkeys(subscribers[t][first:] + subscribers[t][:first]))
        while rest:
            can = [u for u in order if u != v and u not in backups and topics[u] & set(rest)]
            if not can:
                break
            w = min(can, key=lambda u: weigh(u, backups) / len(topics[u] & set(rest)))
            backups.append(w)
            rest = [t for t in rest if t not in topics[w]]
    return backups
