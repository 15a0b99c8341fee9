"""GM2: greedy merge of topic blocks, for overlays in which no single failure parts a topic.

The estimate of a pair is the number of common topics in which no block holds both ends: an upper bound of what the link
contributes to 2-connectivity, and at most twice that. The pair with the largest estimate becomes a link, until every
topic is one block.

    C. Chen, R. Vitenberg, H.-A. Jacobsen, "Constructing fault-tolerant overlay networks for topic-based
    publish/subscribe", Algorithm 1 and section VI
"""

from __future__ import annotations

from algorithms.blocks import biconnect
from algorithms.engine import Limits, Ties
from algorithms.interests import Interests, Ints
from algorithms.prune import PRUNE, pruned
from algorithms.registry import MEMORY, Parameter, Progress, algorithm

TIES = Parameter(
    "ties",
    str,
    "degree",
    "which of equally good links comes first: ends of low degree, row order, or random",
    words=("degree", "row", "random"),
)


@algorithm(
    "gm2",
    summary="Greedy merge of blocks: always the link that serves most topics where its ends share no block",
    guarantee=(
        "2-connected in every topic; links at most U + ln(brokers * topics) times the fewest possible, up to a "
        "constant factor, where U is the largest number of subscribers of one topic"
    ),
    paper="Chen et al., Algorithm 1 (fault-tolerant-ktco-gm2-hararypt)",
    parameters=(TIES, PRUNE, MEMORY),
)
def greedy_merge_blocks(
    interests: Interests,
    *,
    seed: int,
    progress: Progress,
    ties: Ties = "degree",
    prune: bool = False,
    memory_mb: int = 2048,
) -> Ints:
    """Exact GM2: every link has the largest estimate at its step, recomputed lazily.

    A topic of two subscribers gets their link, a topic of one none.
    """
    links = biconnect(
        interests,
        ties=ties,
        seed=seed,
        limits=Limits(memory_mb),
        progress=_share(progress, 0.8 if prune else 1.0),
    ).links
    return pruned(interests, links, 2, progress=progress, since=0.8) if prune else links


def _share(progress: Progress, until: float) -> Progress:
    return lambda done, stage: progress(done * until, stage)
