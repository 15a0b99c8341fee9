"""What a link is worth to a degree cover: the needs it serves, weighted by topic.

A subscriber's *need* in a topic is min(k, n_t - 1) minus the links it has there, never below 0. The score of a pair is

    sum over common topics of unit[t] * (gain[need(v, t)] + gain[need(w, t)])

and, where a score looks at components too, in each small topic where one has a need and the two are in different ones

    + unit[t] * (size of the smaller component)^-beta

A link of before may be held on to: its score counts 1 + keep times as much.

Everything is in whole numbers, so that it is the same on every machine.
Scores fall into *levels*: exact up to 2^(bits + 1), above that one level holds the scores with the same leading bits.
Needs never grow and components only do, so no score ever grows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from algorithms.connectivity import Flags
from algorithms.interests import Interests, Ints
from algorithms.jit import kernel
from algorithms.workloads import Floats

_LARGEST = 1 << 30
_LARGEST_KEEP = 255.0
LARGEST_JOINED = 256
"""Subscribers of a topic whose components count. A cover leaves few components however large a topic is, so in large ones
restoring costs next to nothing a subscriber, and looking at components would cost more than all the rest."""


@dataclass(frozen=True)
class Score:
    """The weights of a score."""

    unit: Ints
    """Topic -> the weight of one need there."""
    gain: Ints
    """Need (0 to k) -> how much serving it is worth; ``gain[0]`` is 0 and it never falls."""
    bits: int
    """How many leading bits tell two levels apart."""
    beta: float | None = None
    """How fast the worth of joining a component falls with its size; None: joining components is worth nothing."""
    keep: float = 0.0
    """By what share the scores of links of before are raised."""

    @property
    def bonus(self) -> int:
        """The factor of links of before, in 256ths. With the largest a topic of theirs outweighs all of another link's."""
        return round((1 + min(self.keep, _LARGEST_KEEP)) * 256)

    def joined(self, interests: Interests) -> Flags:
        """Topic -> whether its components count."""
        flags: Flags = (interests.topic_sizes() <= LARGEST_JOINED) & (self.beta is not None)
        return flags

    def decay(self) -> Floats:
        """By what the worth of joining a component falls with its size."""
        sizes = np.maximum(np.arange(LARGEST_JOINED + 1), 1)
        fallen: Floats = sizes.astype(np.float64) ** -(self.beta or 0.0)
        return fallen


def plain(interests: Interests, k: int) -> Score:
    """Every end with a need counts 1, in every topic."""
    return Score(
        np.ones(len(interests.topics), np.int32), np.minimum(np.arange(k + 1), 1).astype(np.int32), 13
    )


def sized(interests: Interests, k: int) -> Score:
    """An end counts by the size of its need, in every topic: those who have least are served first."""
    return Score(np.ones(len(interests.topics), np.int32), np.arange(k + 1, dtype=np.int32), 13)


def weighted(interests: Interests, k: int, alpha: float = 0.6, beta: float = 0.5, keep: float = 0.0) -> Score:
    """A need counts n_t^-alpha, and larger needs more: popular topics are served by the way, rare ones first.

    For k = 2 a link that joins components is worth more: two links each leave rings apart that k >= 3 rarely does.
    """
    sizes = np.maximum(interests.topic_sizes(), 1)
    weight = sizes.astype(np.float64) ** -alpha
    # The largest score there can be: every topic of one broker, two full needs each and a join.
    starts = np.minimum(interests.broker_start[:-1], max(interests.subscriptions - 1, 0))
    total = (
        np.add.reduceat(weight[interests.broker_topics], starts) if interests.subscriptions else np.zeros(1)
    )
    bonus = 1 + min(keep, _LARGEST_KEEP)
    scale = min(_LARGEST / (bonus * (2 * k + 1) * float(total.max(initial=1.0))), 1 << 16)
    unit = np.maximum(np.rint(weight * scale), 1).astype(np.int32)
    return Score(unit, np.arange(k + 1, dtype=np.int32), 5, beta if k == 2 else None, keep)


@kernel
def kept(score: int, bonus: int) -> int:
    """The score of a link of before, by a factor in 256ths."""
    return int(np.int64(score) * bonus) >> 8


@kernel
def level_of(score: int, bits: int) -> int:
    """The level of a score."""
    shift = 0
    while score >> shift >= 2 << bits:
        shift += 1
    return (shift << bits) + (score >> shift)


@kernel
def least_score(level: int, bits: int) -> int:
    """The smallest score of a level."""
    shift = max((level >> bits) - 1, 0)
    return (level - (shift << bits)) << shift
