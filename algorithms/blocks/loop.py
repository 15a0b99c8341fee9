"""GM2's loop: topic blocks as the progress, the largest estimate as the rule, all pairs as candidates.

Each turn drops finished topics, counts a band of the best pairs within the memory bound, and works it off. Kernels
return after a slice of work, so the progress callback is called several times a second and can stop it.
"""

from __future__ import annotations

import numpy as np

from algorithms.blocks import band, closing, largest
from algorithms.blocks.forest import Blocks, add_links, join_groups
from algorithms.engine import Accepted, Limits, Rows, Ties
from algorithms.engine.band import CEILING, FILLED, LEVEL, REACH, ROW, cut_lists
from algorithms.engine.entries import ACCEPTED, KEY, MARKED, SPENT, TOP, queue_levels
from algorithms.engine.largest import RANDOM_KEYS
from algorithms.engine.trees import TIES_RANDOM, ties_code
from algorithms.interests import Interests, Ints, Longs
from algorithms.registry import Progress, silent

VISITS_PER_ENTRY = 300
"""How many visits of a counting pass it takes to store one pair: a band worked off costs less than another pass."""
SMALLEST_BAND = 1 << 15


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
) -> Accepted:
    """Make every topic one block: GM2, from what exists.

    ``existing``: links there already, which are not among those returned. ``group``: one number a row, from 0; the
    subscribers of a topic within a group are in one block already, so links are found across groups only. ``degrees``:
    links each row has besides the existing ones, by which ties are broken.
    """
    if isinstance(rows, Interests):
        rows = Rows.of(rows)
    run = _Run(rows, seed, limits or Limits(), progress, existing, group, degrees)
    run.take(ties_code(ties))
    return run.accepted()


