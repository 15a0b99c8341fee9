"""Who may get a new link in a repair, and where each of them stands in every topic that came apart.

Always candidates: the former neighbours and the newcomers, of which links alone suffice. Beyond these each policy has
its own: the backups of who came or went (shadow, Alg 7 and 10), everybody (naive, Alg 3-4), or a few random
subscribers of the topics (weave). A newcomer's topic has at least lambda candidates among those who were there before,
as far as it has so many: where backups are stale or too few, light subscribers stand in.
"""

from __future__ import annotations

import numpy as np

from algorithms.interests import Ints, Longs
from algorithms.jit import kernel
from algorithms.live.regions import grow_regions, region_of
from algorithms.live.rows import KINDS, LENGTH, NEIGHBOURS, START, SUBSCRIBERS, drawn, has_topic
from algorithms.live.topic_blocks import BLOCK, TOP_OF, find_blocks

SHADOW, NAIVE, WEAVE = 0, 1, 2
PLACE, COLUMN = 6, 7
"""Rows of scratch, -1 between calls: broker -> its place among the candidates; topic -> its place in a list."""

STRETCH = 64
"""How many subscribers are looked at to find a light one."""


@kernel
def gather(former: Ints, added: Ints, rows: Longs, scratch: Ints) -> tuple[Ints, Longs, Ints, Ints]:
    """The topics a change touched, and for each its seeds: former neighbours first, then newcomers.

    Returns topics, the start of each one's seeds, the seeds, and how many of them (the last ones) are newcomers. Topics
    with fewer than two subscribers are connected whatever happens, and left out.
    """
    column = scratch[COLUMN]
    topics = np.empty(len(former) + len(added), np.int32)
    n = 0
    for i in range(len(topics)):
        t = former[i, 0] if i < len(former) else added[i - len(former), 1]
        if column[t] < 0 and rows[KINDS * t + SUBSCRIBERS, LENGTH] > 1:
            column[t] = n
            topics[n] = t
            n += 1
    topics = topics[:n]
    starts = np.zeros(n + 1, np.int64)
    newcomers = np.zeros(n, np.int32)
    for i in range(len(former)):
        if column[former[i, 0]] >= 0:
            starts[column[former[i, 0]] + 1] += 1
    for i in range(len(added)):
        if column[added[i, 1]] >= 0:
            starts[column[added[i, 1]] + 1] += 1
            newcomers[column[added[i, 1]]] += 1
    for j in range(n):
        starts[j + 1] += starts[j]
    seeds = np.empty(starts[n], np.int32)
    filled = starts[:-1].copy()
    for i in range(len(former)):
        j = column[former[i, 0]]
        if j >= 0:
            seeds[filled[j]] = former[i, 1]
            filled[j] += 1
    for i in range(len(added)):
        j = column[added[i, 1]]
        if j >= 0:
            seeds[filled[j]] = added[i, 0]
            filled[j] += 1
    for t in topics:
        column[t] = -1
    return topics, starts, seeds, newcomers


@kernel
def _add(u: int, most: int, chosen: Ints, n: int, place: Ints) -> int:
    if place[u] < 0 and n < most:
        place[u] = n
        chosen[n] = u
        n += 1
    return n


