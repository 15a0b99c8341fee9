"""What a pair of brokers is worth to weave: the topics it would join, rare ones and small components first.

With C_v the component of v in topic t and n_t the subscribers of t at the start:

    score(v, w) = sum over common topics with C_v != C_w of n_t^-alpha * min(|C_v|, |C_w|)^-beta
                  times (1 + larger degree of the two)^-delta

and, if the two were linked before, times 1 + keep * (sum / first)^0.5, where *first* is the sum with no link yet: a link of
before is worth keeping as far as it still does what it did.

Components and degrees only grow, so no score ever does, and the loop can be lazy. A topic's term is the larger of what
the two components are *worth*, n_t^-alpha * |C|^-beta each: one number a component, kept up to date as it grows.

Worths are whole numbers, so that a sum is the same in any order and on any machine. Scores fall into *levels*: those
with the same leading bits. A sum is *packed* with the number of its terms in the low bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from algorithms.engine.components import clear_mark, find_topic, join_components, set_mark
from algorithms.engine.entries import MARKED
from algorithms.interests import Ints, Longs
from algorithms.jit import kernel
from algorithms.workloads import Floats

TERMS = 20
"""Bits of a packed sum that count its terms."""
_LARGEST_WORTH = 1 << 30
_LARGEST_SCORE = 1 << 42
_LEVEL_BITS = 5
_EXACT_BITS = 20


@dataclass(frozen=True)
class Weights:
    """The exponents of a score; all 0 is GM, whose every level is one contribution."""

    alpha: float = 0.6
    beta: float = 0.5
    delta: float = 0.0
    keep: float = 0.0

    @property
    def plain(self) -> bool:
        """Whether a score is a contribution."""
        return not (self.alpha or self.beta or self.delta or self.keep)

    @property
    def bits(self) -> int:
        """How many leading bits tell two levels apart: five make levels of two to three percent."""
        return _EXACT_BITS if self.plain else _LEVEL_BITS

    def units(self, topic_sizes: Longs, broker_start: Longs, broker_topics: Ints) -> Floats:
        """What a component of one subscriber is worth in each topic, scaled so that every sum fits."""
        unit: Floats = np.maximum(topic_sizes, 1).astype(np.float64) ** -self.alpha
        if self.plain or not len(broker_topics):
            return unit
        ends = np.concatenate([[0.0], np.cumsum(unit[broker_topics])])
        largest = float((ends[broker_start[1:]] - ends[broker_start[:-1]]).max())
        return unit * min(_LARGEST_WORTH / float(unit.max()), _LARGEST_SCORE / (largest * (1 + self.keep)))

    def decay(self, largest: int) -> Floats:
        """By what a component's worth falls with its size, up to the largest."""
        sizes = np.maximum(np.arange(largest + 1), 1)
        fallen: Floats = sizes.astype(np.float64) ** -self.beta
        return fallen

    def penalty(self, most: int) -> Floats:
        """By what a score falls with the larger degree of the two ends."""
        fallen: Floats = np.arange(1, most + 2, dtype=np.float64) ** -self.delta
        return fallen


@kernel
def level_of(score: int, bits: int) -> int:
    """The level of a score: exact below 2^(bits + 1), above that its leading bits."""
    shift = 0
    for step in (32, 16, 8, 4, 2, 1):
        if score >> (shift + step) >= 1 << bits:
            shift += step
    return (shift << bits) + (score >> shift)


@kernel
def least_score(level: int, bits: int) -> int:
    """The smallest score of a level."""
    shift = max((level >> bits) - 1, 0)
    return (level - (shift << bits)) << shift


@kernel
def worth_of(unit: float, decay: float) -> int:
    """What a component is worth in its topic; never nothing."""
    return max(int(unit * decay), 1)


@kernel
def all_worths(row_topic: Ints, label: Ints, size: Ints, unit: Floats, decay: Floats) -> Ints:
    """The worth of every component, by label."""
    worth = np.zeros(len(label), np.int32)
    for i in range(len(label)):
        if worth[label[i]] == 0:
            worth[label[i]] = worth_of(unit[row_topic[i]], decay[size[label[i]]])
    return worth


