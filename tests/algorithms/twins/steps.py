"""Step checkers: was every accepted link the right one at its step?

Validity alone misses real bugs (a stale count accepted within a row still ends in a topic-connected overlay). So each
checker replays the links in the order they were accepted, recomputes every topic component and every contribution from
scratch at each step, and names the first step that broke a rule. Nothing is shared with the engine but `Interests`.

    broken = broken_step(interests, links)                                   # GM: the largest contribution
    broken = broken_step(interests, links, rho=3)                            # Low-ODA(3); rho=math.inf is MinMax-ODA
    broken = broken_step(interests, links, parts=parts, candidates=across(parts))                       # Naive Merge
    broken = broken_step(interests, links, parts=parts, candidates=across(parts, stars=stars))          # Star Merge
    broken = broken_step(interests, links, existing=live, candidates=among(shadow), topics=lost, rho=3) # a repair
    assert broken is None, broken
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from algorithms import Interests

Pair = tuple[int, int]
Links = Iterable[Sequence[int]] | NDArray[np.integer]
Candidates = Callable[[int, int], bool]
"""Whether the pair v < w may be linked at all."""


@dataclass(frozen=True)
class Broken:
    """The first step that broke a rule; ``step`` counts from 0 and is the number of links when the run stopped early."""

    step: int
    link: Pair | None
    rule: str
    detail: str

    def __str__(self) -> str:
        return f"step {self.step}, link {self.link}: {self.rule}: {self.detail}"


def any_pair(_v: int, _w: int) -> bool:
    """Candidates of GM, MinMax-ODA and Low-ODA: all pairs."""
    return True


def across(parts: Sequence[int], stars: Collection[int] | None = None) -> Candidates:
    """Candidates of Naive Merge (dc Alg 4 line 8): pairs of different parts; with stars, of Star Merge (Alg 5)."""
    return lambda v, w: parts[v] != parts[w] and (stars is None or (v in stars and w in stars))


def among(brokers: Collection[int]) -> Candidates:
    """Candidates of a repair: pairs among a shadow set."""
    return lambda v, w: v in brokers and w in brokers


def touching(broker: int) -> Candidates:
    """Candidates of a naive join: pairs with the newcomer."""
    return lambda v, w: broker in (v, w)


def topics_by_broker(interests: Interests) -> list[set[int]]:
    """The topics of each broker as a set of dense ids."""
    starts = interests.broker_start.tolist()
    topics = interests.broker_topics.tolist()
    return [set(topics[starts[v] : starts[v + 1]]) for v in range(len(interests.brokers))]


def topic_components(
    interests: Interests, links: Iterable[Sequence[int]], parts: Sequence[int] | None = None
) -> list[dict[int, int]]:
    """For each topic, the component of each subscriber, named by its lowest broker, found by walking the links.

    With ``parts``, the subscribers of a topic within one part count as connected from the start (dc Alg 4 lines 5-7).
    """
    neighbours: dict[int, set[int]] = {v: set() for v in range(len(interests.brokers))}
    for v, w in links:
        neighbours[v].add(w)
        neighbours[w].add(v)
    found = []
    for topic in range(len(interests.topics)):
        members = interests.subscriber_indices(topic).tolist()
        component: dict[int, int] = {}
        for first in members:
            if first in component:
                continue
            component[first], walk = first, [first]
            while walk:
                v = walk.pop()
                for w in members:
                    if w not in component and (
                        w in neighbours[v] or (parts is not None and parts[v] == parts[w])
                    ):
                        component[w] = first
                        walk.append(w)
        found.append(component)
    return found


def contributions(
    interests: Interests,
    links: Iterable[Sequence[int]],
    *,
    parts: Sequence[int] | None = None,
    candidates: Candidates = any_pair,
    topics: Collection[int] | None = None,
) -> dict[Pair, int]:
    """Every candidate pair that would join at least one topic's components, with how many (gm 6.1)."""
    component = topic_components(interests, links, parts)
    gain: dict[Pair, int] = {}
    for topic, of in enumerate(component):
        if topics is not None and topic not in topics:
            continue
        for v, w in combinations(sorted(of), 2):
            if of[v] != of[w] and candidates(v, w):
                gain[v, w] = gain.get((v, w), 0) + 1
    return gain