@kernel
def choose(
    policy: int,
    k: int,
    cover: int,
    draws: int,
    most: int,
    topics: Ints,
    starts: Longs,
    seeds: Ints,
    newcomers: Ints,
    extras: Ints,
    pool: Ints,
    rows: Longs,
    scratch: Ints,
    random: Longs,
) -> Ints:
    """At most so many candidates (naive: any number), seeds first; :func:`release` forgets their places."""
    place = scratch[PLACE]
    bound = len(seeds) + len(extras) + draws + len(topics) * (max(cover, k) + 3)
    if policy == NAIVE:
        for t in topics:
            bound += rows[KINDS * t + SUBSCRIBERS, LENGTH]
        most = bound
    chosen = np.empty(min(bound, most), np.int32)
    most = len(chosen)
    n = np.int64(0)
    for j in range(len(topics)):
        for i in range(starts[j], starts[j + 1]):
            if has_topic(seeds[i], topics[j], pool, rows):
                n = _add(seeds[i], most, chosen, n, place)
    for u in extras:
        n = _add(u, most, chosen, n, place)
    # Topics that may have come apart: one seed alone means that nobody lost a link it could have been needed for.
    maybe = 0
    for j in range(len(topics)):
        if starts[j + 1] - starts[j] > 1 or newcomers[j]:
            maybe += 1
            if policy == NAIVE or rows[KINDS * topics[j] + SUBSCRIBERS, LENGTH] <= k + 1:
                start = rows[KINDS * topics[j] + SUBSCRIBERS, START]
                for at in range(start, start + rows[KINDS * topics[j] + SUBSCRIBERS, LENGTH]):
                    n = _add(pool[at], most, chosen, n, place)
    if policy == WEAVE and maybe:
        for _ in range(draws):
            j = drawn(random, len(topics))
            if starts[j + 1] - starts[j] > 1 or newcomers[j]:
                row = KINDS * topics[j] + SUBSCRIBERS
                u = pool[rows[row, START] + drawn(random, rows[row, LENGTH])]
                n = _add(u, most, chosen, n, place)
    for j in range(len(topics)):
        if newcomers[j] and policy != NAIVE:
            n = _stand_in(
                max(cover, k),
                topics[j],
                seeds[starts[j + 1] - newcomers[j] : starts[j + 1]],
                chosen,
                n,
                most,
                pool,
                rows,
                scratch,
                random,
            )
    return chosen[:n]


@kernel
def _stand_in(
    wanted: int,
    topic: int,
    newcomers: Ints,
    chosen: Ints,
    n: int,
    most: int,
    pool: Ints,
    rows: Longs,
    scratch: Ints,
    random: Longs,
) -> int:
    """Add light subscribers of a topic until so many candidates were subscribed to it before."""
    start = rows[KINDS * topic + SUBSCRIBERS, START]
    length = rows[KINDS * topic + SUBSCRIBERS, LENGTH]
    # Newcomers were appended last, so who was there before stands in front.
    before = length - len(newcomers)
    wanted = min(wanted, before)
    place = scratch[PLACE]
    have = -len(newcomers)
    for c in range(n):
        if has_topic(chosen[c], topic, pool, rows):
            have += 1
            if have == wanted:
                return n
    while have < wanted:
        first = drawn(random, before)
        best = np.int64(-1)
        for i in range(before):
            u = pool[start + (first + i) % before]
            if place[u] < 0 and (
                best < 0 or rows[KINDS * u + NEIGHBOURS, LENGTH] < rows[KINDS * best + NEIGHBOURS, LENGTH]
            ):
                best = u
            if i >= STRETCH and best >= 0:
                break
        if best < 0 or n == most:
            return n
        n = _add(best, most, chosen, n, place)
        have += 1
    return n


@kernel
def release(chosen: Ints, scratch: Ints) -> None:
    """Forget the places of the candidates."""
    for u in chosen:
        scratch[PLACE, u] = -1


@kernel
def label_column(
    k: int,
    topic: int,
    seeds: Ints,
    newcomers: int,
    chosen: Ints,
    label: Ints,
    top: Ints,
    pool: Ints,
    rows: Longs,
    scratch: Ints,
    clock: Longs,
    above: Ints,
    queue: Ints,
    stack: Ints,
) -> int:
    """Where each candidate stands in a topic: its component (k = 1) or parent block and that block's top (k = 2).

    ``label`` is -1 for who does not subscribe, ``top`` -1 for who has no top. Returns the number of components, or of
    blocks: 1 when there is nothing to repair.
    """
    if k > 1:
        pieces, stamp = find_blocks(topic, pool, rows, scratch, clock, stack)
        if pieces > 1:
            for c in range(len(chosen)):
                inside = scratch[0, chosen[c]] == stamp
                label[c] = scratch[BLOCK, chosen[c]] if inside else -1
                top[c] = scratch[TOP_OF, chosen[c]] if inside else -1
        return int(pieces)
    old = -1
    row = KINDS * topic + SUBSCRIBERS
    if newcomers == len(seeds) and rows[row, LENGTH] > newcomers:
        old = pool[rows[row, START]]
    pieces, rest, stamp = grow_regions(topic, seeds, old, pool, rows, scratch, clock, above, queue)
    if pieces > 1:
        for c in range(len(chosen)):
            u = chosen[c]
            if scratch[0, u] != stamp:
                label[c] = -1
            else:
                label[c] = region_of(scratch[2, u], above) if scratch[1, u] == stamp else rest
    return int(pieces)
