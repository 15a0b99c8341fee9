"""What is done inside one part and across parts: the three choices that make a bulk algorithm.

Each kernel says how to connect the brokers of a part, which of them are its stars, and how to join parts through their
stars. The functions are those of the local algorithms, on interests whose brokers and topics have numbers for names:
a task never sees another name, and needs none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from algorithms.blocks.parts import biconnect_part, double_stars, join_parts
from algorithms.degree_cover import degree_cover
from algorithms.divide_conquer import conquer_parts
from algorithms.engine import Limits, Rows, Ties
from algorithms.engine.weighted import connect_weighted
from algorithms.engine.weights import Weights
from algorithms.interests import Interests, Ints, Longs
from algorithms.merge import star_merge
from algorithms.progress import silent
from algorithms.star_sets import star_sets
from spark.rows import numbered_interests


class Kernel(Protocol):
    """Brokers and links are numbers into the interests given."""

    def inside(self, interests: Interests) -> Ints:
        """Links that (2-)connect every topic of one part."""

    def stars(self, interests: Interests, part: Ints) -> Ints:
        """The stars of each part, ascending."""

    def across(self, interests: Interests, part: Ints, degrees: Ints, topic_sizes: Longs) -> Ints:
        """Links that join parts; the interests are those of their stars alone, ``degrees`` their links so far."""


@dataclass(frozen=True)
class GreedyMerge:
    """DC, and GM with one part: greedy merge (or weave) inside, Star Merge (by the same score) across."""

    seed: int
    score: str = "contribution"
    ties: Ties = "degree"
    memory_mb: int = 2048

    def inside(self, interests: Interests) -> Ints:
        """GM or weave, as the local DC does for its only part."""
        return conquer_parts(
            interests,
            np.zeros(len(interests.brokers), np.int32),
            seed=self.seed,
            score=self.score,
            ties=self.ties,
            memory_mb=self.memory_mb,
            threads=1,
        ).inner

    def stars(self, interests: Interests, part: Ints) -> Ints:
        """Star sets that cover each shared topic once."""
        return star_sets(interests, part)

    def across(self, interests: Interests, part: Ints, degrees: Ints, topic_sizes: Longs) -> Ints:
        """Star Merge, with the score of weave by the topics' sizes in the whole overlay.

        Star Merge picks star sets anew from the stars it is given, and finds the same: brokers that greedy cover did
        not take never changed what it took.
        """
        limits = Limits(self.memory_mb)
        if self.score == "contribution":
            return star_merge(
                interests, part, ties=self.ties, degrees=degrees, seed=self.seed, limits=limits
            ).outer
        stars = star_sets(interests, part)
        rows = Rows.of(interests, stars)
        accepted = connect_weighted(
            rows,
            Weights(),
            seed=self.seed,
            limits=limits,
            group=np.repeat(part[stars], np.diff(rows.broker_start)),
            degrees=degrees[stars],
            topic_sizes=topic_sizes,
        )
        return stars[accepted.links]


@dataclass(frozen=True)
class BlockMerge:
    """Bulk GM2: GM2 inside, stars that hold each shared topic twice, GM2 over pairs of stars across."""

    seed: int
    ties: Ties = "degree"
    memory_mb: int = 2048

    def inside(self, interests: Interests) -> Ints:
        """GM2."""
        everyone = np.arange(len(interests.brokers), dtype=np.int32)
        return biconnect_part(interests, everyone, ties=self.ties, seed=self.seed, limits=self._limits)

    def stars(self, interests: Interests, part: Ints) -> Ints:
        """Star sets that cover each shared topic twice."""
        return double_stars(interests, part)

    def across(self, interests: Interests, part: Ints, degrees: Ints, topic_sizes: Longs) -> Ints:
        """GM2 over the pairs of stars of different parts."""
        return join_parts(
            interests,
            part,
            np.arange(len(interests.brokers), dtype=np.int32),
            degrees=degrees,
            ties=self.ties,
            seed=self.seed,
            limits=self._limits,
        )

    @property
    def _limits(self) -> Limits:
        return Limits(self.memory_mb)


@dataclass(frozen=True)
class DegreeCover(BlockMerge):
    """Bulk degree cover for k = 2: degree cover inside, joined as bulk GM2 is."""

    needs: Literal["sized", "plain"] = "sized"

    def inside(self, interests: Interests) -> Ints:
        """Degree cover, pruned."""
        links: Ints = degree_cover(
            interests, seed=self.seed, progress=silent, k=2, needs=self.needs, memory_mb=self.memory_mb
        )
        return links


def stars_of_part(kernel: Kernel, interests: Interests, shared: Ints) -> Ints:
    """The stars of one part, ``shared`` being the topics (of any part) that at least two parts have.

    Everybody else stands in as one broker that holds all those topics: what a part must cover is all that the other
    parts matter for.
    """
    own = len(interests.brokers)
    everybody = numbered_interests(
        np.concatenate(
            [
                np.repeat(np.arange(own, dtype=np.int32), interests.broker_sizes()),
                np.full(len(shared), own, np.int32),
            ]
        ),
        np.concatenate([interests.broker_topics, shared]),
        own + 1,
        len(interests.topics),
    )
    part = np.zeros(own + 1, np.int32)
    part[own] = 1
    stars = kernel.stars(everybody, part)
    return stars[stars < own]
