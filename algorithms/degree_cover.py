"""Degree cover: k links for every subscriber in every topic first, connectivity after.

In a k-connected topic everyone has k neighbours at least, and giving them to everyone is the hard part: a graph in which
all have k is nearly always k-connected, or needs a few links more. So the greedy loop takes the link that serves most
needs, an end and a common topic where it has fewer than k links; then what is not k-connected yet is restored (k = 2:
by GM2 from that state; k >= 3: by links across the separators found), and what became redundant is pruned.
"""

from __future__ import annotations

import numpy as np

from algorithms.blocks import biconnect
from algorithms.cover import Score, cover, plain, sized
from algorithms.cover.restore import restore
from algorithms.engine import Limits
from algorithms.interests import Interests, Ints
from algorithms.progress import Progress, part_of
from algorithms.prune import pruned
from algorithms.registry import MEMORY, Parameter, algorithm


@algorithm(
    "degree-cover",
    summary="Enough links for everyone in every topic, then connectivity, then prune: any k, fewest links",
    guarantee="k-connected in every topic, a clique where it has at most k + 1 subscribers; no link can be dropped",
    paper="ours",
    parameters=(
        Parameter(
            "k", int, 2, "topics survive the failure of any k - 1 brokers", minimum=2, maximum=2**31 - 1
        ),
        Parameter(
            "needs",
            str,
            "sized",
            "an end that still needs links in a topic counts by how many, or (plain) once",
            words=("sized", "plain"),
        ),
        Parameter("prune", bool, True, "take away every link that no topic needs for its k"),
        MEMORY,
    ),
    connects="k",
)
def degree_cover(
    interests: Interests,
    *,
    seed: int,
    progress: Progress,
    k: int = 2,
    needs: str = "sized",
    prune: bool = True,
    memory_mb: int = 2048,
) -> Ints:
    """Degree cover without weights on topics. Nothing in it is random: the seed does not matter."""
    # Above every topic's size all topics are cliques; the tables need go no further.
    k = min(k, max(int(interests.topic_sizes().max(initial=1)), 2))
    score = plain(interests, k) if needs == "plain" else sized(interests, k)
    return covered(interests, k, score, prune=prune, limits=Limits(memory_mb), progress=progress)


def covered(
    interests: Interests,
    k: int,
    score: Score,
    *,
    prune: bool,
    limits: Limits,
    progress: Progress,
    earlier: Ints | None = None,
) -> Ints:
    """Cover the needs by a score that holds on to ``earlier`` links, restore k-connectivity, prune."""
    links = cover(interests, k, score, earlier=earlier, limits=limits, progress=part_of(progress, 0.0, 0.5))
    if k == 2:
        more = biconnect(interests, existing=links, limits=limits, progress=part_of(progress, 0.5, 0.7)).links
    else:
        more = restore(interests, links, k, progress=part_of(progress, 0.5, 0.7))
    links = np.concatenate([links, more])
    return pruned(interests, links, k, progress=part_of(progress, 0.7, 1.0)) if prune else links
