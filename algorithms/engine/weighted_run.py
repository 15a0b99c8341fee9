"""One run of the engine by a weighted score: components with what they are worth, rows by what they can score."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from algorithms.engine.components import Components
from algorithms.engine.run import Limits, Rows, Run
from algorithms.engine.weights import Weights, all_worths, first_sums, level_of, upper_bounds
from algorithms.interests import Interests, Ints, Longs
from algorithms.jit import kernel
from algorithms.progress import Progress


class WeightedRun(Run):
    """The state of one run between kernels.

    ``unit``: topic -> worth of a lone subscriber; ``worth``: label -> worth of the component; ``upper``: row -> bound on
    its scores, falling; ``kept``: the rows each row was linked to before, later ones only; ``kept_first``: the first
    sums of those pairs; ``deeper``: by how much bands are larger than usual.
    """

    def __init__(
        self,
        interests: Interests | Rows,
        weights: Weights,
        *,
        seed: int,
        limits: Limits,
        report: Progress,
        group: Ints | None = None,
        degrees: Ints | None = None,
        topic_sizes: Longs | None = None,
        linked_before: Ints | None = None,
    ) -> None:
        rows = interests if isinstance(interests, Rows) else Rows.of(interests)
        sizes = np.bincount(rows.broker_topics, minlength=rows.topics)
        self.weights = weights
        self.deeper = 1
        self.unit = weights.units(
            sizes if topic_sizes is None else topic_sizes, rows.broker_start, rows.broker_topics
        )
        self.decay = weights.decay(int(sizes.max(initial=1)))
        self.bonus = 1.0 + weights.keep
        self.linked_before = np.empty((0, 2), np.int32) if linked_before is None else linked_before
        self.first_sums = first_sums(self.linked_before, rows.broker_start, rows.broker_topics, self.unit)
        before = 0 if degrees is None else int(degrees.max(initial=0))
        # A broker gets at most one link for each other broker; one entry means that there is no penalty.
        self.penalty = (
            weights.penalty(before + len(rows.broker_start)) if weights.delta else np.ones(1, np.float64)
        )
        super().__init__(rows, seed=seed, limits=limits, report=report, group=group, degrees=degrees)

    def compact(self) -> None:
        """Drop finished topics, then sort the rows by what they can score at the most."""
        self.unit = self.unit[self.components.apart > 1]
        super().compact()
        c = self.components
        worth = all_worths(c.row_topic, c.label, c.size, self.unit, self.decay)
        upper = upper_bounds(c.row_start, c.row_topic, c.label, worth, len(c.apart))
        order = np.argsort(-upper, kind="stable").astype(np.int32)
        row_start, row_topic, label, ring, size, self.worth = _reordered(
            order, c.row_start, c.row_topic, c.label, c.ring, c.size, worth
        )
        self.components = replace(
            c,
            broker=c.broker[order],
            row_start=row_start,
            row_topic=row_topic,
            label=label,
            ring=ring,
            size=size,
        )
        self.upper = upper[order]
        self.degree = self.degree[order]
        self.kept_start, self.kept, self.kept_first = self._kept_rows(self.components)

    @property
    def most_level(self) -> int:
        """A bound on every level."""
        return int(level_of(int(self.upper.max(initial=1) * self.bonus) + 1, self.weights.bits))

    def _kept_rows(self, c: Components) -> tuple[Longs, Ints, Longs]:
        start = np.zeros(len(c.broker) + 1, np.int64)
        if not len(self.linked_before):
            return start, np.empty(0, np.int32), np.empty(0, np.int64)
        row = np.full(len(self.degrees), -1, np.int32)
        row[c.broker] = np.arange(len(c.broker), dtype=np.int32)
        ends = np.sort(row[self.linked_before], axis=1)
        order = np.lexsort((ends[:, 1], ends[:, 0]))
        order = order[ends[order, 0] >= 0]
        start[1:] = np.cumsum(np.bincount(ends[order, 0], minlength=len(c.broker)))
        return start, ends[order, 1], self.first_sums[order]


@kernel
def _reordered(
    order: Ints, row_start: Longs, row_topic: Ints, label: Ints, ring: Ints, size: Ints, worth: Ints
) -> tuple[Longs, Ints, Ints, Ints, Ints, Ints]:
    """The rows in another order, and all that names their subscriptions."""
    new_start = np.zeros(len(row_start), np.int64)
    moved = np.empty(len(row_topic), np.int32)
    new_topic = np.empty(len(row_topic), np.int32)
    to = 0
    for n in range(len(order)):
        for i in range(row_start[order[n]], row_start[order[n] + 1]):
            moved[i] = to
            new_topic[to] = row_topic[i]
            to += 1
        new_start[n + 1] = to
    new_label = np.empty(len(label), np.int32)
    new_ring = np.empty(len(label), np.int32)
    new_size = np.zeros(len(label), np.int32)
    new_worth = np.zeros(len(label), np.int32)
    for i in range(len(label)):
        new_label[moved[i]] = moved[label[i]]
        new_ring[moved[i]] = moved[ring[i]]
        new_size[moved[i]] = size[i]
        new_worth[moved[i]] = worth[i]
    return new_start, new_topic, new_label, new_ring, new_size, new_worth