@kernel
def first_sums(links: Ints, broker_start: Longs, broker_topics: Ints, unit: Floats) -> Longs:
    """For each link what its ends are worth to each other while nobody is linked."""
    sums = np.zeros(len(links), np.int64)
    for k in range(len(links)):
        i, j = broker_start[links[k, 0]], broker_start[links[k, 1]]
        end_i, end_j = broker_start[links[k, 0] + 1], broker_start[links[k, 1] + 1]
        while i < end_i and j < end_j:
            if broker_topics[i] == broker_topics[j]:
                sums[k] += worth_of(unit[broker_topics[i]], 1.0)
                i += 1
                j += 1
            elif broker_topics[i] < broker_topics[j]:
                i += 1
            else:
                j += 1
    return sums


@kernel
def raised(score: int, first: int, bonus: float) -> int:
    """The score of a pair that was linked before, from its sum and its first one; at most ``bonus`` times the sum."""
    return int(score * (1.0 + (bonus - 1.0) * np.sqrt(score / first)))


@kernel
def upper_bounds(row_start: Longs, row_topic: Ints, label: Ints, worth: Ints, topics: int) -> Longs:
    """For each row a sum that no score of a pair with it exceeds: in every topic the worth of its smallest component."""
    most = np.zeros(topics, np.int32)
    for i in range(len(label)):
        most[row_topic[i]] = max(most[row_topic[i]], worth[label[i]])
    bound = np.zeros(len(row_start) - 1, np.int64)
    for r in range(len(bound)):
        for i in range(row_start[r], row_start[r + 1]):
            bound[r] += most[row_topic[i]]
    return bound


@kernel
def weigh_score(
    v: int,
    w: int,
    again: bool,
    cursor: Longs,
    row_start: Longs,
    row_topic: Ints,
    label: Ints,
    worth: Ints,
    mark: Ints,
) -> int:
    """The packed sum of a pair of rows; ``again``: v comes next as well. Marks and searches as :func:`weigh` does."""
    packed = 0
    if cursor[MARKED] != v:
        if not again and row_start[v + 1] - row_start[v] > 12 * (row_start[w + 1] - row_start[w]):
            low = row_start[v]
            high = row_start[v + 1]
            for i in range(row_start[w], row_start[w + 1]):
                low = find_topic(row_topic[i], low, high, row_topic)
                if low == high:
                    break
                if row_topic[low] == row_topic[i] and label[low] != label[i]:
                    packed += (int(max(worth[label[low]], worth[label[i]])) << TERMS) + 1
            return packed
        if cursor[MARKED] >= 0:
            clear_mark(cursor[MARKED], row_start, row_topic, mark)
        set_mark(v, row_start, row_topic, label, mark)
        cursor[MARKED] = v
    for i in range(row_start[w], row_start[w + 1]):
        other = mark[row_topic[i]]
        if other >= 0 and other != label[i]:
            packed += (int(max(worth[other], worth[label[i]])) << TERMS) + 1
    return packed


@kernel
def link_rows(
    v: int,
    w: int,
    marked: bool,
    row_start: Longs,
    row_topic: Ints,
    label: Ints,
    ring: Ints,
    size: Ints,
    apart: Ints,
    mark: Ints,
    unit: Floats,
    decay: Floats,
    worth: Ints,
) -> None:
    """Join the components of rows v and w in every topic they share; ``marked``: v is, and its mark stays true."""
    low = row_start[v]
    high = row_start[v + 1]
    leap = (high - low) > 12 * (row_start[w + 1] - row_start[w])
    for i in range(row_start[w], row_start[w + 1]):
        t = row_topic[i]
        if leap:
            low = find_topic(t, low, high, row_topic)
        else:
            while low < high and row_topic[low] < t:
                low += 1
        if low == high:
            break
        if row_topic[low] == t and label[low] != label[i]:
            join_components(low, i, label, ring, size)
            apart[t] -= 1
            worth[label[low]] = worth_of(unit[t], decay[size[label[low]]])
            if marked:
                mark[t] = label[low]
