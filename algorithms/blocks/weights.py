"""What a link is worth to weighted GM2: the topics where its ends share no block, rare topics and bare ends first.

With d_t(v) the links of v in topic t and n_t the subscribers of t:

    score(v, w) = sum over common topics where no block holds both of
                  n_t^-alpha * ((1 + d_t(v))^-b + (1 + d_t(w))^-b)

Links are only added and blocks only grow, so no score ever grows, and the loop can be lazy. A term is the sum of what its
two ends are worth, each a whole number, so that a score is the same in any order and on any machine. Scores fall into
the levels of :mod:`algorithms.engine.weights`; a score is *packed* with the number of its terms in the low bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from algorithms.blocks.bits import INTEREST, LINKED, OUTSIDE
from algorithms.blocks.trees import LINKS, share_block
from algorithms.engine.bitsets import ONE, Words, ones
from algorithms.engine.components import find_topic
from algorithms.engine.weights import TERMS, Weights, level_of
from algorithms.interests import Ints, Longs
from algorithms.jit import kernel
from algorithms.workloads import Floats

LEVEL_BITS = 5
"""How many leading bits tell two levels apart: levels are two to three percent wide."""


@dataclass(frozen=True)
class BlockWeights:
    """The exponents of a score."""

    alpha: float = 0.6
    b: float = 1.0
    """How fast an end's worth falls with its links in the topic: larger values spread links and lengthen paths."""

    def units(self, topic_sizes: Longs, row_start: Longs, row_topic: Ints) -> Floats:
        """What an end without links is worth in each topic, scaled so that every packed score fits."""
        units: Floats = Weights(self.alpha, 1.0).units(topic_sizes, row_start, row_topic) / 2
        return units

    def decay(self, most: int) -> Floats:
        """By what an end's worth falls with its links in the topic, up to so many."""
        fallen: Floats = np.arange(1, most + 2, dtype=np.float64) ** -self.b
        return fallen


@kernel
def worth_of(unit: float, decay: float) -> int:
    """What an end is worth in a topic; never nothing."""
    return max(int(unit * decay), 1)


@kernel
def all_worths(row_topic: Ints, node: Ints, unit: Floats, decay: Floats) -> Longs:
    """The worth of every subscription as an end."""
    worth = np.empty(len(row_topic), np.int64)
    for i in range(len(row_topic)):
        worth[i] = worth_of(unit[row_topic[i]], decay[node[i, LINKS]])
    return worth


@kernel
def highest_level(row_start: Longs, row_topic: Ints, unit: Floats) -> int:
    """A level that no score exceeds: twice the worth of all topics of one row."""
    most = 0
    for r in range(len(row_start) - 1):
        total = 0
        for i in range(row_start[r], row_start[r + 1]):
            total += worth_of(unit[row_topic[i]], 1.0)
        most = max(most, total)
    return int(level_of(2 * most, LEVEL_BITS))


@kernel
def term(i: int, j: int, t: int, node: Ints, unit: Floats, decay: Floats) -> int:
    """The packed worth of two subscriptions of a topic that share no block."""
    worth = worth_of(unit[t], decay[node[i, LINKS]]) + worth_of(unit[t], decay[node[j, LINKS]])
    return int((worth << TERMS) + 1)


@kernel
def weigh_score(
    v: int,
    w: int,
    row_start: Longs,
    row_topic: Ints,
    node: Ints,
    top: Ints,
    bits: Words,
    rank: Ints,
    unit: Floats,
    decay: Floats,
) -> int:
    """The packed score of a pair of rows, v before w (so v has more topics); by bitsets where there are some."""
    packed = 0
    if len(bits):
        for k in range(bits.shape[1]):
            own, other = bits[v, k, INTEREST], bits[w, k, INTEREST]
            apart = (bits[v, k, OUTSIDE] & other) | (own & bits[w, k, OUTSIDE])
            unclear = apart & bits[v, k, LINKED] & bits[w, k, LINKED]
            while apart:
                bit = apart & (~apart + ONE)
                i = rank[v, k] + int(ones(own & (bit - ONE)))
                j = rank[w, k] + int(ones(other & (bit - ONE)))
                if not (unclear & bit) or not share_block(i, j, node, top):
                    packed += term(i, j, row_topic[i], node, unit, decay)
                apart ^= bit
        return packed
    low, high = row_start[v], row_start[v + 1]
    leap = (high - low) > 12 * (row_start[w + 1] - row_start[w])
    for j in range(row_start[w], row_start[w + 1]):
        t = row_topic[j]
        if leap:
            low = find_topic(t, low, high, row_topic)
        else:
            while low < high and row_topic[low] < t:
                low += 1
        if low == high:
            break
        if row_topic[low] == t and not share_block(low, j, node, top):
            packed += term(low, j, t, node, unit, decay)
    return packed
