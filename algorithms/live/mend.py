"""Mend: open links among candidates until every topic a change touched is connected (or 2-connected) again.

The rule is the papers' low-degree rule over a score: the best pair whose ends are below the maximum degree, unless the
best of all is worth more than rho times as much (low, Algorithm 1; shadow, Algorithm 2). A pair is worth, for each
touched topic in which it joins two components (in which no block holds both ends, for k = 2), that topic's weight,
times (1 + larger degree)^-delta. Weights 1 and delta 0 are the papers' contribution, and only touched topics
count; rho 1 is the best pair of all, lower degrees first where equal. No worth ever grows, so stored ones are upper
bounds and only pairs that look best are weighed again.

The maximum degree is that of the candidates: in an earlier trial it ended lower than with the overlay's own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from algorithms.interests import Ints, Longs
from algorithms.jit import kernel
from algorithms.live.alter import with_room
from algorithms.live.candidates import choose, label_column, release
from algorithms.live.regions import grow_regions, region_of
from algorithms.live.rows import KINDS, LENGTH, NEIGHBOURS, START, SUBSCRIBERS, are_linked, has_topic, link

Floats = NDArray[np.float64]


@kernel
def _worth(c: int, d: int, split: int, chosen: Ints, label: Ints, top: Ints, weight: Floats) -> float:
    worth = 0.0
    for s in range(split):
        x, y = label[c, s], label[d, s]
        if x != y and x >= 0 and y >= 0 and top[c, s] != chosen[d] and top[d, s] != chosen[c]:
            worth += weight[s]
    return worth


@kernel
def _degree(u: int, rows: Longs) -> int:
    return int(rows[KINDS * u + NEIGHBOURS, LENGTH])


@kernel
def _penalties(delta: float, degrees: int) -> Floats:
    """What a worth is multiplied by, for every larger degree of a pair below ``degrees``: a power takes longer than all else
    that is weighed of a pair."""
    penalties = np.ones(degrees)
    if delta:
        for degree in range(degrees):
            penalties[degree] = (1.0 + degree) ** -delta
    return penalties


@kernel
def mend(
    policy: int,
    k: int,
    cover: int,
    rho: float,
    alpha: float,
    delta: float,
    draws: int,
    most: int,
    grew: bool,
    topics: Ints,
    starts: Longs,
    seeds: Ints,
    newcomers: Ints,
    extras: Ints,
    pool: Ints,
    rows: Longs,
    free: Longs,
    counts: Longs,
    log: Longs,
    scratch: Ints,
    clock: Longs,
    random: Longs,
) -> tuple[Ints, Ints]:
    """Repair the topics; returns the links opened and, as rows (link, topic), what each was opened for.

    ``grew``: nothing was taken away, so one end of each link is a newcomer (Alg 3 and 10).
    """
    chosen = choose(
        policy, k, cover, draws, most, topics, starts, seeds, newcomers, extras, pool, rows, scratch, random
    )
    longest, widest = 2, 2
    for j in range(len(topics)):
        longest = max(longest, rows[KINDS * topics[j] + SUBSCRIBERS, LENGTH])
        widest = max(widest, starts[j + 1] - starts[j] + 1)
    above = np.empty(widest, np.int32)
    queue = np.empty((3, widest), np.int32)
    stack = np.empty((3, longest if k > 1 else 1), np.int32)
    is_new = np.zeros(len(chosen), np.bool_)
    by_topic = np.empty((2, len(chosen)), np.int32)
    label = np.empty((len(chosen), len(topics)), np.int32)
    top = np.empty((len(chosen), len(topics)), np.int32)
    column = np.empty(len(topics), np.int32)
    weight = np.empty(len(topics))
    pieces = np.empty(len(topics), np.int32)
    split = np.int64(0)
    for j in range(len(topics)):
        found = label_column(
            k,
            topics[j],
            seeds[starts[j] : starts[j + 1]],
            newcomers[j],
            chosen,
            by_topic[0],
            by_topic[1],
            pool,
            rows,
            scratch,
            clock,
            above,
            queue,
            stack,
        )
        for i in range(starts[j + 1] - newcomers[j], starts[j + 1]):
            if scratch[6, seeds[i]] >= 0:
                is_new[scratch[6, seeds[i]]] = True
        if found > 1:
            for c in range(len(chosen)):
                label[c, split] = by_topic[0, c]
                top[c, split] = by_topic[1, c] if k > 1 else -1
            column[split] = j
            pieces[split] = found
            weight[split] = float(rows[KINDS * topics[j] + SUBSCRIBERS, LENGTH]) ** -alpha
            split += 1
    opened = np.empty((16, 2), np.int32)
    served = np.empty((32, 2), np.int32)
    n, m = np.int64(0), np.int64(0)
    pair = np.empty((256, 2), np.int32)
    worth = np.empty(256)
    pairs = 0
    maximum = 0
    for c in range(len(chosen)):
        maximum = max(maximum, _degree(chosen[c], rows))
        for d in range(c + 1, len(chosen)):
            if grew and not is_new[c] and not is_new[d]:
                continue
            value = _worth(c, d, split, chosen, label, top, weight)
            if value <= 0:
                continue
            if pairs == len(worth):
                pair = with_room(pair, pairs)
                larger_worth = np.empty(2 * pairs)
                for p in range(pairs):
                    larger_worth[p] = worth[p]
                worth = larger_worth
            pair[pairs, 0], pair[pairs, 1], worth[pairs] = c, d, value
            pairs += 1
    penalties = _penalties(delta, maximum + 1)
    while pairs:
        best, best_worth, best_degree = -1, 0.0, 0
        low, low_worth, low_degree = -1, 0.0, 0
        left = 0
        for p in range(pairs):
            c, d, bound = int(pair[p, 0]), int(pair[p, 1]), worth[p]
            a, b = _degree(chosen[c], rows), _degree(chosen[d], rows)
            larger = max(a, b)
            penalty = penalties[larger]
            is_low = larger < maximum
            if bound * penalty >= best_worth or (is_low and bound * penalty >= low_worth):
                bound = _worth(c, d, split, chosen, label, top, weight)
                if bound <= 0:
                    continue
                # Of equal worth: the lower larger degree, then the lower sum.
                value, degree = bound * penalty, larger * 65536 + a + b
                if value > best_worth or (value == best_worth and degree < best_degree):
                    best, best_worth, best_degree = left, value, degree
                if is_low and (value > low_worth or (value == low_worth and degree < low_degree)):
                    low, low_worth, low_degree = left, value, degree
            pair[left, 0], pair[left, 1], worth[left] = c, d, bound
            left += 1
        pairs = left
        if best < 0:
            break
        taken = low if low >= 0 and rho * low_worth >= best_worth else best
        c, d = pair[taken, 0], pair[taken, 1]
        a, b = chosen[c], chosen[d]
        opened = with_room(opened, n)
        opened[n, 0], opened[n, 1] = a, b
        link(a, b, pool, rows, free, counts, log)
        maximum = max(maximum, _degree(a, rows), _degree(b, rows))
        if maximum >= len(penalties):
            penalties = _penalties(delta, 2 * maximum)
        for s in range(split):
            x, y = label[c, s], label[d, s]
            if x == y or x < 0 or y < 0 or top[c, s] == b or top[d, s] == a:
                continue
            served = with_room(served, m)
            served[m, 0], served[m, 1] = n, topics[column[s]]
            m += 1
            if k == 1:
                pieces[s] -= 1
                for e in range(len(chosen)):
                    if label[e, s] == y:
                        label[e, s] = x
                continue
            j = column[s]
            pieces[s] = label_column(
                k,
                topics[j],
                seeds[starts[j] : starts[j + 1]],
                newcomers[j],
                chosen,
                by_topic[0],
                by_topic[1],
                pool,
                rows,
                scratch,
                clock,
                above,
                queue,
                stack,
            )
            for e in range(len(chosen)):
                label[e, s] = by_topic[0, e] if pieces[s] > 1 else -1
                top[e, s] = by_topic[1, e]
        n += 1
    for s in range(split):
        if pieces[s] > 1:
            j = column[s]
            # Only where a hub had too many neighbours for all to be candidates.
            links = _finish(
                k,
                topics[j],
                seeds[starts[j] : starts[j + 1]],
                newcomers[j],
                pool,
                rows,
                free,
                counts,
                log,
                scratch,
                clock,
                above,
                queue,
            )
            for i in range(len(links)):
                opened = with_room(opened, n)
                served = with_room(served, m)
                opened[n, 0], opened[n, 1] = links[i, 0], links[i, 1]
                served[m, 0], served[m, 1] = n, topics[j]
                n += 1
                m += 1
    release(chosen, scratch)
    return opened[:n], served[:m]


@kernel
def _finish(
    k: int,
    topic: int,
    seeds: Ints,
    newcomers: int,
    pool: Ints,
    rows: Longs,
    free: Longs,
    counts: Longs,
    log: Longs,
    scratch: Ints,
    clock: Longs,
    above: Ints,
    queue: Ints,
) -> Ints:
    """Connect one topic by its seeds alone: a path over the components, or for k = 2 a cycle over all seeds.

    A cycle suffices: whoever else fails, every component left holds a seed, and what is left of the cycle joins them.
    """
    row = KINDS * topic + SUBSCRIBERS
    before = rows[row, LENGTH] - newcomers if newcomers == len(seeds) else 0
    # A topic that only grew: who was there before is k-connected, so k of them stand for all.
    knots = np.empty(len(seeds) + min(before, k), np.int32)
    n = 0
    for i in range(min(before, k)):
        knots[n] = pool[rows[row, START] + i]
        n += 1
    for u in seeds:
        fresh = has_topic(u, topic, pool, rows)
        for i in range(n):
            fresh = fresh and knots[i] != u
        if fresh:
            knots[n] = u
            n += 1
    if k == 1:
        old = knots[0] if before else -1
        grow_regions(topic, seeds, old, pool, rows, scratch, clock, above, queue)
        lightest = np.empty(len(above), np.int32)
        for r in range(len(lightest)):
            lightest[r] = -1
        for i in range(n):
            r = region_of(scratch[2, knots[i]], above)
            if lightest[r] < 0 or _degree(knots[i], rows) < _degree(lightest[r], rows):
                lightest[r] = knots[i]
        n = 0
        for u in lightest:
            if u >= 0:
                knots[n] = u
                n += 1
    links = np.empty((n, 2), np.int32)
    opened = 0
    for i in range(n if k > 1 and n > 2 else n - 1):
        a, b = knots[i], knots[(i + 1) % n]
        if not are_linked(a, b, pool, rows):
            link(a, b, pool, rows, free, counts, log)
            links[opened, 0], links[opened, 1] = a, b
            opened += 1
    return links[:opened]
