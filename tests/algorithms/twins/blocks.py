"""Literal twin and step checker of GM2 (ktco Algorithm 1): blocks recomputed by igraph at every step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations

import igraph

from algorithms import Interests
from tests.algorithms.twins.steps import Broken, Links, Pair, any_pair


def topic_pairs_in_blocks(interests: Interests, topic: int, links: Iterable[Pair]) -> set[Pair]:
    """The pairs of a topic's subscribers that some block holds both of."""
    members = interests.subscriber_indices(topic).tolist()
    local = {v: i for i, v in enumerate(members)}
    inside = [(local[v], local[w]) for v, w in links if v in local and w in local]
    blocks = igraph.Graph(n=len(members), edges=inside).biconnected_components()
    return {(members[a], members[b]) for block in blocks for a, b in combinations(sorted(block), 2)}


def estimates(
    interests: Interests, links: Iterable[Pair], candidates: Callable[[int, int], bool] = any_pair
) -> dict[Pair, int]:
    """Line 5: in how many common topics no block contains both ends, for every pair where it is positive."""
    links = list(links)
    estimate: dict[Pair, int] = {}
    for topic in range(len(interests.topics)):
        together = topic_pairs_in_blocks(interests, topic, links)
        for pair in combinations(interests.subscriber_indices(topic).tolist(), 2):
            if pair not in together and candidates(*pair):
                estimate[pair] = estimate.get(pair, 0) + 1
    return estimate


def gm2(interests: Interests) -> list[Pair]:
    """Algorithm 1, some maximal edge being the lowest pair."""
    links: list[Pair] = []
    while True:
        estimate = estimates(interests, links)
        if not estimate:  # line 3: 2-topic-connected
            return links
        links.append(min(estimate, key=lambda pair: (-estimate[pair], pair)))  # lines 6-8


def broken_block_step(
    interests: Interests,
    links: Links,
    *,
    existing: Links = (),
    candidates: Callable[[int, int], bool] = any_pair,
    low_degree_ties: bool = False,
    ties_from: int = 2,
) -> Broken | None:
    """The first link that did not have the largest estimate at its step, or None; as for components in `steps`.

    Links of estimate 1 are free to be chosen (each changes one topic only), so ties are checked from 2 up.
    """
    before = [(int(min(v, w)), int(max(v, w))) for v, w in existing]
    present = list(before)
    degree = [0] * len(interests.brokers)
    for v, w in present:
        degree[v] += 1
        degree[w] += 1
    for step, (a, b) in enumerate(links):
        link = (int(min(a, b)), int(max(a, b)))
        estimate = estimates(interests, present, candidates)
        if link not in estimate:
            return Broken(step, link, "no link of estimate 0", "its ends share a block in every common topic")
        best = max(estimate.values())
        if estimate[link] < best:
            return Broken(step, link, "largest estimate", f"has {estimate[link]}, best of all {best}")
        lowest = min(max(degree[v], degree[w]) for (v, w), value in estimate.items() if value == best)
        if low_degree_ties and best >= ties_from and max(degree[link[0]], degree[link[1]]) > lowest:
            return Broken(
                step, link, "lowest larger degree first", f"an equal link has larger degree {lowest}"
            )
        present.append(link)
        degree[link[0]] += 1
        degree[link[1]] += 1
    left = estimates(interests, present, candidates)
    if left:
        return Broken(len(present) - len(before), None, "finish", f"{min(left)} still contributes")
    return None


def block_scores(
    interests: Interests, links: Iterable[Pair], *, alpha: float, b: float
) -> dict[Pair, tuple[float, int]]:
    """Weighted GM2: the score of every pair that shares no block in some topic, and in how many it shares none."""
    links = list(links)
    found: dict[Pair, tuple[float, int]] = {}
    for topic in range(len(interests.topics)):
        members = interests.subscriber_indices(topic).tolist()
        degree = {v: sum(v in link and set(link) <= set(members) for link in links) for v in members}
        together = topic_pairs_in_blocks(interests, topic, links)
        for v, w in combinations(members, 2):
            if (v, w) not in together:
                score, terms = found.get((v, w), (0.0, 0))
                ends = (1 + degree[v]) ** -b + (1 + degree[w]) ** -b
                found[v, w] = score + len(members) ** -alpha * ends, terms + 1
    return found


def broken_weighted_step(
    interests: Interests, links: Links, *, alpha: float, b: float, existing: Links = ()
) -> Broken | None:
    """The first link that was not within one level of the best score at its step, or None.

    A level is 1/32 wide at the most. Pairs of one topic are no candidates until no other pair is left.
    """
    present = [(int(min(v, w)), int(max(v, w))) for v, w in existing]
    for step, (v, w) in enumerate(links):
        link = (int(min(v, w)), int(max(v, w)))
        scores = block_scores(interests, present, alpha=alpha, b=b)
        if link not in scores:
            return Broken(step, link, "no link of score 0", "its ends share a block in every common topic")
        several = {pair: score for pair, (score, terms) in scores.items() if terms > 1}
        best = max(several.values(), default=0.0)
        if several.get(link, 0.0) * (1 + 1 / 32) * (1 + 1e-6) < best:
            return Broken(step, link, "within one level of the best", f"{scores[link]}, best {best}")
        present.append(link)
    left = block_scores(interests, present, alpha=alpha, b=b)
    return Broken(len(present), None, "finish", f"{min(left)} still contributes") if left else None
