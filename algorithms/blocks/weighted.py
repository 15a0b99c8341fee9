"""Weighted GM2: the best score becomes a link, until every topic is one block.

The loop of :mod:`algorithms.blocks.loop` with another band: a visit adds what two ends are worth, and entries are queued
by the level of their score. Pairs that share no block in one topic only are no candidates until no other pair is left;
then topics no longer influence each other and are closed as in GM2.
"""

from __future__ import annotations

import numpy as np

from algorithms.blocks import band
from algorithms.blocks.band import OUTSIDE
from algorithms.blocks.bits import note_link
from algorithms.blocks.links import add_link
from algorithms.blocks.run import SMALLEST_BAND, VISITS_PER_ENTRY, Run
from algorithms.blocks.trees import BLOCK
from algorithms.blocks.weights import (
    LEVEL_BITS,
    BlockWeights,
    all_worths,
    highest_level,
    weigh_score,
)
from algorithms.engine.band import CEILING, FILLED, HIGHEST, LEVEL, ROW
from algorithms.engine.bitsets import Words
from algorithms.engine.entries import KEY, SPENT, TOP, append, write_link
from algorithms.engine.queues import next_entry, open_level
from algorithms.engine.run import Limits, Rows
from algorithms.engine.weighted_band import drop_lowest
from algorithms.engine.weights import TERMS, least_score, level_of
from algorithms.interests import Ints, Longs
from algorithms.jit import kernel
from algorithms.progress import Progress
from algorithms.workloads import Floats


