"""The components a topic has after a change, found by growing regions from a few brokers that between them touch all.

Every component holds a seed (a former neighbour or a newcomer), so it is enough to grow a region from each, one broker
at a time in turn, to unite regions that meet, and to stop when all but one are complete: what was not reached belongs
to the one still growing. The work is that of the smaller components, not of the topic.

The greedy engine's components are built once for all topics and only ever united; here links have gone, one broker's
topics matter and most of each topic is never looked at, which is why this is a kernel of its own.
"""

from __future__ import annotations

import numpy as np

from algorithms.interests import Ints, Longs
from algorithms.jit import kernel
from algorithms.live.rows import KINDS, LENGTH, NEIGHBOURS, START, SUBSCRIBERS

MEMBER, REACHED, REGION, ONWARD = 0, 1, 2, 3
"""Rows of scratch, by broker: the stamp of the topic's subscribers and of those reached, the region, the next one of a
region's queue."""


@kernel
def mark_subscribers(topic: int, pool: Ints, rows: Longs, scratch: Ints, clock: Longs) -> int:
    """Stamp the subscribers of a topic, so that belonging is one comparison; returns the stamp."""
    clock[0] += 1
    stamp = np.int32(clock[0])
    start = rows[KINDS * topic + SUBSCRIBERS, START]
    for at in range(start, start + rows[KINDS * topic + SUBSCRIBERS, LENGTH]):
        scratch[MEMBER, pool[at]] = stamp
    return int(stamp)


@kernel
def region_of(r: int, above: Ints) -> int:
    """The region that a region has become part of."""
    while above[r] != r:
        above[r] = above[above[r]]
        r = above[r]
    return r


@kernel
def grow_regions(
    topic: int,
    seeds: Ints,
    old: int,
    pool: Ints,
    rows: Longs,
    scratch: Ints,
    clock: Longs,
    above: Ints,
    queue: Ints,
) -> tuple[int, int, int]:
    """The components of a topic: how many, which region those not reached belong to (-1: all were), and the stamp.

    ``old`` >= 0 says that the topic only grew: all its subscribers but the seeds are connected, and ``old`` is one of
    them; then nothing but the seeds is looked at. ``above`` and ``queue`` (head, tail, growing) are scratch of one
    entry a region, of which there are at most one a seed and one more.
    """
    member, reached, region, onward = scratch[MEMBER], scratch[REACHED], scratch[REGION], scratch[ONWARD]
    head, tail, growing = queue[0], queue[1], queue[2]
    stamp = np.int32(mark_subscribers(topic, pool, rows, scratch, clock))
    n = 0
    if old >= 0:
        reached[old], region[old], above[0], head[0] = stamp, 0, 0, -1
        n = 1
    for s in seeds:
        if member[s] != stamp or reached[s] == stamp:
            continue
        reached[s], region[s], above[n] = stamp, n, n
        head[n], tail[n], onward[s] = s, s, -1
        n += 1
    apart = n
    active = 0
    for r in range(n):
        if head[r] >= 0:
            growing[active] = r
            active += 1
    alone = 1 if old < 0 else 0
    while apart > 1 and active > alone:
        left = 0
        for i in range(active):
            r = growing[i]
            if above[r] != r:
                continue
            u = head[r]
            head[r] = onward[u]
            start = rows[KINDS * u + NEIGHBOURS, START]
            for at in range(start, start + rows[KINDS * u + NEIGHBOURS, LENGTH]):
                w = pool[at]
                if member[w] != stamp:
                    continue
                if reached[w] != stamp:
                    if old < 0:
                        reached[w], region[w], onward[w] = stamp, r, -1
                        if head[r] < 0:
                            head[r] = w
                        else:
                            onward[tail[r]] = w
                        tail[r] = w
                        continue
                    q = region_of(np.int32(0), above)
                else:
                    q = region_of(region[w], above)
                if q == r:
                    continue
                above[q] = r
                apart -= 1
                if head[q] >= 0:
                    if head[r] < 0:
                        head[r] = head[q]
                    else:
                        onward[tail[r]] = head[q]
                    tail[r] = tail[q]
            if head[r] >= 0:
                growing[left] = r
                left += 1
        active = left
    if old >= 0:
        return apart, region_of(np.int32(0), above), int(stamp)
    rest = -1
    for i in range(active):
        if above[growing[i]] == growing[i]:
            rest = growing[i]
    return apart, rest, int(stamp)


@kernel
def are_connected(
    a: int,
    b: int,
    topic: int,
    pool: Ints,
    rows: Longs,
    scratch: Ints,
    clock: Longs,
    pair: Ints,
    above: Ints,
    queue: Ints,
) -> bool:
    """Whether two subscribers of a topic reach each other in it; ``pair`` is scratch for two seeds."""
    pair[0] = a
    pair[1] = b
    apart, _, _ = grow_regions(topic, pair, np.int64(-1), pool, rows, scratch, clock, above, queue)
    return bool(apart == 1)
