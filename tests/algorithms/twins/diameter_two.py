"""Literal twins of the overlays of diameter 2: CD-ODA, CD-ODA-I, CD-ODA-II (low section 6.1), 2D-ODA (low Algorithm 2).

Ties go to the lowest broker, then to the lowest topic. The papers' sets {v | Int(v,t) = Int(u,t) = 1} hold u itself.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from tests.algorithms.twins.greedy import Topics
from tests.algorithms.twins.steps import Pair


def subscribers(topics: Topics, t: int) -> set[int]:
    return {v for v in range(len(topics)) if t in topics[v]}


def neighbours(topics: Topics, u: int) -> int:
    """n_u, low section 6.1."""
    return len({v for v in range(len(topics)) if topics[v] & topics[u]})


def weighted_neighbours(topics: Topics, u: int) -> int:
    """w_u, low section 6.1."""
    return sum(len(subscribers(topics, t)) for t in topics[u])


def cd_oda(topics: Topics) -> set[Pair]:
    return _centres(topics, lambda u: Fraction(neighbours(topics, u)))


def cd_oda_i(topics: Topics) -> set[Pair]:
    return _centres(topics, lambda u: Fraction(weighted_neighbours(topics, u)))


def cd_oda_ii(topics: Topics) -> set[Pair]:
    return _centres(topics, lambda u: Fraction(weighted_neighbours(topics, u), neighbours(topics, u)))


def _centres(topics: Topics, score: Callable[[int], Fraction]) -> set[Pair]:
    """One centre after another, until every topic has one.

    Neighbours are COUNTED over all topics, which the published bounds need (Lemma 6), and LINKED over the
    remaining ones only (case VII's 2n-5). A topic with one subscriber needs no centre.
    """
    links: set[Pair] = set()
    left = {t for t in set().union(*topics) if len(subscribers(topics, t)) > 1}
    while left:
        u = min((v for v in range(len(topics)) if topics[v] & left), key=lambda v: (-score(v), v))
        for v in range(len(topics)):
            if v != u and topics[u] & topics[v] & left:
                links.add((min(u, v), max(u, v)))
        left -= topics[u]
    return links


def two_d_oda(topics: Topics) -> set[Pair]:
    """2D-ODA, low Algorithm 2: one star at a time, of the topic and centre of largest topic density."""
    links: set[Pair] = set()
    left = {t for t in set().union(*topics) if len(subscribers(topics, t)) > 1}  # others are always fine
    while left:
        u, t = min(
            ((u, t) for u in range(len(topics)) for t in topics[u] & left),
            key=lambda star: (_falling(topic_density(topics, links, left, *star)), star),
        )
        links |= {(min(u, v), max(u, v)) for v in subscribers(topics, t) if v != u}
        left.remove(t)
    return links


def topic_density(topics: Topics, links: set[Pair], left: set[int], u: int, t: int) -> Fraction | None:
    """td(u, t), low section 6.3, or None for infinity.

    The numerator sums over the remaining topics, and a star whose links all exist is infinitely dense. So u
    itself, which can have no link to itself, is not counted in the denominator.
    """
    missing = [v for v in subscribers(topics, t) if v != u and (min(u, v), max(u, v)) not in links]
    numerator = sum(len(subscribers(topics, other)) for other in topics[u] & left)
    return Fraction(numerator, len(missing)) if missing else None


def _falling(density: Fraction | None) -> tuple[int, Fraction]:
    return (0, Fraction(0)) if density is None else (1, -density)