class WeightedRun(Run):
    """A run whose rule is the best score."""

    lowest_level = 1

    def __init__(
        self,
        rows: Rows,
        weights: BlockWeights,
        seed: int,
        limits: Limits,
        report: Progress,
        existing: Ints | None,
        group: Ints | None,
        degrees: Ints | None,
    ) -> None:
        sizes = np.bincount(rows.broker_topics, minlength=rows.topics)
        self.unit = weights.units(sizes, rows.broker_start, rows.broker_topics)
        self.decay = weights.decay(int(sizes.max(initial=0)))
        super().__init__(rows, seed, limits, report, existing, group, degrees)

    def compact(self) -> None:
        """Drop finished topics, their units as well."""
        self.unit = self.unit[self.blocks.size > 0]
        super().compact()

    def highest(self) -> int:
        """A level that no score exceeds."""
        return int(highest_level(self.blocks.row_start, self.blocks.row_topic, self.unit))

    def _pass(self, ceiling: int, ties: int) -> int:
        b = self.blocks
        rows = len(b.broker)
        self.passes += 1
        list_start, slots, member, kind, walk_from, large = band.make_lists(*b.arrays())
        self.note_bits(large)
        block = b.node[:, BLOCK].copy()
        top = b.top.copy()
        worth = all_worths(b.row_topic, b.node, self.unit, self.decay)
        visits = band.count_visits(list_start, b.row_topic, kind, walk_from)
        most_entries = max(self.limits.most_entries, rows)
        entries = min(most_entries, max(visits // VISITS_PER_ENTRY, SMALLEST_BAND, rows))
        first, second, value = np.empty((3, entries), np.int32)
        levels = np.zeros(self.highest() + 2, np.int64)
        gauge = np.zeros(8, np.int64)
        gauge[LEVEL], gauge[CEILING] = self.lowest_level, ceiling
        packed, reached = np.zeros(rows, np.int64), np.empty(rows, np.int32)
        while gauge[ROW] < rows:
            may_grow = len(first) < most_entries
            full = score_pairs(
                gauge,
                self.limits.visits,
                may_grow,
                b.row_start,
                b.row_topic,
                block,
                top,
                worth,
                list_start,
                member,
                slots,
                kind,
                walk_from,
                packed,
                reached,
                first,
                second,
                value,
                levels,
            )
            self.done("scoring pairs")
            if full and may_grow:
                wider = min(2 * len(first), most_entries)
                first, second, value = (np.resize(array, wider) for array in (first, second, value))
            elif full or gauge[ROW] >= rows:
                self._work_off(gauge, first, second, value, levels, ties)
        return int(gauge[LEVEL]) - 1

    def _take(self, lowest: int, ties: int, *queues: Ints) -> bool:
        finished: bool = take_best(
            self.cursor,
            self.limits.steps,
            lowest,
            ties,
            self.seed,
            self.blocks.clock,
            self.path,
            *self.blocks.arrays(),
            self.degree,
            self.bits,
            self.rank,
            self.unit,
            self.decay,
            *queues,
            self.links,
            self.gains,
        )
        return finished


@kernel
def score_pairs(
    gauge: Longs,
    budget: int,
    may_grow: bool,
    row_start: Longs,
    row_topic: Ints,
    block: Ints,
    top: Ints,
    worth: Longs,
    list_start: Longs,
    member: Ints,
    slots: Ints,
    kind: Ints,
    walk_from: Longs,
    packed: Longs,
    reached: Ints,
    first: Ints,
    second: Ints,
    value: Ints,
    levels: Longs,
) -> bool:
    """Score rows from ``gauge[ROW]`` on until about ``budget`` visits are made; entries go to ``first``, ``second``, ``value``.

    ``block``, ``top`` and ``worth`` are as they were when the lists were made, so that a score bounds all later ones;
    ``packed`` and ``reached`` are scratch, one place a row, ``packed`` all 0; ``value`` holds levels and ``levels[n]``
    the number of entries of level n. Pairs of one term are left out.

    True when the entries are full and all of one level, and the caller may give more room or that level is the ceiling,
    so that they may be worked off before the rest is scored.
    """
    rows = len(row_start) - 1
    capacity = len(first)
    while gauge[ROW] < rows and budget > 0:
        r = gauge[ROW]
        threshold = max(least_score(gauge[LEVEL], LEVEL_BITS), 1) << TERMS
        n = 0
        visits = 0
        full = False
        for i in range(row_start[r], row_start[r + 1]):
            own, own_top, own_worth = block[i], top[block[i]], worth[i]
            end = list_start[2 * row_topic[i] + 1 + (kind[i] == OUTSIDE)]
            visits += end - walk_from[i]
            for place in range(walk_from[i], end):
                j = slots[place]
                if (block[j] != own) & (j != own_top) & (top[block[j]] != i):
                    w = member[place]
                    before = packed[w]
                    after = before + ((own_worth + worth[j]) << TERMS) + 1
                    packed[w] = after
                    if before < threshold and after >= threshold:
                        reached[n] = w
                        n += 1
        for k in range(n):
            w = reached[k]
            level = level_of(packed[w] >> TERMS, LEVEL_BITS)
            if packed[w] & ((1 << TERMS) - 1) < 2 or level < gauge[LEVEL]:
                continue
            while gauge[FILLED] == capacity:
                if gauge[LEVEL] >= gauge[HIGHEST] and (may_grow or gauge[LEVEL] >= gauge[CEILING]):
                    full = True
                    break
                drop_lowest(gauge, first, second, value, levels)
            if full:
                break
            if level >= gauge[LEVEL]:
                at = gauge[FILLED]
                first[at], second[at], value[at] = r, w, level
                levels[level] += 1
                gauge[HIGHEST] = max(gauge[HIGHEST], level)
                gauge[FILLED] = at + 1
        if 16 * visits > rows - r:
            packed[r + 1 : rows] = 0
        else:
            for i in range(row_start[r], row_start[r + 1]):
                for place in range(walk_from[i], list_start[2 * row_topic[i] + 1 + (kind[i] == OUTSIDE)]):
                    packed[member[place]] = 0
        if full:
            # This row is scored again: take its entries back.
            while gauge[FILLED] > 0 and first[gauge[FILLED] - 1] == r:
                gauge[FILLED] -= 1
                levels[value[gauge[FILLED]]] -= 1
            return True
        gauge[ROW] = r + 1
        budget -= visits + 64
    return False


@kernel
def take_best(
    cursor: Longs,
    budget: int,
    lowest: int,
    ties: int,
    seed: int,
    clock: Longs,
    path: Ints,
    row_start: Longs,
    row_topic: Ints,
    node: Ints,
    top: Ints,
    hold: Ints,
    size: Ints,
    degree: Ints,
    bits: Words,
    rank: Ints,
    unit: Floats,
    decay: Floats,
    first: Ints,
    second: Ints,
    following: Ints,
    level_head: Ints,
    level_tail: Ints,
    key_head: Ints,
    key_tail: Ints,
    links: Ints,
    gains: Ints,
) -> bool:
    """Accept links from level ``cursor[TOP]`` down to ``lowest``; False when ``budget`` steps ran out before.

    As in :func:`algorithms.blocks.largest.take_largest`, but levels are of scores, and an entry of one term goes.
    """
    while cursor[TOP] >= lowest:
        level = cursor[TOP]
        open_level(
            level, ties, seed, cursor, degree, first, second, following, level_head, key_head, key_tail
        )
        while True:
            if budget <= 0:
                return False
            budget -= 1
            entry = next_entry(ties, cursor, degree, first, second, following, key_head, key_tail)
            if entry < 0:
                break
            v = first[entry]
            w = second[entry]
            packed = weigh_score(v, w, row_start, row_topic, node, top, bits, rank, unit, decay)
            cursor[SPENT] += 1
            terms = packed & ((1 << TERMS) - 1)
            if terms < 2:
                continue
            now = level_of(packed >> TERMS, LEVEL_BITS)
            if now == level:
                add_link(v, w, clock, path, row_start, row_topic, node, top, hold, size)
                note_link(v, w, bits)
                write_link(v, w, terms, cursor, degree, links, gains)
            elif now >= lowest:
                append(entry, now, level_head, level_tail, following)
        cursor[TOP] = level - 1
        cursor[KEY] = -1
    return True
