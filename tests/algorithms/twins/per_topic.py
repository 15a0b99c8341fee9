"""Literal twins of the baselines that treat each topic by itself: RingPT, CyclePT (gm 8.3, ktco VIII) and TreePT."""

from __future__ import annotations

from collections.abc import Callable

from tests.algorithms.twins.steps import Pair

Shape = Callable[[list[int]], set[Pair]]


def ring(members: list[int]) -> set[Pair]:
    """A ring through the members in their order; two members make one link, one makes none."""
    return {_link(a, b) for a, b in zip(members, members[1:] + members[:1], strict=True) if a != b}


def tree(members: list[int]) -> set[Pair]:
    """A balanced binary tree: member i hangs below member (i - 1) // 2."""
    return {_link(members[i], members[(i - 1) // 2]) for i in range(1, len(members))}


def per_topic(orders: list[list[int]], shape: Shape) -> set[Pair]:
    """The union over topics of the same shape, each over its subscribers in the given order."""
    return set().union(*(shape(members) for members in orders))


def _link(a: int, b: int) -> Pair:
    return min(a, b), max(a, b)
