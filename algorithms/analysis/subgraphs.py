"""Topic subgraphs: the links inside every topic, in one pair of arrays.

The subgraph of a topic is what its subscribers and the links between them make. A link lies in every topic its ends
share, so the arrays have two entries for each (link, common topic).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from algorithms.components import common_slots
from algorithms.interests import Interests, Ints, Longs
from algorithms.jit import kernel
from algorithms.overlay import Overlay


@dataclass(frozen=True, eq=False)
class TopicSubgraphs:
    """The neighbours of every subscriber within every topic.

    The subscribers of topic t have local numbers 0..n_t-1 in the order of ``interests.subscriber_indices(t)``. The
    neighbours of subscriber i of topic t are ``neighbours[starts[p]:starts[p + 1]]`` with p = topic_start[t] + i,
    as local numbers.
    """

    interests: Interests
    starts: Longs
    neighbours: Ints

    @classmethod
    def of(cls, overlay: Overlay) -> TopicSubgraphs:
        """All topic subgraphs of an overlay."""
        interests = overlay.interests
        longest = int(interests.broker_sizes().max(initial=0))
        starts = np.zeros(interests.subscriptions + 1, np.int64)
        ranks = _ranks(interests.broker_topics, len(interests.topics))
        scratch = np.empty((2, longest), np.int64)
        arrays = (
            interests.broker_start,
            interests.broker_topics,
            interests.topic_start,
            ranks,
            overlay.links,
        )
        _count(*arrays, starts, scratch[0], scratch[1])
        np.cumsum(starts, out=starts)
        neighbours = np.empty(int(starts[-1]), np.int32)
        _fill(*arrays, starts, neighbours, scratch[0], scratch[1])
        return cls(interests, starts, neighbours)

    def topic_links(self, topic: int) -> Ints:
        """The links of one topic as pairs of local numbers, each once."""
        first, last = self.interests.topic_start[topic], self.interests.topic_start[topic + 1]
        sizes = np.diff(self.starts[first : last + 1])
        tails = np.repeat(np.arange(last - first, dtype=np.int32), sizes)
        heads = self.neighbours[self.starts[first] : self.starts[last]]
        return np.stack([tails, heads], axis=1)[tails < heads]


@kernel
def _ranks(broker_topics: Ints, topics: int) -> Ints:
    """For each place of ``broker_topics``, the local number of that broker in that topic."""
    seen = np.zeros(topics, np.int32)
    ranks = np.empty(len(broker_topics), np.int32)
    for slot in range(len(broker_topics)):
        ranks[slot] = seen[broker_topics[slot]]
        seen[broker_topics[slot]] += 1
    return ranks


@kernel
def _count(
    broker_start: Longs,
    broker_topics: Ints,
    topic_start: Longs,
    ranks: Ints,
    links: Ints,
    starts: Longs,
    slots_v: Longs,
    slots_w: Longs,
) -> None:
    """``starts[p + 1]`` = how many neighbours the subscriber at place p of the topic rows has in that topic."""
    for link in range(len(links)):
        found = common_slots(broker_start, broker_topics, links[link, 0], links[link, 1], slots_v, slots_w)
        for i in range(found):
            first = topic_start[broker_topics[slots_v[i]]]
            starts[first + ranks[slots_v[i]] + 1] += 1
            starts[first + ranks[slots_w[i]] + 1] += 1


@kernel
def _fill(
    broker_start: Longs,
    broker_topics: Ints,
    topic_start: Longs,
    ranks: Ints,
    links: Ints,
    starts: Longs,
    neighbours: Ints,
    slots_v: Longs,
    slots_w: Longs,
) -> None:
    """Write each neighbour behind its owner's start."""
    filled = starts.copy()
    for link in range(len(links)):
        found = common_slots(broker_start, broker_topics, links[link, 0], links[link, 1], slots_v, slots_w)
        for i in range(found):
            first = topic_start[broker_topics[slots_v[i]]]
            rank_v, rank_w = ranks[slots_v[i]], ranks[slots_w[i]]
            neighbours[filled[first + rank_v]] = rank_w
            filled[first + rank_v] += 1
            neighbours[filled[first + rank_w]] = rank_v
            filled[first + rank_w] += 1
