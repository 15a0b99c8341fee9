"""GM2: greedy merge of topic blocks, for overlays in which no single failure parts a topic.

The estimate of a pair is the number of common topics in which no block holds both ends: an upper bound of what the link
contributes to 2-connectivity, and at most twice that. The pair with the largest estimate becomes a link, until every
topic is one block.

    C. Chen, R. Vitenberg, H.-A. Jacobsen, "Constructing fault-tolerant overlay networks for topic-based
    publish/subscribe", Algorithm 1 and section VI
"""

from __future__ import annotations

from collections.abc import Mapping

from algorithms.blocks import BlockWeights, biconnect
from algorithms.engine import Limits, Ties
from algorithms.errors import BadInput
from algorithms.interests import Interests, Ints
from algorithms.progress import Progress
from algorithms.registry import MEMORY, Parameter, Value, algorithm

TIES = Parameter(
    "ties",
    str,
    "degree",
    "which of equally good links comes first: ends of low degree, row order, or random",
    words=("degree", "row", "random"),
)

WEIGHTED = Parameter(
    "weighted",
    bool,
    False,
    "score links instead of counting: rare topics first, and ends that have few links in a topic; fewer links, short paths",
)
B = Parameter(
    "b",
    float,
    None,
    "weighted: an end weighs its links in the topic, and one more, to the -b; larger means fewer links, longer paths (1)",
    minimum=0,
    maximum=16,
)


def _check(values: Mapping[str, Value], _brokers: int | None) -> None:
    if values["b"] is not None and not values["weighted"]:
        raise BadInput("b", values["b"], "works with weighted only")


@algorithm(
    "gm2",
    summary="Greedy merge of blocks: always the link that serves most topics where its ends share no block",
    guarantee=(
        "2-connected in every topic; links at most U + ln(brokers * topics) times the fewest possible, up to a "
        "constant factor, where U is the largest number of subscribers of one topic"
    ),
    paper="Chen et al., Algorithm 1 (fault-tolerant-ktco-gm2-hararypt)",
    parameters=(TIES, WEIGHTED, B, MEMORY),
    connects=2,
    check=_check,
)
def greedy_merge_blocks(
    interests: Interests,
    *,
    seed: int,
    progress: Progress,
    ties: Ties = "degree",
    weighted: bool = False,
    b: float | None = None,
    memory_mb: int = 2048,
) -> Ints:
    """Exact GM2: every link has the largest estimate at its step, recomputed lazily.

    With ``weighted`` every link has the best score, within a level of three percent (:mod:`algorithms.blocks.weights`),
    and the guarantee on the number of links is gone. A topic of two subscribers gets their link, a topic of one none.
    """
    return biconnect(
        interests,
        ties=ties,
        seed=seed,
        limits=Limits(memory_mb),
        progress=progress,
        weights=BlockWeights(b=1.0 if b is None else b) if weighted else None,
    ).links
