"""Topic subgraphs that change: rows of neighbours a topic and subscriber, with room for links to come and go.

Prune takes links out of them, the repair of separators puts links in; both need the neighbours within a topic at every
step, which the frozen rows of :mod:`algorithms.analysis.subgraphs` do not offer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from algorithms.components import common_slots
from algorithms.interests import Interests, Ints, Longs
from algorithms.jit import kernel


@dataclass
class TopicRows:
    """The neighbours of each subscriber within each topic; kernels take the arrays one by one.

    A subscription has a *slot* in ``broker_topics`` and a *place* in ``topic_brokers``. Its neighbours in the topic,
    as local numbers (place - topic_start), are ``neighbours[starts[place]:ends[place]]``; the row may grow up to
    ``starts[place + 1]``.
    """

    place: Longs
    """Slot -> place."""
    starts: Longs
    ends: Longs
    neighbours: Ints
    slots: Longs
    """Scratch: two rows as long as the longest row of topics."""

    @classmethod
    def of(cls, interests: Interests, links: Ints, room: int = 0) -> TopicRows:
        """The rows of an overlay, each with room for so many more neighbours."""
        place = np.empty(interests.subscriptions, np.int64)
        place[np.argsort(interests.broker_topics, kind="stable")] = np.arange(interests.subscriptions)
        slots = np.empty((2, int(interests.broker_sizes().max(initial=0))), np.int64)
        starts = np.zeros(interests.subscriptions + 1, np.int64)
        count_rows(interests.broker_start, interests.broker_topics, place, links, starts, slots)
        starts[1:] += room
        np.cumsum(starts, out=starts)
        rows = cls(place, starts, starts[:-1].copy(), np.empty(int(starts[-1]), np.int32), slots)
        add_links(
            links,
            interests.broker_start,
            interests.broker_topics,
            interests.topic_start,
            rows.place,
            rows.starts,
            rows.ends,
            rows.neighbours,
            rows.slots,
        )
        return rows


@kernel
def count_rows(
    broker_start: Longs, broker_topics: Ints, place: Longs, links: Ints, starts: Longs, slots: Longs
) -> None:
    """``starts[p + 1]`` = how many neighbours the subscriber at place p has in that topic."""
    for link in range(len(links)):
        found = common_slots(broker_start, broker_topics, links[link, 0], links[link, 1], slots[0], slots[1])
        for i in range(found):
            starts[place[slots[0, i]] + 1] += 1
            starts[place[slots[1, i]] + 1] += 1


@kernel
def add_links(
    links: Ints,
    broker_start: Longs,
    broker_topics: Ints,
    topic_start: Longs,
    place: Longs,
    starts: Longs,
    ends: Longs,
    neighbours: Ints,
    slots: Longs,
) -> int:
    """Put links into every common topic of their ends; how many, the first that found a row full stops it whole."""
    for link in range(len(links)):
        found = common_slots(broker_start, broker_topics, links[link, 0], links[link, 1], slots[0], slots[1])
        for i in range(found):
            p, q = place[slots[0, i]], place[slots[1, i]]
            if ends[p] == starts[p + 1] or ends[q] == starts[q + 1]:
                return link
        for i in range(found):
            p, q = place[slots[0, i]], place[slots[1, i]]
            first = topic_start[broker_topics[slots[0, i]]]
            neighbours[ends[p]] = q - first
            neighbours[ends[q]] = p - first
            ends[p] += 1
            ends[q] += 1
    return len(links)


@kernel
def drop_neighbour(place: int, local: int, starts: Longs, ends: Longs, neighbours: Ints) -> None:
    """Take a neighbour out of a row; the last one moves to where it stood."""
    for at in range(starts[place], ends[place]):
        if neighbours[at] == local:
            ends[place] -= 1
            neighbours[at] = neighbours[ends[place]]
            return
