"""Backups: for each broker a few others that together cover its topics lambda times over (shadow V-C, V-G).

A backup set is a union of lambda disjoint set covers of the broker's topics, light brokers preferred; a broker weighs
as much as it has links and primaries. ``greedy`` takes the least weight a topic newly covered (Alg 11), ``primal-dual``
picks an uncovered topic at random, takes its lightest subscriber and lowers the others by that weight (Alg 12): larger
sets, but the burden is spread evenly, which is what keeps degrees low under churn.

Where the paper's text is silent: a topic that nobody is left to cover is dropped; neither the broker itself nor a
backup of an earlier cover is a candidate; of a topic with more than ``WINDOW`` subscribers a random stretch of so many
is looked at, because all are alike and a scan of 40,000 would cost more than the repair it prepares.
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
    drawn,
    empty,
    has_topic,
    put_row,
    take_out,
)

WINDOW = 512
CHOSEN, WEIGHED, WEIGHT = 1, 4, 5
"""Rows of scratch, by broker: the stamp of backups taken already, the stamp of a weight, the weight."""


@kernel
def rebuild_backups(
    brokers: Ints,
    cover: int,
    greedy: bool,
    seed: int,
    pool: Ints,
    rows: Longs,
    free: Longs,
    counts: Longs,
    log: Longs,
    scratch: Ints,
    clock: Longs,
) -> None:
    """Build the backups of some brokers anew; their old backups forget them first."""
    random = np.empty(1, np.int64)
    for v in brokers:
        random[0] = (seed * 69621 + np.int64(v)) % 2147483646 + 1
        row = KINDS * v + BACKUPS
        start = rows[row, START]
        for at in range(start, start + rows[row, LENGTH]):
            take_out(KINDS * pool[at] + PRIMARIES, v, pool, rows, free, counts, log)
        empty(row, pool, rows, free, counts, log)
        rest = np.empty(rows[KINDS * v + TOPICS, LENGTH], np.int32)
        clock[0] += 1
        stamp = np.int32(clock[0])
        scratch[CHOSEN, v] = stamp
        for _ in range(cover):
            n = 0
            start = rows[KINDS * v + TOPICS, START]
            for at in range(start, start + len(rest)):
                if rows[KINDS * pool[at] + SUBSCRIBERS, LENGTH] > 1:
                    rest[n] = pool[at]
                    n += 1
            if greedy:
                _cover_greedily(v, stamp, rest[:n], pool, rows, free, counts, log, scratch, clock, random)
            else:
                _cover_evenly(v, stamp, rest[:n], pool, rows, free, counts, log, scratch, clock, random)


@kernel
def _take(
    v: int, w: int, stamp: int, pool: Ints, rows: Longs, free: Longs, counts: Longs, log: Longs, scratch: Ints
) -> None:
    append(KINDS * v + BACKUPS, w, pool, rows, free, counts, log)
    append(KINDS * w + PRIMARIES, v, pool, rows, free, counts, log)
    scratch[CHOSEN, w] = stamp


@kernel
def _weight(u: int, rows: Longs) -> int:
    return int(rows[KINDS * u + NEIGHBOURS, LENGTH] + rows[KINDS * u + PRIMARIES, LENGTH])


@kernel
def _cover_evenly(
    v: int,
    stamp: int,
    rest: Ints,
    pool: Ints,
    rows: Longs,
    free: Longs,
    counts: Longs,
    log: Longs,
    scratch: Ints,
    clock: Longs,
    random: Longs,
) -> None:
    """One set cover by the primal-dual method (Alg 12)."""
    chosen, weighed, weight = scratch[CHOSEN], scratch[WEIGHED], scratch[WEIGHT]
    clock[0] += 1
    fresh = np.int32(clock[0])
    n = len(rest)
    while n:
        topic = rest[drawn(random, n)]
        start = rows[KINDS * topic + SUBSCRIBERS, START]
        length = rows[KINDS * topic + SUBSCRIBERS, LENGTH]
        # The scan begins anywhere, so that equally light brokers take turns.
        first = drawn(random, length)
        best = np.int64(-1)
        for i in range(min(length, WINDOW)):
            u = pool[start + (first + i) % length]
            if chosen[u] == stamp:
                continue
            if weighed[u] != fresh:
                weighed[u] = fresh
                weight[u] = _weight(u, rows)
            if weight[u] > 0 and (best < 0 or weight[u] < weight[best]):
                best = u
        if best >= 0:
            lightest = weight[best]
            for i in range(min(length, WINDOW)):
                u = pool[start + (first + i) % length]
                if chosen[u] != stamp and weight[u] > 0:
                    weight[u] -= lightest
            _take(v, best, stamp, pool, rows, free, counts, log, scratch)
        left = 0
        for i in range(n):
            covered = rest[i] == topic if best < 0 else has_topic(best, rest[i], pool, rows)
            if not covered:
                rest[left] = rest[i]
                left += 1
        n = left


@kernel
def _cover_greedily(
    v: int,
    stamp: int,
    rest: Ints,
    pool: Ints,
    rows: Longs,
    free: Longs,
    counts: Longs,
    log: Longs,
    scratch: Ints,
    clock: Longs,
    random: Longs,
) -> None:
    """One set cover by the greedy method (Alg 11); ``WEIGHT`` counts the topics a candidate would cover."""
    chosen, counted, covers = scratch[CHOSEN], scratch[WEIGHED], scratch[WEIGHT]
    clock[0] += 1
    fresh = np.int32(clock[0])
    n = len(rest)
    looked = 0
    firsts = np.empty(n, np.int64)
    for i in range(n):
        length = rows[KINDS * rest[i] + SUBSCRIBERS, LENGTH]
        firsts[i] = drawn(random, length)
        looked += min(length, WINDOW)
    candidates = np.empty(looked, np.int32)
    found = 0
    for i in range(n):
        start = rows[KINDS * rest[i] + SUBSCRIBERS, START]
        length = rows[KINDS * rest[i] + SUBSCRIBERS, LENGTH]
        for j in range(min(length, WINDOW)):
            u = pool[start + (firsts[i] + j) % length]
            if chosen[u] == stamp:
                continue
            if counted[u] != fresh:
                counted[u] = fresh
                covers[u] = 0
                candidates[found] = u
                found += 1
            covers[u] += 1
    while n:
        best, best_weight, best_covers = np.int64(-1), 0, 1
        left = 0
        for i in range(found):
            u = candidates[i]
            if covers[u] <= 0 or chosen[u] == stamp:
                continue
            candidates[left] = u
            left += 1
            weight = _weight(u, rows)
            if best < 0 or weight * best_covers < best_weight * covers[u]:
                best, best_weight, best_covers = u, weight, covers[u]
        found = left
        if best < 0:
            return
        _take(v, best, stamp, pool, rows, free, counts, log, scratch)
        left = 0
        for i in range(n):
            if not has_topic(best, rest[i], pool, rows):
                rest[left], firsts[left] = rest[i], firsts[i]
                left += 1
                continue
            start = rows[KINDS * rest[i] + SUBSCRIBERS, START]
            length = rows[KINDS * rest[i] + SUBSCRIBERS, LENGTH]
            for j in range(min(length, WINDOW)):
                u = pool[start + (firsts[i] + j) % length]
                if counted[u] == fresh:
                    covers[u] -= 1
        n = left


@kernel
def stale_brokers(rows: Longs, slots: int, limit: int) -> Ints:
    """The first brokers whose backups want to be built anew."""
    found = np.empty(min(limit, slots), np.int32)
    n = 0
    for v in range(slots):
        if n == len(found):
            break
        if rows[KINDS * v + BACKUPS, FLAG]:
            found[n] = v
            n += 1
    return found[:n]


@kernel
def write_backups(pairs: Ints, pool: Ints, rows: Longs, free: Longs, counts: Longs, log: Longs) -> None:
    """Enter backups that were planned, rows (broker, backup); those brokers want none for now."""
    for i in range(len(pairs)):
        append(KINDS * pairs[i, 0] + BACKUPS, pairs[i, 1], pool, rows, free, counts, log)
        append(KINDS * pairs[i, 1] + PRIMARIES, pairs[i, 0], pool, rows, free, counts, log)
        put_row(KINDS * pairs[i, 0] + BACKUPS, FLAG, 0, rows, counts, log)
