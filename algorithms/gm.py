"""GM, the greedy merge algorithm: the link that joins most topic components, again and again.

Every accepted link has the largest contribution at its step (gm, Algorithms 1-3). Where several have, ``ties``
decides: it moves the number of links by a percent and the maximum degree by orders of magnitude.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from algorithms.engine import Limits, Ties, connect_largest
from algorithms.interests import Interests
from algorithms.progress import Progress, part_of
from algorithms.registry import MEMORY, Parameter, algorithm

TIES = Parameter(
    "ties",
    str,
    "degree",
    "which of equally good links comes first: ends of low degree, row order, or random",
    words=("degree", "row", "random"),
)
ROUNDS = Parameter(
    "rounds",
    int,
    1,
    "run again that often without the links so far, for smaller topic diameters",
    minimum=1,
    maximum=1000,
)


@algorithm(
    "gm",
    summary="Greedy merge: always the link that joins most topic components",
    guarantee="topic-connected; links at most a logarithmic factor above the fewest possible",
    paper="Chockler et al. 2007, Algorithms 1-3 and section 6.4 (greedy-merge-min-tco)",
    parameters=(TIES, ROUNDS, MEMORY),
)
def greedy_merge(
    interests: Interests,
    *,
    seed: int,
    progress: Progress,
    ties: Ties = "degree",
    rounds: int = 1,
    memory_mb: int = 2048,
) -> NDArray[np.int32]:
    """GM, repeated ``rounds`` times on fresh components with the links so far excluded (gm 6.4).

    A round after the first connects each topic anew as far as unused pairs allow: a topic with two subscribers has
    none left.
    """
    links = np.empty((0, 2), np.int32)
    for done in range(rounds):
        accepted = connect_largest(
            interests,
            ties=ties,
            seed=seed + done,
            limits=Limits(memory_mb),
            progress=part_of(progress, done / rounds, (done + 1) / rounds),
            barred=links,
            degrees=np.bincount(links.ravel(), minlength=len(interests.brokers)).astype(np.int32),
        )
        if not len(accepted.links):
            break
        links = np.concatenate([links, accepted.links])
    return links
