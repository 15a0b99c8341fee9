"""Counting by bitsets: for interests where few topics have many subscribers each, so that walking lists of them is long.

A row has two bitsets over the unfinished topics: its topics, and those of them where it is *outside* the topic's
largest component. Two rows inside that component are not apart, so a pair is apart in at most
popcount((outside[v] & interest[w]) | (interest[v] & outside[w])) topics. A pair that reaches the level by this bound is
weighed, so what comes out is its contribution, as from the lists; while every component is single the bound is exact.

The bits are stored word by word, ``bits[word, row]``, so that one word of many rows is read in a line.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from algorithms.engine.components import Mask, clear_mark, marked_contribution, set_mark
from algorithms.interests import Ints, Longs
from algorithms.jit import kernel

Words = NDArray[np.uint64]

TILE = 2048
"""Rows counted at a time: their counts stay in the processor's nearest memory from word to word."""

SAMPLED_ROWS = 32
"""Rows a level to start from is judged by."""

ONE, TWO, FOUR, TOP_BYTE = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)
PAIRS, QUADS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
HALVES, BYTES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


@kernel
def largest_components(
    row_start: Longs, row_topic: Ints, label: Ints, size: Ints, topics: int, included: Mask
) -> tuple[Ints, int]:
    """The label of each topic's largest component, and how many members walks over lists would visit."""
    largest = np.full(topics, -1, np.int32)
    everyone = np.zeros(topics, np.int64)
    members = np.zeros(topics, np.int64)
    inside = np.zeros(topics, np.int64)
    for r in range(len(row_start) - 1):
        for i in range(row_start[r], row_start[r + 1]):
            t = row_topic[i]
            everyone[t] += 1
            members[t] += included[r]
            if largest[t] < 0 or size[label[i]] > size[largest[t]]:
                largest[t] = label[i]
                inside[t] = 0
            inside[t] += included[r] and largest[t] == label[i]
    visits = 0
    for t in range(topics):
        # Lists are shorter for a giant, a component of more than half of the subscribers, alone.
        giant = 2 * size[largest[t]] > everyone[t]
        visits += members[t] * members[t] - (inside[t] * inside[t] if giant else 0)
    return largest, visits // 2


@kernel
def make_bitsets(
    row_start: Longs, row_topic: Ints, label: Ints, largest: Ints, included: Mask
) -> tuple[Words, Words]:
    """The bitsets of all rows, ``interest`` and ``outside``; rows that are not included have no bit in either."""
    rows = len(row_start) - 1
    words = (len(largest) + 63) >> 6
    interest = np.zeros((words, rows), np.uint64)
    outside = np.zeros((words, rows), np.uint64)
    for r in range(rows):
        if included[r]:
            for i in range(row_start[r], row_start[r + 1]):
                t = row_topic[i]
                bit = ONE << np.uint64(t & 63)
                interest[t >> 6, r] |= bit
                if label[i] != largest[t]:
                    outside[t >> 6, r] |= bit
    return interest, outside


@kernel
def _ones(x: np.uint64) -> np.uint64:
    """How many bits of an unsigned 64-bit word are set.

    The compiler knows this trick and puts the processor's own instructions in its place; written without the product,
    which is meant to overflow, it takes twice as long.
    """
    x = x - ((x >> ONE) & PAIRS)
    x = (x & QUADS) + ((x >> TWO) & QUADS)
    x = (x + (x >> FOUR)) & HALVES
    return (x * BYTES) >> TOP_BYTE


def _ones_uncompiled(x: np.uint64) -> np.uint64:
    """The same for kernels that run without the compiler, where NumPy would warn of the overflow."""
    return np.uint64(int(x).bit_count())


ones = _ones_uncompiled if numba.config.DISABLE_JIT else _ones


@kernel
def reach_level(
    r: int,
    level: int,
    reach: int,
    row_start: Longs,
    row_topic: Ints,
    label: Ints,
    interest: Words,
    outside: Words,
    single: bool,
    tile: Words,
    mark: Ints,
    count: Ints,
    reached: Ints,
) -> int:
    """Find the rows after r, before ``reach``, whose pair with r contributes ``level`` or more; returns how many.

    They are written to ``reached``, some others among them, with their contributions in ``count``, which is 0 elsewhere
    and far below 0 for barred rows. ``single``: every component is; ``tile`` and ``mark`` are scratch, one place a row
    of a tile and, all -1, one place a topic.
    """
    n = 0
    least = np.uint64(level)
    for begin in range(r + 1, reach, TILE):
        end = min(begin + TILE, reach)
        bound = tile[: end - begin]
        bound[:] = 0
        for k in range(len(interest)):
            own, own_outside = interest[k, r], outside[k, r]
            if own:
                others = interest[k, begin:end]
                others_outside = outside[k, begin:end]
                for w in range(len(bound)):
                    bound[w] += ones((own & others_outside[w]) | (own_outside & others[w]))
        for w in range(len(bound)):
            if bound[w] >= least and count[begin + w] == 0:
                count[begin + w] = bound[w]
                reached[n] = begin + w
                n += 1
    if n and not single:
        set_mark(r, row_start, row_topic, label, mark)
        for k in range(n):
            count[reached[k]] = marked_contribution(reached[k], row_start, row_topic, label, mark)
        clear_mark(r, row_start, row_topic, mark)
    return n


@kernel
def likely_level(
    entries: int,
    ceiling: int,
    row_start: Longs,
    row_topic: Ints,
    label: Ints,
    interest: Words,
    outside: Words,
    single: bool,
    count: Ints,
    reached: Ints,
) -> int:
    """A level to start counting at: what is found below it would almost surely not fit into so many entries.

    Judged by some rows at equal distances. Starting too high would only make the band narrower. The arrays are those of
    ``reach_level``; ``count`` is all 0 before and after. Only barred pairs contribute more than ``ceiling``.
    """
    tile = np.empty(TILE, np.uint64)
    mark = np.full(64 * len(interest), -1, np.int32)
    pairs = np.zeros(ceiling + 1, np.int64)
    reach = len(row_start) - 1
    stride = max(reach // SAMPLED_ROWS, 1)
    for r in range(stride // 2, reach, stride):
        n = reach_level(
            r, 2, reach, row_start, row_topic, label, interest, outside, single, tile, mark, count, reached
        )
        for k in range(n):
            if count[reached[k]] <= ceiling:
                pairs[count[reached[k]]] += 1
            count[reached[k]] = 0
    above = 0
    for level in range(ceiling, 2, -1):
        above += pairs[level]
        if (above + pairs[level - 1]) * stride > 2 * entries:
            return level if above * stride > entries // 8 else level - 1
    return 2
