"""Interests change: brokers go, subscriptions go and come, and links that serve nothing any more are closed.

What is left behind are the *former neighbours*: subscribers of a topic that were linked to one who gave it up. Every
component a topic falls into holds one of them (shadow V-C; for k >= 2 every component that is left after k - 1 more
failures does), so links among them, and from newcomers to anyone, always suffice to repair.
"""

from __future__ import annotations

import numpy as np

from algorithms.interests import Ints, Longs
from algorithms.jit import kernel
from algorithms.live.rows import (
    BACKUPS,
    FLAG,
    KINDS,
    LENGTH,
    NEIGHBOURS,
    PRIMARIES,
    START,
    SUBSCRIBERS,
    TOPICS,
    append,
    empty,
    has_topic,
    insert,
    link,
    put_row,
    take_out,
    unlink,
)

LEFT, NOTHING_SHARED = 0, 1
"""Why a change of interests closes a link."""

THIN = 8
"""A topic with so few subscribers may have had nobody to back one of them: a newcomer makes them want backups anew."""


@kernel
def common_topics(a: int, b: int, pool: Ints, rows: Longs, common: Ints) -> int:
    """Write the topics two brokers share, ascending; how many. The shorter row is walked, the longer one searched."""
    if rows[KINDS * a, LENGTH] > rows[KINDS * b, LENGTH]:
        a, b = b, a
    low = rows[KINDS * b + TOPICS, START]
    end = low + rows[KINDS * b + TOPICS, LENGTH]
    searched = rows[KINDS * b, LENGTH] > 12 * rows[KINDS * a, LENGTH]
    start = rows[KINDS * a + TOPICS, START]
    n = 0
    for at in range(start, start + rows[KINDS * a + TOPICS, LENGTH]):
        topic = pool[at]
        if searched:
            low += np.searchsorted(pool[low:end], topic)
        else:
            while low < end and pool[low] < topic:
                low += 1
        if low == end:
            break
        if pool[low] == topic:
            common[n] = topic
            n += 1
    return n


@kernel
def share_a_topic(a: int, b: int, pool: Ints, rows: Longs) -> bool:
    """Whether two brokers have a topic in common."""
    if rows[KINDS * a, LENGTH] > rows[KINDS * b, LENGTH]:
        a, b = b, a
    start = rows[KINDS * a + TOPICS, START]
    for at in range(start, start + rows[KINDS * a + TOPICS, LENGTH]):
        if has_topic(b, pool[at], pool, rows):
            return True
    return False


@kernel
def longest_row(kind: int, brokers: Ints, rows: Longs) -> int:
    """The length of the longest row of a kind that some brokers have."""
    longest = 0
    for v in brokers:
        longest = max(longest, rows[KINDS * v + kind, LENGTH])
    return longest


@kernel
def with_room(table: Ints, n: int) -> Ints:
    """The table, or one twice as long when n rows fill it."""
    if n < len(table):
        return table
    larger = np.empty((2 * n, table.shape[1]), np.int32)
    for i in range(n):
        for column in range(table.shape[1]):
            larger[i, column] = table[i, column]
    return larger


@kernel
def _former_neighbours(leavers: Ints, removed: Ints, pool: Ints, rows: Longs) -> Ints:
    """Rows (topic, former neighbour, 0); an entry may occur twice, or have given the topic up itself."""
    common = np.empty(longest_row(TOPICS, leavers, rows), np.int32)
    found = np.empty((64, 3), np.int32)
    n = np.int64(0)
    for v in leavers:
        start = rows[KINDS * v + NEIGHBOURS, START]
        for at in range(start, start + rows[KINDS * v + NEIGHBOURS, LENGTH]):
            for i in range(common_topics(v, pool[at], pool, rows, common)):
                found = with_room(found, n)
                found[n, 0], found[n, 1], found[n, 2] = common[i], pool[at], 0
                n += 1
    for i in range(len(removed)):
        v, topic = removed[i, 0], removed[i, 1]
        start = rows[KINDS * v + NEIGHBOURS, START]
        for at in range(start, start + rows[KINDS * v + NEIGHBOURS, LENGTH]):
            if has_topic(pool[at], topic, pool, rows):
                found = with_room(found, n)
                found[n, 0], found[n, 1], found[n, 2] = topic, pool[at], 0
                n += 1
    return found[:n]


