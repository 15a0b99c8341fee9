"""One run of GM2: topic blocks as the progress, the largest estimate as the rule, all pairs as candidates.

Each turn drops finished topics, counts a band of the best pairs within the memory bound, and works it off. Kernels
return after a slice of work, so the progress callback is called several times a second and can stop it.
"""

from __future__ import annotations

import numpy as np

from algorithms.blocks import band, closing, largest
from algorithms.blocks.bits import INTEREST, make_bits, words_for
from algorithms.blocks.forest import Blocks
from algorithms.blocks.links import add_links, join_groups
from algorithms.blocks.trees import BLOCK
from algorithms.engine import Accepted, Limits, Rows
from algorithms.engine.band import CEILING, FILLED, HIGHEST, LEVEL, REACH, ROW, cut_lists
from algorithms.engine.bitsets import TILE, likely_level
from algorithms.engine.entries import ACCEPTED, KEY, MARKED, SPENT, TOP, queue_levels
from algorithms.engine.queues import RANDOM_KEYS
from algorithms.engine.trees import TIES_RANDOM
from algorithms.interests import Ints, Longs
from algorithms.progress import Progress

VISITS_PER_ENTRY = 600
"""How many visits of a counting pass it takes to store one pair: counting again costs less than weighing many."""
SMALLEST_BAND = 1 << 14


class Run:
    """The state of one run between kernels: blocks, degrees, links so far."""

    lowest_level = 2
    """Pairs below it are never stored: an estimate of 1 is what closing a topic is for."""

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
        if group is not None:
            groups = int(group.max(initial=-1)) + 1
            join_groups(group.astype(np.int32), groups, self.blocks.clock, self.path, *self.blocks.arrays())
        if existing is not None and len(existing):
            self.degrees += np.bincount(existing.ravel(), minlength=brokers).astype(np.int32)
            add_links(existing.astype(np.int32), self.blocks.clock, self.path, *self.blocks.arrays())
        self.whole = max(self.blocks.unfinished, 1)
        self.compact()

    def compact(self) -> None:
        """Drop finished topics and renumber the rows; links and degrees so far are kept by broker."""
        self._name_links()
        self.blocks = self.blocks.compacted()
        self.degree = self.degrees[self.blocks.broker]
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

    def highest(self) -> int:
        """A level that no pair exceeds: the most topics of one broker."""
        return int(self.blocks.row_start[1]) if len(self.blocks.broker) else 0

    def note_bits(self, large: Ints) -> None:
        """Write the bitsets that pairs are weighed by, where they pay; ``large``: the large block of each topic."""
        b = self.blocks
        words = words_for(len(b.broker), len(b.size), len(b.row_topic))
        self.bits, self.rank = make_bits(words, b.row_start, b.row_topic, b.node, b.top, large)

    def take(self, ties: int) -> None:
        """The best pair to the end."""
        ceiling = self.highest()
        while ceiling >= self.lowest_level and len(self.blocks.size):
            ceiling = self._pass(ceiling, ties)
            # Copying everything pays when an eighth of it is finished.
            if 8 * self.blocks.unfinished < 7 * len(self.blocks.row_topic):
                self.compact()
        if len(self.blocks.size):
            b = self.blocks
            closing.close_topics(
                self.cursor,
                b.clock,
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
        list_start, slots, member, kind, walk_from, large = band.make_lists(*b.arrays())
        block = b.node[:, BLOCK].copy()
        member_block = block[slots]
        kin_start, kin = band.make_kin(b.row_start, b.node, b.top, kind)
        self.note_bits(large)
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
        interest, tile = np.zeros((0, 0), np.uint64), np.empty(TILE, np.uint64)
        if len(self.bits) and b.unlinked and self.limits.count_by_bits(rows, len(b.size), visits):
            interest = np.ascontiguousarray(self.bits[:, :, INTEREST].T)
            gauge[LEVEL] = likely_level(
                entries,
                ceiling,
                b.row_start,
                b.row_topic,
                b.row_topic,
                interest,
                interest,
                True,
                count,
                reached,
            )
            cut_lists(gauge, b.row_start, list_start, list_end, member)
        while gauge[ROW] < gauge[REACH]:
            may_grow = len(first) < most_entries
            full = band.count_pairs(
                gauge,
                self.limits.visits,
                may_grow,
                b.row_start,
                b.row_topic,
                block,
                list_start,
                list_end,
                member,
                member_block,
                kin_start,
                kin,
                kind,
                walk_from,
                interest,
                tile,
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
        queues = first, second, value, head, tail, key_head, key_tail
        while not self._take(int(gauge[LEVEL]), ties, *queues):
            self.done("joining blocks")
        gauge[FILLED] = gauge[HIGHEST] = 0
        levels[:] = 0

    def _take(self, lowest: int, ties: int, *queues: Ints) -> bool:
        """Accept links of level ``lowest`` and above for a slice of time; False when there is more to do."""
        finished: bool = largest.take_largest(
            self.cursor,
            self.limits.steps,
            lowest,
            ties,
            self.seed,
            self.blocks.clock,
            self.path,
            *self.blocks.arrays(),
            self.degree,
            self.mark,
            self.bits,
            self.rank,
            *queues,
            self.links,
            self.gains,
        )
        return finished

    def accepted(self) -> Accepted:
        """The result: links as dense broker ids in the order they were accepted."""
        self._name_links()
        return Accepted(
            self.links[: self.named].copy(),
            self.gains[: self.named].copy(),
            self.passes,
            int(self.cursor[SPENT]),
        )
