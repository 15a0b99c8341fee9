"""The rule "largest contribution": work a band off from the top level down, lazily.

An entry's level is an upper bound of its contribution, which never grows. So an entry at the top is weighed again: if
its level still stands it is the best pair there is and becomes a link; else it moves down to its true level, or out of
the band. Inside a level a second lazy queue orders the entries by their key: the larger degree of the two ends (which
only grows, so a key is a lower bound), a random number, or nothing.
"""

from __future__ import annotations

import numpy as np

from algorithms.engine.band import Band, Pass
from algorithms.engine.entries import KEY, SPENT, TOP, accept, append, weigh
from algorithms.engine.queues import RANDOM_KEYS, next_entry, open_level
from algorithms.engine.run import Accepted, Limits, Rows, Run
from algorithms.engine.trees import TIES_RANDOM, Ties, finish, ties_code
from algorithms.interests import Interests, Ints, Longs
from algorithms.jit import kernel
from algorithms.progress import Progress, silent


def connect_largest(
    interests: Interests | Rows,
    *,
    ties: Ties = "degree",
    seed: int = 0,
    limits: Limits | None = None,
    progress: Progress = silent,
    group: Ints | None = None,
    barred: Ints | None = None,
    degrees: Ints | None = None,
) -> Accepted:
    """Connect every topic by the rule "largest contribution".

    ``group``: subscriptions (broker by broker) of a topic with the same number are connected already; ``barred``: pairs
    of brokers that may not be linked; ``degrees``: links each broker has before.
    """
    run = Run(
        interests,
        seed=seed,
        limits=limits or Limits(),
        report=progress,
        group=group,
        barred=barred,
        degrees=degrees,
    )
    take_largest(run, ties_code(ties))
    return run.accepted()


def take_largest(run: Run, ties: int) -> None:
    """The rule "largest contribution" to the end: GM, and the merges when the components are seeded with parts."""
    c = run.components
    ceiling = int(c.row_start[1]) if len(c.broker) else 0
    while ceiling > 1 and len(run.components.apart):
        counting = Pass(run, ceiling)
        while not counting.complete:
            work_off(run, counting.next_band(), ties)
        ceiling = counting.level - 1
        run.compact()
    finish(run, ties)


def work_off(run: Run, found: Band, ties: int) -> None:
    """Accept the links of a band."""
    c = run.components
    keys = RANDOM_KEYS if ties == TIES_RANDOM else int(run.degree.max(initial=0)) + len(c.broker)
    key_head, key_tail = np.full((2, keys + 1), -1, np.int32)
    run.cursor[TOP] = found.highest
    run.cursor[KEY] = -1
    while not _take_from_band(
        run.cursor,
        run.limits.steps,
        found.lowest,
        ties,
        run.seed,
        c.row_start,
        c.row_topic,
        c.label,
        c.ring,
        c.size,
        c.apart,
        run.degree,
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
def _take_from_band(
    cursor: Longs,
    budget: int,
    lowest: int,
    ties: int,
    seed: int,
    row_start: Longs,
    row_topic: Ints,
    label: Ints,
    ring: Ints,
    size: Ints,
    apart: Ints,
    degree: Ints,
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
    key; ``mark`` is scratch, one place a topic, all -1; accepted links are rows, in order.
    """
    while cursor[TOP] >= lowest:
        level = cursor[TOP]
        open_level(
            level, ties, seed, cursor, degree, first, second, following, level_head, key_head, key_tail
        )
        while True:
            if budget <= 0:
                return False
            budget -= 1
            entry = next_entry(ties, cursor, degree, first, second, following, key_head, key_tail)
            if entry < 0:
                break
            after = following[entry]
            v = first[entry]
            w = second[entry]
            again = after >= 0 and first[after] == v
            contribution = weigh(v, w, again, cursor, row_start, row_topic, label, mark)
            cursor[SPENT] += 1
            if contribution == level:
                accept(
                    v,
                    w,
                    level,
                    cursor,
                    row_start,
                    row_topic,
                    label,
                    ring,
                    size,
                    apart,
                    degree,
                    mark,
                    links,
                    gains,
                )
            elif contribution >= lowest:
                append(entry, contribution, level_head, level_tail, following)
        cursor[TOP] = level - 1
        cursor[KEY] = -1
    return True
