"""weave step by step: was every accepted link within one level of the best score, all recomputed from scratch?

Scores are floats summed by the book, over topic components found by walking the links. A level is 1/32 wide at the most.
Pairs that would join one topic only are no candidates until no other pair is left.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import combinations
from typing import Any

from algorithms import Interests
from algorithms.cover.score import LARGEST_JOINED
from tests.algorithms.twins.steps import Broken, Links, Pair, topic_components, topics_by_broker

LEVEL = 1 + 1 / 32


def scores(
    interests: Interests,
    links: list[Pair],
    *,
    alpha: float,
    beta: float,
    delta: float = 0.0,
    keep: float = 0.0,
    before: frozenset[Pair] = frozenset(),
    parts: Sequence[int] | None = None,
    among: Collection[int] | None = None,
) -> dict[Pair, tuple[float, int]]:
    """Every pair that would join a topic's components: its score, and how many topics it would join.

    ``parts`` are connected from the start; ``among``: the brokers that pairs, and sizes of components, are made of.
    """
    found: dict[Pair, tuple[float, int]] = {}
    degree = [sum(v in link for link in links) for v in range(len(interests.brokers))]
    for of in topic_components(interests, links, parts):
        some = [v for v in sorted(of) if among is None or v in among]
        names = [of[v] for v in some]
        for v, w in combinations(some, 2):
            if of[v] != of[w]:
                score, topics = found.get((v, w), (0.0, 0))
                smaller = min(names.count(of[v]), names.count(of[w]))
                found[v, w] = score + len(of) ** -alpha * smaller**-beta, topics + 1

    def raised(v: int, w: int, score: float) -> float:
        if (v, w) not in before:
            return score
        common = set(interests.topics_of(interests.brokers[v])) & set(
            interests.topics_of(interests.brokers[w])
        )
        first = sum(len(interests.subscribers_of(topic)) ** -alpha for topic in common)
        return score * (1 + keep * math.sqrt(score / first))

    return {
        (v, w): (raised(v, w, score) * (1 + max(degree[v], degree[w])) ** -delta, topics)
        for (v, w), (score, topics) in found.items()
    }


def broken_low_degree_step(interests: Interests, links: Links, *, rho: float, **fixed: Any) -> Broken | None:
    """The same for weave with rho (``fixed``: what :func:`scores` takes): the best pair that does not raise the maximum degree, unless the best of all scores
    more than rho times as much; each comparison may be off by a level a side."""
    present: list[Pair] = []
    near = LEVEL * LEVEL * (1 + 1e-6)
    for step, (a, b) in enumerate(links):
        link = (min(int(a), int(b)), max(int(a), int(b)))
        score = {pair: of for pair, (of, _) in scores(interests, present, **fixed).items()}
        if link not in score:
            return Broken(step, link, "no link of contribution 0", "joins nothing")
        degree = [sum(v in other for other in present) for v in range(len(interests.brokers))]
        best = max(score.values())
        low = [of for (v, w), of in score.items() if max(degree[v], degree[w]) < max(degree)]
        best_low = max(low, default=0.0)
        raises = max(degree[link[0]], degree[link[1]]) >= max(degree)
        if raises and (score[link] * near < best or rho * best_low > best * near):
            return Broken(step, link, "raises the degree", f"{score[link]}, best {best}, low {best_low}")
        if (
            not raises
            and score[link] * near < best
            and (score[link] * near < best_low or rho * best_low * near < best)
        ):
            return Broken(step, link, "low degree", f"{score[link]}, best {best}, low {best_low}")
        present.append(link)
    left = scores(interests, present, **fixed)
    return Broken(len(present), None, "finish", f"{max(left)} still joins topics") if left else None


def broken_weave_step(
    interests: Interests,
    links: Links,
    *,
    alpha: float,
    beta: float,
    delta: float = 0.0,
    keep: float = 0.0,
    before: frozenset[Pair] = frozenset(),
    parts: Sequence[int] | None = None,
    among: Collection[int] | None = None,
) -> Broken | None:
    """The first broken rule of a run of weave, or None when every step was right."""
    present: list[Pair] = []
    fixed: dict[str, Any] = {"alpha": alpha, "beta": beta, "delta": delta, "keep": keep}
    fixed |= {"before": before, "parts": parts, "among": among}
    for step, (a, b) in enumerate(links):
        link = (min(int(a), int(b)), max(int(a), int(b)))
        all_scores = scores(interests, present, **fixed)
        if link not in all_scores:
            return Broken(step, link, "no link of contribution 0", "joins nothing")
        several = {pair: score for pair, (score, topics) in all_scores.items() if topics > 1}
        if several:
            best = max(several.values())
            if several.get(link, 0.0) * LEVEL * (1 + 1e-6) < best:
                return Broken(step, link, "within one level of the best", f"{all_scores[link]}, best {best}")
        present.append(link)
    left = scores(interests, present, **fixed)
    return Broken(len(present), None, "finish", f"{max(left)} still joins topics") if left else None


def cover_scores(
    interests: Interests,
    links: list[Pair],
    *,
    k: int,
    alpha: float,
    beta: float,
    keep: float = 0.0,
    before: Collection[Pair] = (),
) -> dict[Pair, float]:
    """For k >= 2: every unlinked pair that serves a need, scored by its needs and (k = 2) the components it
    joins in small topics where one of them has a need; a pair linked ``before`` 1 + keep times as much."""
    topics = topics_by_broker(interests)
    sizes = interests.topic_sizes().tolist()
    of = topic_components(interests, links)
    have = {(v, t): 0 for v in range(len(topics)) for t in topics[v]}
    for v, w in links:
        for t in topics[v] & topics[w]:
            have[v, t] += 1
            have[w, t] += 1
    need = {(v, t): max(min(k, sizes[t] - 1) - links_there, 0) for (v, t), links_there in have.items()}
    found = {}
    for v, w in combinations(range(len(topics)), 2):
        common = topics[v] & topics[w]
        if (v, w) in links or not any(need[v, t] + need[w, t] for t in common):
            continue
        score = 0.0
        for t in common:
            term = float(need[v, t] + need[w, t])
            if k == 2 and sizes[t] <= LARGEST_JOINED and term and of[t][v] != of[t][w]:
                members = list(of[t].values())
                term += min(members.count(of[t][v]), members.count(of[t][w])) ** -beta
            score += sizes[t] ** -alpha * term
        found[v, w] = score * (1 + keep) if (v, w) in before else score
    return found


def broken_cover_step(
    interests: Interests,
    links: Links,
    *,
    k: int,
    alpha: float,
    beta: float,
    keep: float = 0.0,
    before: Collection[Pair] = (),
    existing: Links = (),
) -> Broken | None:
    """The first broken rule of a weighted cover, or None: the best score at every step, until nobody needs anything.

    Weights are whole numbers in the kernel, which may cost another tenth of a percent.
    """
    present = [(min(int(a), int(b)), max(int(a), int(b))) for a, b in existing]
    fixed: dict[str, Any] = {"k": k, "alpha": alpha, "beta": beta, "keep": keep, "before": before}
    for step, (a, b) in enumerate(links):
        link = (min(int(a), int(b)), max(int(a), int(b)))
        score = cover_scores(interests, present, **fixed)
        if link not in score:
            return Broken(step, link, "serves a need", "a link already, or nobody needs it")
        if score[link] * LEVEL * 1.001 < max(score.values()):
            return Broken(
                step, link, "within one level of the best", f"{score[link]}, best {max(score.values())}"
            )
        present.append(link)
    left = cover_scores(interests, present, **fixed)
    return Broken(len(present), None, "finish", f"{max(left)} still serves a need") if left else None
