"""Literal twins of the joins of overlays: star sets, Naive Merge, Star Merge, DC (dc Algorithms 3-7).

A part is the list of its brokers; parts are disjoint. Merges return the outer links alone, in the order they were
taken: the inner links are the callers'.
"""

from __future__ import annotations

from tests.algorithms.twins.greedy import Topics, construct_overlay_edges, gm
from tests.algorithms.twins.steps import Pair

Parts = list[list[int]]


def star_set(topics: Topics, part: list[int], topics_out: set[int]) -> list[int]:
    """getStarSetFromNodes, dc Algorithm 6: the stars in the order they were taken, ties to the lowest broker."""
    uncovered, stars = set(topics_out), []
    while uncovered:
        star = min((v for v in part if v not in stars), key=lambda v: (-len(topics[v] & uncovered), v))
        stars.append(star)
        uncovered -= topics[star]
    return stars


def topics_out(topics: Topics, parts: Parts) -> list[set[int]]:
    """dc Algorithm 5 line 7: T_d within the union of the others' (within the part's own topics)."""
    own = [set().union(*(topics[v] for v in part)) for part in parts]
    return [mine & set().union(*(own[i] for i in range(len(parts)) if i != d)) for d, mine in enumerate(own)]


def greedy_connect(topics: Topics, parts: Parts, candidates: Parts) -> list[Pair]:
    """greedyConnect, dc Algorithm 4: the topic-connected parts are the components from the start.

    The paper passes the stars as the parts themselves, which comes to the same: a part's subscribers of a topic are
    one component, and only stars are ends.
    """
    nodes: dict[tuple[int, int], set[int]] = {}
    for part in parts:
        for t in set().union(*(topics[v] for v in part)):
            together = {v for v in part if t in topics[v]}
            nodes.update({(v, t): together for v in together})
    link_contrib: dict[Pair, int] = {}
    for i, mine in enumerate(candidates):
        for others in candidates[i + 1 :]:
            for v in mine:
                for w in others:
                    if topics[v] & topics[w]:
                        link_contrib[min(v, w), max(v, w)] = len(topics[v] & topics[w])
    return construct_overlay_edges(topics, nodes, link_contrib)


def naive_merge(topics: Topics, parts: Parts) -> list[Pair]:
    """NaiveMergeAlgorithm, dc Algorithm 3: E_outNM."""
    return greedy_connect(topics, parts, parts)


def star_merge(topics: Topics, parts: Parts) -> list[Pair]:
    """StarMergeAlgorithm, dc Algorithm 5: E_outSM."""
    outside = topics_out(topics, parts)
    stars = [star_set(topics, part, out) for part, out in zip(parts, outside, strict=True)]
    return greedy_connect(topics, parts, stars)


def divide_and_conquer(topics: Topics, parts: Parts) -> tuple[list[Pair], list[Pair]]:
    """DivideAndConquerForTCO, dc Algorithm 7, for given parts: inner links and outer links."""
    inner: list[Pair] = []
    for part in parts:
        inner += [(part[v], part[w]) for v, w in gm([topics[v] for v in part])]
    return inner, star_merge(topics, parts)
