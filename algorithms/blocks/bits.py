"""Weighing a pair by bitsets: for interests where a broker has a fair share of few topics.

A row has three bitsets over the unfinished topics, side by side: its topics, those where it is *outside* the large block,
and those where it is *linked*. Two rows inside the large block share it, and whoever has no link in a topic shares no
block there, so the words alone tell most of the answer; what is left, topics where both are linked and not both inside,
is looked up: ``rank`` plus the bits below a topic's own is the row's subscription to it.

``outside`` may be behind the truth, as it is written once a pass: a topic too many is looked up, and the answer is exact.
"""

from __future__ import annotations

import numpy as np

from algorithms.blocks.trees import BLOCK, SPREAD, TREE, share_block
from algorithms.engine.bitsets import ONE, Words, ones
from algorithms.interests import Ints, Longs
from algorithms.jit import kernel

INTEREST, OUTSIDE, LINKED = 0, 1, 2
"""Places in ``bits[row, word]``."""


def words_for(rows: int, topics: int, subscriptions: int) -> int:
    """How many words a row's bitset should have: 0 where walking its topics costs less than comparing words."""
    words = (topics + 63) >> 6
    return words if words * rows <= subscriptions else 0


@kernel
def make_bits(
    words: int,
    row_start: Longs,
    row_topic: Ints,
    node: Ints,
    top: Ints,
    large: Ints,
) -> tuple[Words, Ints]:
    """The bitsets of every row, and the first subscription of each word; ``large``: the large block of each topic."""
    rows = len(row_start) - 1 if words else 0
    bits = np.zeros((rows, words, 3), np.uint64)
    rank = np.empty((rows, words), np.int32)
    for r in range(rows):
        at = row_start[r]
        for k in range(words):
            rank[r, k] = at
            while at < row_start[r + 1] and row_topic[at] >> 6 == k:
                t = row_topic[at]
                bit = ONE << np.uint64(t & 63)
                bits[r, k, INTEREST] |= bit
                if large[t] < 0 or (node[at, BLOCK] != large[t] and top[large[t]] != at):
                    bits[r, k, OUTSIDE] |= bit
                if node[at, TREE] != at or node[at, SPREAD] > 1:
                    bits[r, k, LINKED] |= bit
                at += 1
    return bits, rank


@kernel
def weigh_by_bits(v: int, w: int, bits: Words, rank: Ints, node: Ints, top: Ints) -> int:
    """In how many topics two rows share no block."""
    count = 0
    for k in range(bits.shape[1]):
        own, other = bits[v, k, INTEREST], bits[w, k, INTEREST]
        apart = (bits[v, k, OUTSIDE] & other) | (own & bits[w, k, OUTSIDE])
        unclear = apart & bits[v, k, LINKED] & bits[w, k, LINKED]
        count += int(ones(apart ^ unclear))
        while unclear:
            below = (unclear & (~unclear + ONE)) - ONE
            i = rank[v, k] + int(ones(own & below))
            j = rank[w, k] + int(ones(other & below))
            count += not share_block(i, j, node, top)
            unclear &= unclear - ONE
    return count


@kernel
def note_link(v: int, w: int, bits: Words) -> None:
    """Two rows were linked: in all topics they share both have a link now."""
    for k in range(bits.shape[1] if len(bits) else 0):
        common = bits[v, k, INTEREST] & bits[w, k, INTEREST]
        bits[v, k, LINKED] |= common
        bits[w, k, LINKED] |= common