@kernel
def alter(
    leavers: Ints,
    removed: Ints,
    added: Ints,
    pool: Ints,
    rows: Longs,
    free: Longs,
    counts: Longs,
    log: Longs,
) -> tuple[Ints, Ints]:
    """Change the interests; returns the former neighbours and the links closed.

    ``removed`` and ``added`` are rows (broker, topic), sorted; a newcomer is a broker whose topics are all in
    ``added``. Former neighbours are rows (topic, broker, 0), links closed rows (end, end, why).
    """
    former = _former_neighbours(leavers, removed, pool, rows)
    closed = np.empty((16, 3), np.int32)
    n = np.int64(0)
    for v in leavers:
        row = KINDS * v + NEIGHBOURS
        while rows[row, LENGTH]:
            w = pool[rows[row, START] + rows[row, LENGTH] - 1]
            unlink(v, w, pool, rows, free, counts, log)
            closed = with_room(closed, n)
            closed[n, 0], closed[n, 1], closed[n, 2] = v, w, LEFT
            n += 1
        for at in range(rows[KINDS * v + TOPICS, LENGTH]):
            topic = pool[rows[KINDS * v + TOPICS, START] + at]
            take_out(KINDS * topic + SUBSCRIBERS, v, pool, rows, free, counts, log)
        _forget(v, pool, rows, free, counts, log)
        for kind in range(SUBSCRIBERS):
            empty(KINDS * v + kind, pool, rows, free, counts, log)
    for i in range(len(removed)):
        v, topic = removed[i, 0], removed[i, 1]
        take_out(KINDS * v + TOPICS, topic, pool, rows, free, counts, log)
        take_out(KINDS * topic + SUBSCRIBERS, v, pool, rows, free, counts, log)
        put_row(KINDS * v + BACKUPS, FLAG, 1, rows, counts, log)
    for i in range(len(added)):
        v, topic = added[i, 0], added[i, 1]
        insert(KINDS * v + TOPICS, topic, pool, rows, free, counts, log)
        if rows[KINDS * topic + SUBSCRIBERS, LENGTH] <= THIN:
            start = rows[KINDS * topic + SUBSCRIBERS, START]
            for at in range(start, start + rows[KINDS * topic + SUBSCRIBERS, LENGTH]):
                put_row(KINDS * pool[at] + BACKUPS, FLAG, 1, rows, counts, log)
        append(KINDS * topic + SUBSCRIBERS, v, pool, rows, free, counts, log)
        put_row(KINDS * v + BACKUPS, FLAG, 1, rows, counts, log)
    for i in range(len(removed)):
        v = removed[i, 0]
        if i and removed[i - 1, 0] == v:
            continue
        row = KINDS * v + NEIGHBOURS
        at = 0
        while at < rows[row, LENGTH]:
            w = pool[rows[row, START] + at]
            if share_a_topic(v, w, pool, rows):
                at += 1
                continue
            unlink(v, w, pool, rows, free, counts, log)
            closed = with_room(closed, n)
            closed[n, 0], closed[n, 1], closed[n, 2] = v, w, NOTHING_SHARED
            n += 1
    return former, closed[:n]


@kernel
def _forget(v: int, pool: Ints, rows: Longs, free: Longs, counts: Longs, log: Longs) -> None:
    """Take a broker out of the backups of its primaries, which want new ones, and of its backups' primaries."""
    start = rows[KINDS * v + BACKUPS, START]
    for at in range(start, start + rows[KINDS * v + BACKUPS, LENGTH]):
        take_out(KINDS * pool[at] + PRIMARIES, v, pool, rows, free, counts, log)
    start = rows[KINDS * v + PRIMARIES, START]
    for at in range(start, start + rows[KINDS * v + PRIMARIES, LENGTH]):
        take_out(KINDS * pool[at] + BACKUPS, v, pool, rows, free, counts, log)
        put_row(KINDS * pool[at] + BACKUPS, FLAG, 1, rows, counts, log)


@kernel
def swap_links(
    opened: Ints, closed: Ints, pool: Ints, rows: Longs, free: Longs, counts: Longs, log: Longs
) -> None:
    """Open some links and close others, rows (end, end)."""
    for i in range(len(opened)):
        link(opened[i, 0], opened[i, 1], pool, rows, free, counts, log)
    for i in range(len(closed)):
        unlink(closed[i, 0], closed[i, 1], pool, rows, free, counts, log)