class _Run:
    """The state of one run between kernels: blocks, degrees, links so far."""

    def __init__(
        self,
        rows: Rows,
        seed: int,
        limits: Limits,
        report: Progress,
        existing: Ints | None,
        group: Ints | None,
        degrees: Ints | None,
    ) -> None:
        brokers = len(rows.broker_start) - 1
        subscriptions = len(rows.broker_topics)
        self.seed = seed & 0x7FFFFFFF
        self.limits = limits
        self.report = report
        self.blocks = Blocks.alone(
            np.arange(brokers, dtype=np.int32), rows.broker_start, rows.broker_topics, rows.topics
        )
        # Each link joins blocks in at least one topic, and a topic of n has room for n - 1 bridges and n - 2 cycles.
        self.links = np.empty((2 * subscriptions, 2), np.int32)
        self.gains = np.empty(2 * subscriptions, np.int32)
        self.cursor = np.zeros(8, np.int64)
        self.named = 0
        self.passes = 0
        self.path = np.empty(int(self.blocks.size.max(initial=0)) + 1, np.int32)
        self.degrees = np.zeros(brokers, np.int32) if degrees is None else degrees.astype(np.int32)
        self.clock = np.zeros(1, np.int64)
        self.seen = np.zeros(2 * subscriptions, np.int32)
        if group is not None:
            groups = int(group.max(initial=-1)) + 1
            join_groups(
                group.astype(np.int32), groups, self.clock, self.seen, self.path, *self.blocks.arrays()
            )
        if existing is not None and len(existing):
            self.degrees += np.bincount(existing.ravel(), minlength=brokers).astype(np.int32)
            add_links(existing.astype(np.int32), self.clock, self.seen, self.path, *self.blocks.arrays())
        self.whole = max(self.blocks.unfinished, 1)
        self.compact()

    def compact(self) -> None:
        """Drop finished topics and renumber the rows; links and degrees so far are kept by broker."""
        self._name_links()
        self.blocks = self.blocks.compacted()
        self.degree = self.degrees[self.blocks.broker]
        self.seen = np.zeros(2 * len(self.blocks.block), np.int32)
        self.clock[0] = 0
        self.cursor[MARKED] = -1
        self.mark = np.full((len(self.blocks.size), 3), -1, np.int32)

    def _name_links(self) -> None:
        accepted = int(self.cursor[ACCEPTED])
        if self.named < accepted:
            fresh = self.links[self.named : accepted]
            fresh[:] = self.blocks.broker[fresh]
            np.add.at(self.degrees, fresh.ravel(), 1)
            self.named = accepted

    def done(self, stage: str) -> None:
        """Report the share of subscribers whose topic is finished."""
        self.report(1.0 - self.blocks.unfinished / self.whole, stage)

    def take(self, ties: int) -> None:
        """The largest estimate to the end."""
        ceiling = int(self.blocks.row_start[1]) if len(self.blocks.broker) else 0
        while ceiling > 1 and len(self.blocks.size):
            ceiling = self._pass(ceiling, ties)
            self.compact()
        if len(self.blocks.size):
            b = self.blocks
            closing.close_topics(
                self.cursor,
                self.clock,
                self.seen,
                self.path,
                *b.arrays(),
                self.degree,
                self.links,
                self.gains,
            )
            self.done("closing topics")

    def _pass(self, ceiling: int, ties: int) -> int:
        """Count the best pairs that fit and work them off; returns the bound on what is left."""
        b = self.blocks
        rows = len(b.broker)
        self.passes += 1
        list_start, slots, member, kind, walk_from = band.make_lists(
            b.row_start, b.row_topic, b.block, b.top, b.children, b.tree, b.spread, b.size
        )
        member_block = b.block[slots]
        member_top = b.top[member_block]
        visits = band.count_visits(list_start, b.row_topic, kind, walk_from)
        most_entries = max(self.limits.most_entries, rows)
        entries = min(most_entries, max(visits // VISITS_PER_ENTRY, SMALLEST_BAND, rows))
        first, second, value = np.empty((3, entries), np.int32)
        most = int(b.row_start[1])
        levels = np.zeros(most + 2, np.int64)
        gauge = np.zeros(8, np.int64)
        gauge[LEVEL], gauge[REACH], gauge[CEILING] = 2, rows, ceiling
        list_end = list_start[1:].copy()
        cut_lists(gauge, b.row_start, list_start, list_end, member)
        count = np.zeros(rows, np.int16 if most < 1 << 14 else np.int32)
        reached = np.empty(rows, np.int32)
        while gauge[ROW] < gauge[REACH]:
            may_grow = len(first) < most_entries
            full = band.count_pairs(
                gauge,
                self.limits.visits,
                may_grow,
                b.row_start,
                b.row_topic,
                b.block,
                b.top,
                list_start,
                list_end,
                member,
                slots,
                member_block,
                member_top,
                kind,
                walk_from,
                count,
                reached,
                first,
                second,
                value,
                levels,
            )
            self.done("counting pairs")
            if full and may_grow:
                wider = min(2 * len(first), most_entries)
                first, second, value = (np.resize(array, wider) for array in (first, second, value))
            elif full or gauge[ROW] >= gauge[REACH]:
                self._work_off(gauge, first, second, value, levels, ties)
        return int(gauge[LEVEL]) - 1

    def _work_off(
        self, gauge: Longs, first: Ints, second: Ints, value: Ints, levels: Longs, ties: int
    ) -> None:
        """Accept the links of a band and empty it."""
        head, tail = np.full((2, len(levels)), -1, np.int32)
        queue_levels(0, int(gauge[FILLED]), value, head, tail)
        keys = RANDOM_KEYS if ties == TIES_RANDOM else int(self.degree.max()) + len(self.degree)
        key_head, key_tail = np.full((2, keys + 1), -1, np.int32)
        self.cursor[TOP] = np.flatnonzero(levels).max(initial=0)
        self.cursor[KEY] = -1
        while not largest.take_largest(
            self.cursor,
            self.limits.steps,
            int(gauge[LEVEL]),
            ties,
            self.seed,
            self.clock,
            self.seen,
            self.path,
            *self.blocks.arrays(),
            self.degree,
            self.mark,
            first,
            second,
            value,
            head,
            tail,
            key_head,
            key_tail,
            self.links,
            self.gains,
        ):
            self.done("joining blocks")
        gauge[FILLED] = 0
        levels[:] = 0

    def accepted(self) -> Accepted:
        """The result: links as dense broker ids in the order they were accepted."""
        self._name_links()
        return Accepted(
            self.links[: self.named].copy(),
            self.gains[: self.named].copy(),
            self.passes,
            int(self.cursor[SPENT]),
        )