def broken_step(
    interests: Interests,
    links: Links,
    *,
    rho: float | None = None,
    parts: Sequence[int] | None = None,
    existing: Links = (),
    candidates: Candidates = any_pair,
    topics: Collection[int] | None = None,
    low_degree_ties: bool = False,
    ties_from: int = 1,
    must_finish: bool = True,
) -> Broken | None:
    """The first broken rule of a greedy run, or None when every step was right.

    Without ``rho`` the rule is the largest contribution (gm Alg 3). With it the rule is low degree (low Alg 1):
    the best link that does not raise the maximum degree if and only if rho times its contribution reaches the best
    contribution of all; where every link raises it, the best of all. ``existing`` links connect and count as degree
    from the start; ``topics`` limits what contributes (a repair's own topics). With ``low_degree_ties`` a link must
    also have the lowest larger end degree among its equals, checked where they contribute ``ties_from`` or more.
    """
    before = _pairs(existing)
    present = set(before)
    degree = _degrees(interests, before)
    for step, link in enumerate(_pairs(links)):
        gain = contributions(interests, sorted(present), parts=parts, candidates=candidates, topics=topics)
        if link in present:
            return Broken(step, link, "no link twice", "the link exists already")
        if not candidates(*link):
            return Broken(step, link, "candidates", "the pair is no candidate")
        if link not in gain:
            return Broken(
                step, link, "no link of contribution 0", "its ends are joined in every common topic"
            )
        fit, rule = _fit(gain, degree, rho)
        if link not in fit:
            best = max(gain.values())
            return Broken(
                step, link, rule, f"contributes {gain[link]}, best of all {best}, fit {sorted(fit)[:5]}"
            )
        if low_degree_ties and gain[link] >= ties_from:
            lowest = min(max(degree[v], degree[w]) for v, w in fit)
            if max(degree[link[0]], degree[link[1]]) > lowest:
                return Broken(
                    step, link, "lowest larger degree first", f"an equal link has larger degree {lowest}"
                )
        present.add(link)
        degree[link[0]] += 1
        degree[link[1]] += 1
    if must_finish:
        left = contributions(interests, sorted(present), parts=parts, candidates=candidates, topics=topics)
        if left:
            return Broken(
                len(present) - len(before),
                None,
                "finish",
                f"{max(left, key=lambda e: left[e])} still contributes",
            )
    return None


def broken_round_step(
    interests: Interests, links: Links, rounds: int, *, low_degree_ties: bool = False, ties_from: int = 1
) -> Broken | None:
    """The same for repeated GM (gm 6.4): each run starts from fresh components over the pairs not linked yet.

    A run ends when no unlinked pair contributes; a later run may end with topics apart (a topic of two subscribers has
    one pair only), and that is no fault. Degrees, where they decide ties, are those of all runs so far.
    """
    waiting = _pairs(links)
    earlier: set[Pair] = set()
    degree = _degrees(interests, [])
    step = 0
    for _ in range(rounds):
        taken: list[Pair] = []
        while True:
            gain = contributions(interests, taken, candidates=lambda v, w: (v, w) not in earlier)
            if not gain:
                break
            if not waiting:
                return Broken(step, None, "finish", f"{max(gain, key=lambda e: gain[e])} still contributes")
            link = waiting.pop(0)
            fit, rule = _fit(gain, degree, None)
            if link not in fit:
                return Broken(step, link, rule, f"contributes {gain.get(link, 0)}, best {max(gain.values())}")
            lowest = min(max(degree[v], degree[w]) for v, w in fit)
            if low_degree_ties and gain[link] >= ties_from and max(degree[link[0]], degree[link[1]]) > lowest:
                return Broken(
                    step, link, "lowest larger degree first", f"an equal link has larger degree {lowest}"
                )
            taken.append(link)
            degree[link[0]] += 1
            degree[link[1]] += 1
            step += 1
        earlier.update(taken)
    return Broken(step, waiting[0], "finish", "a link after the last round") if waiting else None


def broken_star_step(
    interests: Interests, parts: Sequence[int], part: int, stars: Sequence[int]
) -> Broken | None:
    """The first star that was not the greedy choice of dc Alg 6, or None.

    A star set covers T_out: the topics of its part that some other part has too (Alg 5 line 7).
    """
    topics = topics_by_broker(interests)
    own = [v for v in range(len(parts)) if parts[v] == part]
    elsewhere = {t for v in range(len(parts)) if parts[v] != part for t in topics[v]}
    uncovered = {t for v in own for t in topics[v]} & elsewhere
    for step, star in enumerate(stars):
        if star not in own:
            return Broken(step, None, "stars of the part", f"broker {star} is of another part")
        best = max(len(topics[v] & uncovered) for v in own)
        if not uncovered or len(topics[star] & uncovered) != best:
            return Broken(
                step,
                None,
                "most uncovered topics",
                f"star {star} covers {len(topics[star] & uncovered)}, best {best}",
            )
        uncovered -= topics[star]
    return (
        Broken(len(stars), None, "cover", f"topics {sorted(uncovered)} have no star") if uncovered else None
    )


def _fit(gain: dict[Pair, int], degree: Sequence[int], rho: float | None) -> tuple[set[Pair], str]:
    """The links that may come next, and the rule that says so."""
    best = max(gain.values())
    rule = "largest contribution"
    fit = {link for link in gain if gain[link] == best}
    if rho is not None:
        maximum = max(degree)
        low = {link for link in gain if max(degree[link[0]], degree[link[1]]) < maximum}
        if low:
            best_low = max(gain[link] for link in low)
            if rho * best_low >= best:
                rule = f"low degree with rho {rho:g}"
                fit = {link for link in low if gain[link] == best_low}
            else:
                rule = f"rho {rho:g} exceeded: largest contribution"
    return fit, rule


def _pairs(links: Links) -> list[Pair]:
    return [(min(int(a), int(b)), max(int(a), int(b))) for a, b in links]


def _degrees(interests: Interests, links: Iterable[Pair]) -> list[int]:
    degree = [0] * len(interests.brokers)
    for v, w in links:
        degree[v] += 1
        degree[w] += 1
    return degree
