"""Repairs with a crowd of candidates: the leave of a hub, a failure of many, a batch of joins, by the shared engine.

:mod:`algorithms.live.mend` weighs all pairs of candidates again and again, which is quick for some hundreds of them. A
broker with thousands of neighbours leaves thousands of candidates behind; then they, with the topics that came apart,
are interests of their own, seeded with the components of the moment, and the engine that builds overlays connects them.
The rule stays: low degree with rho for shadow and naive; for weave the score, with the penalty for high degrees. For
k = 1 only, because blocks of a topic cannot be told from some of its subscribers.
"""

from __future__ import annotations

import numpy as np

from algorithms.engine import Rows, connect_low_degree
from algorithms.engine.weighted import connect_weighted
from algorithms.engine.weights import Weights
from algorithms.interests import Ints, Longs
from algorithms.jit import kernel
from algorithms.live.alter import swap_links, with_room
from algorithms.live.candidates import PLACE, choose, release
from algorithms.live.plan import STRATEGIES, Policy
from algorithms.live.regions import MEMBER, REACHED, REGION, grow_regions, region_of
from algorithms.live.rows import KINDS, LENGTH, NEIGHBOURS, START, SUBSCRIBERS
from algorithms.live.state import State

ALL = 1 << 30
BETA = 0.5
"""weave: small components first, as in a build."""
MOST_DELTA = 0.1
"""weave: the most that a high degree counts against a link here. Among thousands of candidates someone is light enough
anyway: after the leave of a hub of 11,836 links delta 0.5 opens 36,193, delta 0.1 31,484, GM 32,140."""
NOTES_A_LINK = 8
"""Writes that opening a link takes, about; more room is made where that is too few."""


def mend_crowd(
    state: State,
    policy: Policy,
    topics: Ints,
    starts: Longs,
    seeds: Ints,
    newcomers: Ints,
    extras: Ints,
    draws: int,
    random: Longs,
) -> tuple[Ints, Ints]:
    """Repair the topics as :func:`algorithms.live.mend.mend` does, among any number of candidates."""
    chosen = choose(
        STRATEGIES[policy.strategy],
        1,
        policy.lambda_,
        draws,
        ALL,
        topics,
        starts,
        seeds,
        newcomers,
        extras,
        state.pool,
        state.rows,
        state.scratch,
        random,
    )
    found = _stand(topics, starts, seeds, newcomers, state.pool, state.rows, state.scratch, state.clock)
    release(chosen, state.scratch)
    found = found[np.argsort(found[:, 0], kind="stable")]
    row_start = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(np.bincount(found[:, 0], minlength=len(chosen)), out=row_start[1:])
    rows = Rows(row_start, np.ascontiguousarray(found[:, 1]), len(topics))
    group = np.ascontiguousarray(found[:, 2])
    degrees = state.rows[NEIGHBOURS::KINDS, LENGTH][chosen].astype(np.int32)
    seed = int(random[0])
    if policy.strategy == "weave":
        accepted = connect_weighted(
            rows,
            Weights(policy.alpha, BETA, min(policy.delta, MOST_DELTA)),
            seed=seed,
            group=group,
            degrees=degrees,
            topic_sizes=state.rows[SUBSCRIBERS::KINDS, LENGTH][topics],
        )
    else:
        accepted = connect_low_degree(rows, rho=policy.rho, seed=seed, group=group, degrees=degrees)
    opened = chosen[accepted.links]
    state.make_log_room(NOTES_A_LINK * len(opened))
    swap_links(opened, np.empty((0, 2), np.int32), *state.arrays)
    served = _served(accepted.links, row_start, rows.broker_topics, group, starts)
    served[:, 1] = topics[served[:, 1]]
    return opened, served


@kernel
def _stand(
    topics: Ints,
    starts: Longs,
    seeds: Ints,
    newcomers: Ints,
    pool: Ints,
    rows: Longs,
    scratch: Ints,
    clock: Longs,
) -> Ints:
    """Where the candidates stand in each topic that came apart: rows (place of the candidate, topic, component)."""
    widest = 2
    for j in range(len(topics)):
        widest = max(widest, starts[j + 1] - starts[j] + 1)
    above = np.empty(widest, np.int32)
    queue = np.empty((3, widest), np.int32)
    found = np.empty((64, 3), np.int32)
    n = np.int64(0)
    for j in range(len(topics)):
        row = KINDS * topics[j] + SUBSCRIBERS
        some = seeds[starts[j] : starts[j + 1]]
        old = np.int64(-1)
        if newcomers[j] == len(some) and rows[row, LENGTH] > newcomers[j]:
            old = np.int64(pool[rows[row, START]])
        pieces, rest, stamp = grow_regions(topics[j], some, old, pool, rows, scratch, clock, above, queue)
        if pieces < 2:
            continue
        for at in range(rows[row, START], rows[row, START] + rows[row, LENGTH]):
            u = pool[at]
            if scratch[PLACE, u] >= 0 and scratch[MEMBER, u] == stamp:
                found = with_room(found, n)
                found[n, 0], found[n, 1] = scratch[PLACE, u], j
                found[n, 2] = region_of(scratch[REGION, u], above) if scratch[REACHED, u] == stamp else rest
                n += 1
    return found[:n]


@kernel
def _served(links: Ints, row_start: Longs, row_topic: Ints, group: Ints, starts: Longs) -> Ints:
    """Rows (link, topic it connects), by joining the components again in the order of the links.

    A topic has at most one component more than seeds, so ``starts[t] + t + component`` numbers all of them.
    """
    above = np.arange(starts[-1] + len(starts)).astype(np.int32)
    served = np.empty((64, 2), np.int32)
    n = np.int64(0)
    for i in range(len(links)):
        a, b = row_start[links[i, 0]], row_start[links[i, 1]]
        end_a, end_b = row_start[links[i, 0] + 1], row_start[links[i, 1] + 1]
        while a < end_a and b < end_b:
            t = row_topic[a]
            if t < row_topic[b]:
                a += 1
            elif t > row_topic[b]:
                b += 1
            else:
                x = region_of(np.int32(starts[t] + t + group[a]), above)
                y = region_of(np.int32(starts[t] + t + group[b]), above)
                if x != y:
                    above[x] = y
                    served = with_room(served, n)
                    served[n, 0], served[n, 1] = i, t
                    n += 1
                a += 1
                b += 1
    return served[:n]
