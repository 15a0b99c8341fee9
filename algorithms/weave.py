"""weave: fewer links than greedy merge, by a score that looks at how rare a topic and how small a component is.

Greedy merge counts topics: its first links serve popular topics, which later links, needed for rarer ones, would have
connected anyway. weave weighs a topic by n_t^-alpha and a join by the smaller component's size to the -beta: rare topics
first, and a first link for everybody before large components are joined. :mod:`algorithms.engine.weights` has the score;
docs/decisions/0040-weave.md what was measured.

For k >= 2 the same weights choose the links of a degree cover (:mod:`algorithms.degree_cover`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from algorithms.cover import weighted
from algorithms.degree_cover import covered
from algorithms.engine import Limits, connect_largest
from algorithms.engine.weighted import connect_weighted
from algorithms.engine.weighted_low_degree import connect_weighted_low_degree
from algorithms.engine.weights import Weights
from algorithms.errors import BadInput
from algorithms.interests import Interests, Ints
from algorithms.progress import Progress, part_of
from algorithms.prune import pruned
from algorithms.registry import MEMORY, Parameter, Value, algorithm
from algorithms.shortcuts import SHORTCUTS, shortcuts

LARGEST = 16.0
"""Exponents above this would leave nothing but the rarest topics; sums of them would lose their last digits."""

ALPHA = Parameter(
    "alpha",
    float,
    0.6,
    "rare topics first: a topic weighs its subscribers to the -alpha",
    minimum=0,
    maximum=LARGEST,
)
BETA = Parameter(
    "beta",
    float,
    0.5,
    "small components first: a join weighs the smaller one's size to the -beta (k = 1 and 2)",
    minimum=0,
    maximum=LARGEST,
)
DELTA = Parameter(
    "delta",
    float,
    0.0,
    "low degrees first: a score falls with the larger degree to the -delta (k = 1)",
    minimum=0,
    maximum=LARGEST,
)
RHO = Parameter(
    "rho",
    float,
    None,
    "low maximum degree: how many times as much a link must score to be allowed to raise it, 1.5 is good (k = 1)",
    minimum=1,
)
KEEP = Parameter(
    "keep",
    float,
    0.0,
    "raise the score of links that exist by up to this share, for a rebuild that changes less",
    minimum=0,
    maximum=1_000_000,
)
PRUNE = Parameter(
    "prune", bool, None, "take away every link that no topic needs for its k; left open, for k = 2 and more"
)
K = Parameter("k", int, 1, "topics survive the failure of any k - 1 brokers", minimum=1, maximum=2**31 - 1)


def _check(values: Mapping[str, Value], _brokers: int | None) -> None:
    k = values["k"]
    if isinstance(k, int) and k > 1:
        for name in ("delta", "rho", "shortcuts"):
            if values[name]:
                raise BadInput(name, values[name], "works for k = 1 only")


@algorithm(
    "weave",
    summary="Greedy merge by a weighted score: rare topics and small components first; the fewest links",
    guarantee="topic-connected (k-connected for k >= 2); fewer links than gm in all that was measured, no factor proven",
    paper="ours",
    parameters=(ALPHA, BETA, DELTA, RHO, KEEP, K, SHORTCUTS, PRUNE, MEMORY),
    connects="k",
    sticky=True,
    check=_check,
)
def weave(
    interests: Interests,
    *,
    seed: int,
    progress: Progress,
    alpha: float = 0.6,
    beta: float = 0.5,
    delta: float = 0.0,
    rho: float | None = None,
    keep: float = 0.0,
    k: int = 1,
    shortcuts: float = 0.0,
    prune: bool | None = None,
    memory_mb: int = 2048,
    earlier: Ints | None = None,
) -> Ints:
    """weave; alpha = beta = delta = 0 is GM. Nothing in it is random: the seed does not matter.

    ``earlier``: the links of before, which ``keep`` holds on to; without it they count for nothing.
    """
    if keep and earlier is None:
        raise BadInput("keep", keep, "needs the links to keep")
    limits = Limits(memory_mb)
    if k > 1:
        k = min(k, max(int(interests.topic_sizes().max(initial=1)), 2))
        return covered(
            interests,
            k,
            weighted(interests, k, alpha, beta, keep),
            prune=prune is not False,
            limits=limits,
            progress=progress,
            earlier=earlier if keep else None,
        )
    until = 1.0 - 0.3 * (shortcuts > 0) - 0.2 * bool(prune)
    weights = Weights(alpha, beta, delta, keep)
    report = part_of(progress, 0.0, until)
    before = earlier if keep else None
    if rho is None:
        accepted = connect_weighted(
            interests, weights, seed=seed, limits=limits, progress=report, linked_before=before
        )
    else:
        accepted = connect_weighted_low_degree(
            interests, weights, rho, seed=seed, limits=limits, progress=report, linked_before=before
        )
    links = accepted.links
    if prune:
        links = pruned(interests, np.sort(links, axis=1), 1, progress=part_of(progress, until, until + 0.2))
    if shortcuts:
        links = _with_shortcuts(interests, links, shortcuts, seed, limits, part_of(progress, 0.7, 1.0))
    return links


def _with_shortcuts(
    interests: Interests, links: Ints, share: float, seed: int, limits: Limits, progress: Progress
) -> Ints:
    """The links and shortcuts for a share of what they save against GM."""
    merged = connect_largest(interests, seed=seed, limits=limits, progress=part_of(progress, 0.0, 0.8)).links
    saved = len(merged) - len(links)
    more = shortcuts(
        interests, links, int(share * saved), limits=limits, progress=part_of(progress, 0.8, 1.0)
    )
    return np.concatenate([links, more])
