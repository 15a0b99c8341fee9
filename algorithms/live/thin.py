"""Thin out: after links were opened, close those around them that no topic needs any more (weave's local prune).

A link may go when in every topic its ends share they stay connected without it; for k = 2, when every such topic stays
2-connected. Only links at the ends of new ones are tried, those of the busiest brokers first: there the new links have
made others spare, and there the degrees are that should come down.
"""

from __future__ import annotations

import numpy as np

from algorithms.interests import Ints, Longs
from algorithms.jit import kernel
from algorithms.live.alter import common_topics, longest_row
from algorithms.live.candidates import PLACE
from algorithms.live.regions import are_connected
from algorithms.live.rows import (
    KINDS,
    LENGTH,
    LOGGED,
    NEIGHBOURS,
    SETTLED,
    START,
    SUBSCRIBERS,
    TOP,
    TOPICS,
    has_topic,
    roll_back,
    unlink,
)
from algorithms.live.topic_blocks import find_blocks


@kernel
def _degree_in(u: int, topic: int, enough: int, pool: Ints, rows: Longs) -> int:
    """How many neighbours a broker has in a topic, counted up to ``enough``."""
    start = rows[KINDS * u + NEIGHBOURS, START]
    n = 0
    for at in range(start, start + rows[KINDS * u + NEIGHBOURS, LENGTH]):
        if has_topic(pool[at], topic, pool, rows):
            n += 1
            if n == enough:
                break
    return n


@kernel
def thin(
    k: int,
    most: int,
    opened: Ints,
    pool: Ints,
    rows: Longs,
    free: Longs,
    counts: Longs,
    log: Longs,
    scratch: Ints,
    clock: Longs,
) -> Ints:
    """Close what the links opened have made redundant, trying at most so many; returns the links closed."""
    # Of two ends both in the list, the link between them is tried once: from the one that stands first in it.
    place = scratch[PLACE]
    ends = np.empty(2 * len(opened), np.int32)
    n = 0
    for v in opened.ravel():
        if place[v] < 0:
            place[v] = n
            ends[n] = v
            n += 1
    ends = ends[:n]
    tried = 0
    for v in ends:
        tried += rows[KINDS * v + NEIGHBOURS, LENGTH]
    links = np.empty((tried, 2), np.int32)
    keys = np.empty(tried, np.int64)
    n = 0
    for v in ends:
        start = rows[KINDS * v + NEIGHBOURS, START]
        for at in range(start, start + rows[KINDS * v + NEIGHBOURS, LENGTH]):
            w = pool[at]
            if place[w] >= 0 and place[w] < place[v]:
                continue
            links[n, 0], links[n, 1] = v, w
            a, b = rows[KINDS * v + NEIGHBOURS, LENGTH], rows[KINDS * w + NEIGHBOURS, LENGTH]
            keys[n] = max(a, b) * 65536 + min(a, b)
            n += 1
    for v in ends:
        place[v] = -1
    most = min(n, most)
    common = np.empty(max(longest_row(TOPICS, ends, rows), 1), np.int32)
    longest = 1
    for v in ends:
        start = rows[KINDS * v + TOPICS, START]
        for at in range(start, start + rows[KINDS * v + TOPICS, LENGTH]):
            longest = max(longest, rows[KINDS * pool[at] + SUBSCRIBERS, LENGTH])
    pair = np.empty(2, np.int32)
    above = np.empty(3, np.int32)
    queue = np.empty((3, 3), np.int32)
    stack = np.empty((3, longest if k > 1 else 1), np.int32)
    closed = np.empty((most, 2), np.int32)
    m = 0
    for _ in range(most):
        o = 0
        for i in range(n):
            if keys[i] > keys[o]:
                o = i
        keys[o] = -1
        a, b = links[o, 0], links[o, 1]
        shared = common_topics(a, b, pool, rows, common)
        spare = True
        for i in range(shared):
            if (
                (k > 1 and rows[KINDS * common[i] + SUBSCRIBERS, LENGTH] <= k + 1)
                or _degree_in(a, common[i], k + 1, pool, rows) <= k
                or _degree_in(b, common[i], k + 1, pool, rows) <= k
            ):
                spare = False
                break
        if not spare:
            continue
        begun = counts[LOGGED]
        counts[SETTLED] = counts[TOP]
        unlink(a, b, pool, rows, free, counts, log)
        for i in range(shared):
            if k == 1:
                spare = are_connected(a, b, common[i], pool, rows, scratch, clock, pair, above, queue)
            else:
                pieces, _ = find_blocks(common[i], pool, rows, scratch, clock, stack)
                spare = pieces == 1
            if not spare:
                break
        if spare:
            closed[m, 0], closed[m, 1] = a, b
            m += 1
        else:
            roll_back(begun, counts[LOGGED], pool, rows, free, counts, log)
    return closed[:m]
