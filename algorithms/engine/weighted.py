"""The rule "largest weighted score": work a band off from the top level down, lazily.

The loop is that of :mod:`algorithms.engine.largest` with a level of scores for a contribution. Inside a level the pair
with the lowest larger degree comes first. A link is within one level of the best score at its step; pairs that would
join one topic only wait for the trees at the end.
"""

from __future__ import annotations

import numpy as np

from algorithms.engine.band import Band
from algorithms.engine.components import clear_mark
from algorithms.engine.entries import KEY, MARKED, SPENT, TOP, append, write_link
from algorithms.engine.queues import next_entry, open_level
from algorithms.engine.run import Accepted, Limits, Rows
from algorithms.engine.trees import TIES_DEGREE, finish
from algorithms.engine.weighted_band import WeightedPass
from algorithms.engine.weighted_run import WeightedRun
from algorithms.engine.weights import TERMS, Weights, level_of, link_rows, raised, weigh_score
from algorithms.interests import Interests, Ints, Longs
from algorithms.jit import kernel
from algorithms.progress import Progress, silent
from algorithms.workloads import Floats


def connect_weighted(
    interests: Interests | Rows,
    weights: Weights,
    *,
    seed: int = 0,
    limits: Limits | None = None,
    progress: Progress = silent,
    group: Ints | None = None,
    degrees: Ints | None = None,
    topic_sizes: Longs | None = None,
    linked_before: Ints | None = None,
) -> Accepted:
    """Connect every topic by the rule "largest weighted score".

    ``group``: subscriptions (broker by broker) of a topic with the same number are connected already; ``degrees``:
    links each broker has before; ``topic_sizes``: n_t, where it is not the number of subscribers given;
    ``linked_before``: pairs whose score is raised by up to ``weights.keep``.
    """
    run = WeightedRun(
        interests,
        weights,
        seed=seed,
        limits=limits or Limits(),
        report=progress,
        group=group,
        degrees=degrees,
        topic_sizes=topic_sizes,
        linked_before=linked_before,
    )
    ceiling = run.most_level
    while ceiling > 0 and len(run.components.apart):
        scoring = WeightedPass(run, ceiling)
        while not scoring.complete:
            work_off(run, scoring.next_band())
        ceiling = scoring.level - 1
        run.compact()
    c = run.components
    if len(run.kept):
        # Any tree does as well as another now, so the links of before come first.
        _take_kept(
            run.cursor,
            c.row_start,
            c.row_topic,
            c.label,
            c.ring,
            c.size,
            c.apart,
            run.unit,
            run.decay,
            run.worth,
            run.degree,
            run.mark,
            run.links,
            run.gains,
            run.kept_start,
            run.kept,
        )
    finish(run, TIES_DEGREE)
    return run.accepted()


def work_off(run: WeightedRun, found: Band) -> None:
    """Accept the links of a band."""
    c = run.components
    keys = int(run.degree.max(initial=0)) + len(c.broker)
    key_head, key_tail = np.full((2, keys + 1), -1, np.int32)
    run.cursor[TOP] = found.highest
    run.cursor[KEY] = -1
    while not _take_from_band(
        run.cursor,
        run.limits.steps,
        found.lowest,
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
        key_head,
        key_tail,
        run.links,
        run.gains,
    ):
        run.done("joining components")


@kernel
def score_of(
    packed: int,
    v: int,
    w: int,
    larger: int,
    bonus: float,
    kept_start: Longs,
    kept: Ints,
    kept_first: Longs,
    penalty: Floats,
) -> int:
    """The score of a pair of rows from its packed sum and the larger degree of the two."""
    score = packed >> TERMS
    for k in range(kept_start[v], kept_start[v + 1]):
        if kept[k] == w:
            score = raised(score, kept_first[k], bonus)
    if len(penalty) > 1:
        score = int(score * penalty[larger])
    return score


@kernel
def accept_scored(
    v: int,
    w: int,
    terms: int,
    cursor: Longs,
    row_start: Longs,
    row_topic: Ints,
    label: Ints,
    ring: Ints,
    size: Ints,
    apart: Ints,
    unit: Floats,
    decay: Floats,
    worth: Ints,
    degree: Ints,
    mark: Ints,
    links: Ints,
    gains: Ints,
) -> None:
    """Make a pair of rows a link: join components, raise degrees, write it down."""
    marked = cursor[MARKED] == v
    if not marked and cursor[MARKED] >= 0:
        # The link may relabel components of the marked row.
        clear_mark(cursor[MARKED], row_start, row_topic, mark)
        cursor[MARKED] = -1
    link_rows(v, w, marked, row_start, row_topic, label, ring, size, apart, mark, unit, decay, worth)
    write_link(v, w, terms, cursor, degree, links, gains)


@kernel
def _take_kept(
    cursor: Longs,
    row_start: Longs,
    row_topic: Ints,
    label: Ints,
    ring: Ints,
    size: Ints,
    apart: Ints,
    unit: Floats,
    decay: Floats,
    worth: Ints,
    degree: Ints,
    mark: Ints,
    links: Ints,
    gains: Ints,
    kept_start: Longs,
    kept: Ints,
) -> None:
    """Take every link of before that still joins a topic; for when no pair joins more than one."""
    for v in range(len(kept_start) - 1):
        for k in range(kept_start[v], kept_start[v + 1]):
            again = k + 1 < kept_start[v + 1]
            if weigh_score(v, kept[k], again, cursor, row_start, row_topic, label, worth, mark):
                accept_scored(
                    v,
                    kept[k],
                    1,
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


@kernel
def _take_from_band(
    cursor: Longs,
    budget: int,
    lowest: int,
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
    level_head: Ints,
    level_tail: Ints,
    key_head: Ints,
    key_tail: Ints,
    links: Ints,
    gains: Ints,
) -> bool:
    """Accept links from level ``cursor[TOP]`` down to ``lowest``; False when ``budget`` steps ran out before.

    ``first``, ``second`` and ``following`` are the band's entries, queued by level and, within the level at work, by
    the larger degree of the two ends; ``mark`` is scratch, one place a topic, all -1; accepted links are rows, in order.
    """
    while cursor[TOP] >= lowest:
        level = cursor[TOP]
        open_level(
            level, TIES_DEGREE, 0, cursor, degree, first, second, following, level_head, key_head, key_tail
        )
        while True:
            if budget <= 0:
                return False
            budget -= 1
            entry = next_entry(TIES_DEGREE, cursor, degree, first, second, following, key_head, key_tail)
            if entry < 0:
                break
            after = following[entry]
            v = first[entry]
            w = second[entry]
            larger = max(degree[v], degree[w])
            again = after >= 0 and first[after] == v
            packed = weigh_score(v, w, again, cursor, row_start, row_topic, label, worth, mark)
            cursor[SPENT] += 1
            terms = packed & ((1 << TERMS) - 1)
            if terms < 2:
                continue
            now = level_of(score_of(packed, v, w, larger, bonus, kept_start, kept, kept_first, penalty), bits)
            if now == level:
                accept_scored(
                    v,
                    w,
                    terms,
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
            elif now >= lowest:
                append(entry, now, level_head, level_tail, following)
        cursor[TOP] = level - 1
        cursor[KEY] = -1
    return True
