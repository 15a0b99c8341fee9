"""The blocks of one topic, by depth-first search: for k = 2, what components are for k = 1.

Every subscriber but a root has one parent block, every block one top: two subscribers share a block exactly when their
parent blocks are the same, or one is the top of the other's. A topic is 2-connected when one block holds everybody.

The block-cut forest of the builds only ever condenses; a repair begins with links gone and asks for one broker's
topics, so the search is done anew for a topic whenever a link has changed it.
"""

from __future__ import annotations

import numpy as np

from algorithms.interests import Ints, Longs
from algorithms.jit import kernel
from algorithms.live.regions import MEMBER, mark_subscribers
from algorithms.live.rows import KINDS, LENGTH, NEIGHBOURS, START, SUBSCRIBERS

FOUND, DEPTH, LOW, BLOCK, TOP_OF = 1, 2, 3, 4, 5
"""Rows of scratch, by broker: the stamp of those found, the order of finding, the least order reached from below, the
parent block (named by a number), and that block's top (-1 for a root)."""


@kernel
def find_blocks(
    topic: int, pool: Ints, rows: Longs, scratch: Ints, clock: Longs, stack: Ints
) -> tuple[int, int]:
    """Fill in ``BLOCK`` and ``TOP_OF`` of a topic's subscribers; how many blocks and lone subscribers, and the stamp.

    1 means that the topic is 2-connected (or one broker, or two linked ones). ``stack``: three rows as long as the
    topic, for the path, the next neighbour to look at along it, and the subscribers of unfinished blocks.
    """
    stamp = np.int32(mark_subscribers(topic, pool, rows, scratch, clock))
    member, found, depth, low = scratch[MEMBER], scratch[FOUND], scratch[DEPTH], scratch[LOW]
    block, top = scratch[BLOCK], scratch[TOP_OF]
    path, following, waiting = stack[0], stack[1], stack[2]
    pieces = 0
    names = 0
    order = 0
    first = rows[KINDS * topic + SUBSCRIBERS, START]
    for place in range(first, first + rows[KINDS * topic + SUBSCRIBERS, LENGTH]):
        root = pool[place]
        if found[root] == stamp:
            continue
        found[root], depth[root], low[root] = stamp, order, order
        order += 1
        block[root], top[root] = names, -1
        names += 1
        alone = True
        path[0], following[0] = root, 0
        height, queued = 1, 0
        while height:
            u = path[height - 1]
            row = KINDS * u + NEIGHBOURS
            if following[height - 1] < rows[row, LENGTH]:
                w = pool[rows[row, START] + following[height - 1]]
                following[height - 1] += 1
                if member[w] != stamp:
                    continue
                if found[w] == stamp:
                    low[u] = min(low[u], depth[w])
                    continue
                found[w], depth[w], low[w] = stamp, order, order
                order += 1
                waiting[queued] = w
                queued += 1
                path[height], following[height] = w, 0
                height += 1
                continue
            height -= 1
            if not height:
                break
            above = path[height - 1]
            low[above] = min(low[above], low[u])
            if low[u] >= depth[above]:
                # Nothing below u reaches past the one above it: what waits since u is a block with that top.
                alone = False
                pieces += 1
                while True:
                    queued -= 1
                    w = waiting[queued]
                    block[w], top[w] = names, above
                    if w == u:
                        break
                names += 1
        if alone:
            pieces += 1
    return pieces, int(stamp)
