"""Literal twins of the greedy algorithms: GM, repeated GM, MinMax-ODA, Low-ODA.

Plain Python from the papers' text, with the traps corrected where a comment says so. Brokers and topics are dense ids;
"some link" of the papers is the lowest pair (v, w), v < w, which is one of the orders the papers allow.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from tests.algorithms.twins.steps import Pair

Topics = list[set[int]]
"""The topics of each broker: the papers' Int."""


def gm(topics: Topics) -> list[Pair]:
    """GM, gm Algorithms 1-3 (dc Algorithms 1-2): the links in the order they were taken."""
    nodes = {(v, t): {v} for v in range(len(topics)) for t in topics[v]}  # Alg 2 lines 1-3
    link_contrib: dict[Pair, int] = {}
    for v, w in combinations(range(len(topics)), 2):  # Alg 2 lines 4-7
        if topics[v] & topics[w]:
            link_contrib[v, w] = len(topics[v] & topics[w])
    return construct_overlay_edges(topics, nodes, link_contrib)


def construct_overlay_edges(
    topics: Topics, nodes: dict[tuple[int, int], set[int]], link_contrib: dict[Pair, int]
) -> list[Pair]:
    """gm Algorithm 3, dc Algorithm 2; ``link_contrib`` maps a link to the i of its LINKCONTRIB[i]."""
    output: list[Pair] = []
    while link_contrib:  # Alg 3 line 2: HIGHESTCONTRIB > 0
        highest = max(link_contrib.values())
        v, w = min(link for link, i in link_contrib.items() if i == highest)  # line 3: some edge
        output.append((v, w))
        del link_contrib[v, w]
        for t in topics[v] & topics[w]:  # line 6
            # As printed, a topic in which v and w are joined already would lower pairs inside one component.
            if nodes[v, t] is nodes[w, t]:
                continue
            for a in nodes[v, t]:
                for b in nodes[w, t]:
                    link = (min(a, b), max(a, b))
                    if link in link_contrib:  # lines 7-11; a pair that is no candidate is in no LINKCONTRIB
                        link_contrib[link] -= 1
                        if not link_contrib[link]:
                            del link_contrib[link]
            joined = nodes[v, t] | nodes[w, t]  # lines 12-14, per topic
            for u in joined:
                nodes[u, t] = joined
    return output


def repeated_gm(topics: Topics, rounds: int) -> list[Pair]:
    """gm section 6.4: run GM several times, each time over the pairs that are no links yet."""
    output: list[Pair] = []
    for _ in range(rounds):
        nodes = {(v, t): {v} for v in range(len(topics)) for t in topics[v]}
        link_contrib = {
            (v, w): len(topics[v] & topics[w])
            for v, w in combinations(range(len(topics)), 2)
            if topics[v] & topics[w] and (v, w) not in output
        }
        output += construct_overlay_edges(topics, nodes, link_contrib)
    return output


def low_oda(topics: Topics, rho: float) -> list[Pair]:
    """Low-ODA, low Algorithm 1 (rho is its k), weights recomputed by the definition of NC at every step."""

    def take_low(e1_weight: int, e2_weight: int) -> bool:
        return rho * e1_weight >= e2_weight  # line 10: w(e1) >= w(e2) / k

    return _low_degree(topics, take_low)


def minmax_oda(topics: Topics) -> list[Pair]:
    """MinMax-ODA, low section 1.1: the best link among those that raise the maximum degree least."""
    return _low_degree(topics, lambda _e1, _e2: True)


def _low_degree(topics: Topics, take_low: Callable[[int, int], bool]) -> list[Pair]:
    links: list[Pair] = []
    degree = [0] * len(topics)
    while True:
        weight = weights(topics, links)  # lines 17-19
        if not weight:  # line 7: topic-connected
            return links
        maximum = max(degree)
        # Only links of positive weight are looked at; MinMax-ODA as worded would take one of weight 0.
        low = [link for link in weight if max(degree[link[0]], degree[link[1]]) < maximum]
        # When every link raises the maximum degree, it does so by one, and e1 is e2.
        e1 = min(low or weight, key=lambda link: (-weight[link], link))  # line 8
        e2 = min(weight, key=lambda link: (-weight[link], link))  # line 9
        chosen = e1 if take_low(weight[e1], weight[e2]) else e2
        links.append(chosen)
        degree[chosen[0]] += 1
        degree[chosen[1]] += 1


def weights(topics: Topics, links: list[Pair]) -> dict[Pair, int]:
    """NC(V, E) - NC(V, E + {u, v}) for every pair where it is positive (low Algorithm 1 line 18)."""
    before = number_of_components(topics, links)
    found = {}
    for v, w in combinations(range(len(topics)), 2):
        if topics[v] & topics[w] and (v, w) not in links:
            gain = before - number_of_components(topics, [*links, (v, w)])
            if gain:
                found[v, w] = gain
    return found


def number_of_components(topics: Topics, links: list[Pair]) -> int:
    """NC(V, E): the topic-connected components of all topics together (low section 3)."""
    total = 0
    for t in set().union(*topics):
        groups = [{v} for v in range(len(topics)) if t in topics[v]]
        for v, w in links:
            if t in topics[v] and t in topics[w]:
                group_v = next(group for group in groups if v in group)
                group_w = next(group for group in groups if w in group)
                if group_v is not group_w:
                    groups = [group for group in groups if group is not group_v and group is not group_w]
                    groups.append(group_v | group_w)
        total += len(groups)
    return total
