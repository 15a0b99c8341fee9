"""Low degree over the weighted score: Low-ODA's rule with a score for a contribution.

The best pair that does not raise the maximum degree becomes a link, unless the best of all scores more than rho times as
much. Pairs with an end of maximum degree are put aside, and come back when the maximum rises. Two scores within one level
count as equal. Here pairs that join one topic count like any other, because one of them may be the best that raises
nothing; so this takes longer than weave without rho.
"""

from __future__ import annotations

import numpy as np

from algorithms.engine.band import Band
from algorithms.engine.entries import SPENT, TOP, append
from algorithms.engine.run import Accepted, Limits, Rows
from algorithms.engine.weighted import accept_scored, score_of
from algorithms.engine.weighted_band import WeightedPass
from algorithms.engine.weighted_run import WeightedRun
from algorithms.engine.weights import TERMS, Weights, least_score, level_of, weigh_score
from algorithms.interests import Interests, Ints, Longs
from algorithms.jit import kernel
from algorithms.progress import Progress, silent
from algorithms.workloads import Floats

BLOCKED, MAXIMUM = 5, 6
"""Places in the ``cursor``: highest level of pairs put aside, maximum degree of the overlay."""


def connect_weighted_low_degree(
    interests: Interests | Rows,
    weights: Weights,
    rho: float,
    *,
    seed: int = 0,
    limits: Limits | None = None,
    progress: Progress = silent,
    linked_before: Ints | None = None,
) -> Accepted:
    """Connect every topic by low degree over the score; the rest as :func:`connect_weighted`."""
    run = WeightedRun(
        interests,
        weights,
        seed=seed,
        limits=limits or Limits(),
        report=progress,
        linked_before=linked_before,
    )
    ceiling = run.most_level
    while ceiling > 0 and len(run.components.apart):
        scoring = WeightedPass(run, ceiling, width=rho * (1 + 2.0**-weights.bits), least_terms=1)
        left = 0
        while not scoring.complete:
            found = scoring.next_band()
            # Where the memory does not hold a band wide enough for the rule, the best of it is the best known.
            hold = found.lowest > 1 and scoring.complete and scoring.is_wide
            left = max(left, work_off(run, found, rho, hold=hold))
        ceiling = max(scoring.level - 1, left)
        run.compact()
    run.done("joining components")
    return run.accepted()


def work_off(run: WeightedRun, found: Band, rho: float, *, hold: bool) -> int:
    """Accept the links of a band by low degree; returns the highest level of pairs that are left to the next.

    ``hold``: a pair below the band may be what the rule wants, so pairs it could compete with are left.
    """
    c = run.components
    run.cursor[TOP] = found.highest
    run.cursor[BLOCKED] = 0
    run.cursor[MAXIMUM] = run.all_degrees().max(initial=0)
    blocked_head, blocked_tail = np.full((2, len(found.head)), -1, np.int32)
    while not _take_low_degree(
        run.cursor,
        run.limits.steps,
        found.lowest,
        rho,
        hold,
        run.weights.bits,
        run.bonus,
        c.row_start,
        c.row_topic,
        c.label,
        c.ring,
        c.size,
        c.apart,
        run.unit,
        run.decay,
        run.worth,
        run.kept_start,
        run.kept,
        run.kept_first,
        run.degree,
        run.penalty,
        run.mark,
        found.first,
        found.second,
        found.following,
        found.head,
        found.tail,
        blocked_head,
        blocked_tail,
        run.links,
        run.gains,
    ):
        run.done("joining components")
    return int(run.cursor[BLOCKED])


@kernel
def _take_low_degree(
    cursor: Longs,
    budget: int,
    lowest: int,
    rho: float,
    hold: bool,
    bits: int,
    bonus: float,
    row_start: Longs,
    row_topic: Ints,
    label: Ints,
    ring: Ints,
    size: Ints,
    apart: Ints,
    unit: Floats,
    decay: Floats,
    worth: Ints,
    kept_start: Longs,
    kept: Ints,
    kept_first: Longs,
    degree: Ints,
    penalty: Floats,
    mark: Ints,
    first: Ints,
    second: Ints,
    following: Ints,
    free_head: Ints,
    free_tail: Ints,
    blocked_head: Ints,
    blocked_tail: Ints,
    links: Ints,
    gains: Ints,
) -> bool:
    """Accept links of a band; False when ``budget`` steps ran out before the end.

    Entries wait in one queue a level, those with an end of maximum degree put aside in another, until the maximum
    rises. Per step: the best free entry competes with the best one put aside, each weighed again first.
    """
    entry = v = w = packed = 0
    while True:
        while cursor[TOP] >= lowest and free_head[cursor[TOP]] < 0:
            cursor[TOP] -= 1
        while cursor[BLOCKED] >= lowest and blocked_head[cursor[BLOCKED]] < 0:
            cursor[BLOCKED] -= 1
        free, aside = cursor[TOP], cursor[BLOCKED]
        if free < lowest and aside < lowest:
            cursor[BLOCKED] = 0
            return True
        if budget <= 0:
            return False
        budget -= 1
        rival = 0
        if free >= lowest:
            entry = free_head[free]
            v, w = first[entry], second[entry]
            larger = max(degree[v], degree[w])
            if larger >= cursor[MAXIMUM] > 0:
                free_head[free] = following[entry]
                append(entry, free, blocked_head, blocked_tail, following)
                cursor[BLOCKED] = max(aside, free)
                continue
            packed = weigh_score(v, w, False, cursor, row_start, row_topic, label, worth, mark)
            cursor[SPENT] += 1
            rival = score_of(packed, v, w, larger, bonus, kept_start, kept, kept_first, penalty)
            now = level_of(rival, bits)
            if packed == 0 or now < free:
                free_head[free] = following[entry]
                if packed and now >= lowest:
                    append(entry, now, free_head, free_tail, following)
                continue
        elif hold:
            rival = least_score(lowest, bits)
            if least_score(aside + 1, bits) - 1 <= rho * rival:
                return True
        if aside >= lowest and least_score(aside + 1, bits) - 1 > rho * rival:
            other = blocked_head[aside]
            x, y = first[other], second[other]
            larger = max(degree[x], degree[y])
            sum_aside = weigh_score(x, y, False, cursor, row_start, row_topic, label, worth, mark)
            cursor[SPENT] += 1
            score = score_of(sum_aside, x, y, larger, bonus, kept_start, kept, kept_first, penalty)
            now = level_of(score, bits)
            if sum_aside == 0 or now < aside:
                blocked_head[aside] = following[other]
                if sum_aside and now >= lowest:
                    append(other, now, blocked_head, blocked_tail, following)
                continue
            if score > rho * rival or free < lowest:
                blocked_head[aside] = following[other]
                entry, v, w, packed = other, x, y, sum_aside
            else:
                free_head[free] = following[entry]
        else:
            free_head[free] = following[entry]
        accept_scored(
            v,
            w,
            packed & ((1 << TERMS) - 1),
            cursor,
            row_start,
            row_topic,
            label,
            ring,
            size,
            apart,
            unit,
            decay,
            worth,
            degree,
            mark,
            links,
            gains,
        )
        if max(degree[v], degree[w]) > cursor[MAXIMUM]:
            cursor[MAXIMUM] = max(degree[v], degree[w])
            for level in range(lowest, aside + 1):
                while blocked_head[level] >= 0:
                    entry = blocked_head[level]
                    blocked_head[level] = following[entry]
                    append(entry, level, free_head, free_tail, following)
            cursor[TOP] = max(free, aside)
            cursor[BLOCKED] = 0
