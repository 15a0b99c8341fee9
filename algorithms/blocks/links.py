"""Links as the forest sees them: what one link, links that exist, or parts that are 2-connected already do to it."""

from __future__ import annotations

import numpy as np

from algorithms.blocks.trees import LINKS, join_blocks, share_block
from algorithms.engine.components import by_topic, find_topic
from algorithms.interests import Ints, Longs
from algorithms.jit import kernel


@kernel
def add_link(
    v: int,
    w: int,
    clock: Longs,
    path: Ints,
    row_start: Longs,
    row_topic: Ints,
    node: Ints,
    top: Ints,
    hold: Ints,
    size: Ints,
) -> None:
    """Put a link into every topic its ends share; only where they share no block does it change the forest."""
    if row_start[v + 1] - row_start[v] < row_start[w + 1] - row_start[w]:
        v, w = w, v
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
        if row_topic[low] == t:
            node[low, LINKS] += 1
            node[i, LINKS] += 1
            if not share_block(low, i, node, top):
                join_blocks(low, i, t, clock, path, node, top, hold, size)


@kernel
def add_links(
    links: Ints,
    clock: Longs,
    path: Ints,
    row_start: Longs,
    row_topic: Ints,
    node: Ints,
    top: Ints,
    hold: Ints,
    size: Ints,
) -> None:
    """Start from links that exist already; their ends are rows."""
    for k in range(len(links)):
        add_link(links[k, 0], links[k, 1], clock, path, row_start, row_topic, node, top, hold, size)


@kernel
def join_groups(
    group: Ints,
    groups: int,
    clock: Longs,
    path: Ints,
    row_start: Longs,
    row_topic: Ints,
    node: Ints,
    top: Ints,
    hold: Ints,
    size: Ints,
) -> None:
    """Start with the subscribers of a topic whose rows have the same group number in one block: a ring in each."""
    first = np.full(groups, -1, np.int32)
    last = np.full(groups, -1, np.int32)
    start, row_of, subscription = by_topic(row_start, row_topic, len(size))
    for t in range(len(size)):
        # Forward each subscriber is joined with the one before in its group; backward the last with the first.
        for direction in range(2):
            for place in range(start[t], start[t + 1]):
                i = int(subscription[place])
                g = group[row_of[place]]
                j = -1
                if direction == 0:
                    j = int(last[g])
                    last[g] = i
                    if j < 0:
                        first[g] = i
                elif last[g] == i:
                    j = int(first[g])
                    first[g], last[g] = -1, -1
                if j >= 0 and j != i and not share_block(i, j, node, top):
                    node[i, LINKS] += 1
                    node[j, LINKS] += 1
                    join_blocks(i, j, t, clock, path, node, top, hold, size)
