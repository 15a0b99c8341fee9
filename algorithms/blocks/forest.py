"""Topic blocks of the brokers at work: an incremental block-cut forest for every topic, in flat arrays.

A topic block is a maximal set of subscribers that no single failure parts; a bridge is a block of two. Within a topic,
blocks and subscribers alternate in trees: each subscriber has at most one *parent block*, each block one *top*
subscriber, and its other members are the block's *children*. So two subscribers share a block when they have the same
parent block, or one is the top of the other's: three comparisons. :mod:`algorithms.blocks.trees` joins blocks.

The arrays (a *row* is a broker, numbered by falling number of unfinished topics; N subscriptions):

==============  ==========================================================================================
``broker``      row -> dense broker id
``row_start``   row -> its first subscription; one more at the end
``row_topic``   subscription -> topic (renumbered, ascending within a row)
``node``        subscription -> its parent block (N + itself where it is a root), its neighbours in the circle of that
                block's children, its tree, a stamp, and its links in the topic
``top``         block -> its top subscription; -1 for the N numbers that stand for roots
``hold``        block -> how many children it has, and a stamp
``size``        topic -> its number of subscribers, 0 once all of them are in one block
``clock``       the last stamp, and the first block that is not in use
==============  ==========================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from algorithms.blocks.trees import BACK, BLOCK, CHILDREN, LINKS, ONWARD, SEEN, SPREAD, TREE, UNUSED
from algorithms.interests import Ints, Longs
from algorithms.jit import kernel


@dataclass
class Blocks:
    """The topic blocks at one moment of a build; kernels take its arrays one by one."""

    broker: Ints
    row_start: Longs
    row_topic: Ints
    node: Ints
    top: Ints
    hold: Ints
    size: Ints
    clock: Longs

    @classmethod
    def alone(cls, broker: Ints, row_start: Longs, row_topic: Ints, topics: int) -> Blocks:
        """No links: every subscriber is a root."""
        n = len(row_topic)
        everyone = np.arange(n, dtype=np.int32)
        size = np.bincount(row_topic, minlength=topics).astype(np.int32)
        size[size == 1] = 0
        node = np.empty((n, 7), np.int32)
        node[:, BLOCK] = everyone + np.int32(n)
        node[:, ONWARD] = node[:, BACK] = node[:, TREE] = everyone
        node[:, SPREAD], node[:, SEEN], node[:, LINKS] = 1, 0, 0
        hold = np.zeros((n, 2), np.int32)
        hold[:, CHILDREN] = everyone + 1
        return cls(
            broker,
            row_start,
            row_topic,
            node,
            top=np.full(2 * n, -1, np.int32),
            hold=hold,
            size=size,
            clock=np.zeros(2, np.int64),
        )

    def arrays(self) -> tuple[Longs, Ints, Ints, Ints, Ints, Ints]:
        """The arrays from ``row_start`` to ``size``, as kernels take them."""
        return self.row_start, self.row_topic, self.node, self.top, self.hold, self.size

    def compacted(self) -> Blocks:
        """Without finished topics and without brokers that have none left, rows by falling number of topics."""
        return Blocks(*_compact(self.broker, *self.arrays()))

    @property
    def unlinked(self) -> bool:
        """Whether no topic has a link."""
        return int(self.node[:, SPREAD].max(initial=1)) == 1

    @property
    def unfinished(self) -> int:
        """How many subscribers are not yet in their topic's last block; 0 when every topic is 2-connected."""
        return int(self.size.sum(dtype=np.int64))


@kernel
def _compact(
    broker: Ints, row_start: Longs, row_topic: Ints, node: Ints, top: Ints, hold: Ints, size: Ints
) -> tuple[Ints, Longs, Ints, Ints, Ints, Ints, Ints, Longs]:
    rows = len(broker)
    new_topic = np.full(len(size), -1, np.int32)
    topics = 0
    for t in range(len(size)):
        if size[t] > 0:
            new_topic[t] = topics
            topics += 1
    new_size = np.empty(topics, np.int32)
    for t in range(len(size)):
        if size[t] > 0:
            new_size[new_topic[t]] = size[t]

    # Counting sort of the rows by falling number of unfinished topics; rows that are equal keep their order.
    active = np.zeros(rows, np.int32)
    most = 0
    for r in range(rows):
        for i in range(row_start[r], row_start[r + 1]):
            active[r] += size[row_topic[i]] > 0
        most = max(most, active[r])
    place = np.zeros(most + 2, np.int64)
    for r in range(rows):
        place[most - active[r] + 1] += 1
    for k in range(most + 1):
        place[k + 1] += place[k]
    kept = place[most]
    old_row = np.empty(rows, np.int32)
    for r in range(rows):
        old_row[place[most - active[r]]] = r
        place[most - active[r]] += 1

    new_broker = np.empty(kept, np.int32)
    new_start = np.zeros(kept + 1, np.int64)
    for n in range(kept):
        new_broker[n] = broker[old_row[n]]
        new_start[n + 1] = new_start[n] + active[old_row[n]]
    left = new_start[kept]
    new_row_topic = np.empty(left, np.int32)
    origin = np.empty(left, np.int32)
    moved = np.full(len(row_topic), -1, np.int32)
    for n in range(kept):
        to = new_start[n]
        for i in range(row_start[old_row[n]], row_start[old_row[n] + 1]):
            if size[row_topic[i]] > 0:
                new_row_topic[to] = new_topic[row_topic[i]]
                origin[to] = i
                moved[i] = to
                to += 1
    roots = len(row_topic)
    number = np.full(roots, -1, np.int32)
    new_node = np.empty((left, node.shape[1]), np.int32)
    new_top = np.full(2 * left, -1, np.int32)
    new_hold = np.zeros((left, hold.shape[1]), np.int32)
    blocks = 0
    for to in range(left):
        i = origin[to]
        b = node[i, BLOCK]
        # A root's circle is not in use and may lead anywhere.
        new_node[to, BLOCK] = left + to
        new_node[to, ONWARD], new_node[to, BACK] = to, to
        if b < roots:
            if number[b] < 0:
                number[b] = blocks
                new_top[blocks] = moved[top[b]]
                new_hold[blocks, CHILDREN] = hold[b, CHILDREN]
                blocks += 1
            new_node[to, BLOCK] = number[b]
            new_node[to, ONWARD] = moved[node[i, ONWARD]]
            new_node[to, BACK] = moved[node[i, BACK]]
        new_node[to, TREE] = moved[node[i, TREE]]
        new_node[to, SPREAD] = node[i, SPREAD]
        new_node[to, SEEN] = 0
        new_node[to, LINKS] = node[i, LINKS]
    for b in range(blocks, left):
        new_hold[b, CHILDREN] = b + 1
    clock = np.zeros(2, np.int64)
    clock[UNUSED] = blocks
    return new_broker, new_start, new_row_topic, new_node, new_top, new_hold, new_size, clock
