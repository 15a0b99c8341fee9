"""weave step by step: was every accepted link within one level of the best score, all recomputed from scratch?

Scores are floats summed by the book, over topic components found by walking the links. A level is 1/32 wide at the most.
Pairs that would join one topic only are no candidates until no other pair is left.
"""

from __future__ import annotations

from itertools import combinations

from algorithms import Interests
from tests.algorithms.twins.steps import Broken, Links, Pair, topic_components

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
) -> dict[Pair, tuple[float, int]]:
    """Every pair that would join a topic's components: its score, and how many topics it would join."""
    found: dict[Pair, tuple[float, int]] = {}
    degree = [sum(v in link for link in links) for v in range(len(interests.brokers))]
    for of in topic_components(interests, links):
        size = {name: list(of.values()).count(name) for name in set(of.values())}
        for v, w in combinations(sorted(of), 2):
            if of[v] != of[w]:
                score, topics = found.get((v, w), (0.0, 0))
                smaller = min(size[of[v]], size[of[w]])
                found[v, w] = score + len(of) ** -alpha * smaller**-beta, topics + 1
    return {
        (v, w): (
            score * (1 + max(degree[v], degree[w])) ** -delta * (1 + keep if (v, w) in before else 1),
            topics,
        )
        for (v, w), (score, topics) in found.items()
    }


def broken_low_degree_step(
    interests: Interests, links: Links, *, rho: float, alpha: float, beta: float
) -> Broken | None:
    """The same for weave with rho: the best pair that does not raise the maximum degree, unless the best of all scores
    more than rho times as much; each comparison may be off by a level a side."""
    present: list[Pair] = []
    near = LEVEL * LEVEL * (1 + 1e-6)
    for step, (a, b) in enumerate(links):
        link = (min(int(a), int(b)), max(int(a), int(b)))
        score = {pair: of for pair, (of, _) in scores(interests, present, alpha=alpha, beta=beta).items()}
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
    left = scores(interests, present, alpha=alpha, beta=beta)
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
) -> Broken | None:
    """The first broken rule of a run of weave, or None when every step was right."""
    present: list[Pair] = []
    exponents = {"alpha": alpha, "beta": beta, "delta": delta, "keep": keep}
    for step, (a, b) in enumerate(links):
        link = (min(int(a), int(b)), max(int(a), int(b)))
        all_scores = scores(interests, present, before=before, **exponents)
        if link not in all_scores:
            return Broken(step, link, "no link of contribution 0", "joins nothing")
        several = {pair: score for pair, (score, topics) in all_scores.items() if topics > 1}
        if several:
            best = max(several.values())
            if several.get(link, 0.0) * LEVEL * (1 + 1e-6) < best:
                return Broken(step, link, "within one level of the best", f"{all_scores[link]}, best {best}")
        present.append(link)
    left = scores(interests, present, before=before, **exponents)
    return Broken(len(present), None, "finish", f"{max(left)} still joins topics") if left else None
