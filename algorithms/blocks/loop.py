"""GM2's loop by one call: make every topic one block, from nothing or from what exists."""

from __future__ import annotations

from algorithms.blocks.run import Run
from algorithms.blocks.weighted import WeightedRun
from algorithms.blocks.weights import BlockWeights
from algorithms.engine import Accepted, Limits, Rows, Ties
from algorithms.engine.trees import ties_code
from algorithms.interests import Interests, Ints
from algorithms.progress import Progress, silent


def biconnect(
    rows: Interests | Rows,
    *,
    ties: Ties = "degree",
    seed: int = 0,
    limits: Limits | None = None,
    progress: Progress = silent,
    existing: Ints | None = None,
    group: Ints | None = None,
    degrees: Ints | None = None,
    weights: BlockWeights | None = None,
) -> Accepted:
    """Make every topic one block: GM2, from what exists.

    ``existing``: links there already, which are not among those returned. ``group``: one number a row, from 0; the
    subscribers of a topic within a group are in one block already, so links are found across groups only. ``degrees``:
    links each row has besides the existing ones, by which ties are broken. ``weights``: score pairs, do not count.
    """
    if isinstance(rows, Interests):
        rows = Rows.of(rows)
    before = seed, limits or Limits(), progress, existing, group, degrees
    run = Run(rows, *before) if weights is None else WeightedRun(rows, weights, *before)
    run.take(ties_code(ties))
    return run.accepted()
