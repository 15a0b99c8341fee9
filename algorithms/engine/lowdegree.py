"""The rule "low degree": the best link that does not raise the maximum degree, unless the best of all is far better.

Take the best pair whose ends both have a degree below the maximum (e1) if rho times its contribution is at least that
of the best pair of all (e2); else take e2 (low, Algorithm 1; an infinite rho is MinMax-ODA). When no pair avoids
raising the maximum, e1 and e2 coincide.

The band's entries are queued by level, in two queues each: ``open``, and ``full`` for pairs with an end at the maximum
degree, which move there unweighed when they surface and all come back when the maximum grows. The best full pair need
be known only where it could beat e1, so full pairs are weighed only above rho times e1's contribution.
"""

from __future__ import annotations

import numpy as np

from algorithms.engine.band import Band, Pass
from algorithms.engine.entries import ACCEPTED, SPENT, accept, append, weigh
from algorithms.engine.run import Accepted, Limits, Rows, Run
from algorithms.engine.trees import TIES_DEGREE, Trees, finish
from algorithms.interests import Interests, Ints, Longs
from algorithms.jit import kernel
from algorithms.progress import Progress, silent

MAXIMUM, BEYOND, UNSEEN, OPEN_TOP, FULL_TOP, PARTIAL = 0, 1, 2, 3, 4, 5
"""Places in ``low``: the maximum degree; a bound on the contribution of open pairs in no queue, and of any pair in no
queue; bounds on the highest level in use of either kind of queue; whether open pairs above ``BEYOND`` are known only
in part, so that the rest must be asked for when those in the queues are used up."""

OUT_OF_STEPS, ASK_OPEN, ASK_ALL = 0, 1, 2
"""Why the kernel returned: its steps ran out; it must know open pairs of contribution ``BEYOND`` and less; it must know
pairs of all kinds below the band."""


UNBOUNDED = 1e18
"""A rho that no contribution exceeds, and that times 0 is still 0."""

WORTH_A_PASS = 16
"""Counting open pairs anew under each maximum degree pays while there is a link to accept for every so many open rows;
else a wider band serves longer (on interests with hubs, whose maximum grows a thousand times)."""


def connect_low_degree(
    interests: Interests | Rows,
    *,
    rho: float,
    seed: int = 0,
    limits: Limits | None = None,
    progress: Progress = silent,
    group: Ints | None = None,
    barred: Ints | None = None,
    degrees: Ints | None = None,
) -> Accepted:
    """Connect every topic by the rule "low degree"; the other parameters are those of ``connect_largest``."""
    run = Run(
        interests,
        seed=seed,
        limits=limits or Limits(),
        report=progress,
        group=group,
        barred=barred,
        degrees=degrees,
    )
    take_low_degree(run, rho)
    return run.accepted()


def take_low_degree(run: Run, rho: float) -> None:
    """The rule to the end: bands of the best pairs of all, each worked off until more must be known."""
    c = run.components
    ceiling = int(c.row_start[1]) if len(c.broker) else 0
    width = 1.0
    while ceiling > 1 and len(run.components.apart):
        phase = Phase(run, rho, ceiling, width)
        phase.work_off()
        ceiling, width = phase.ceiling, phase.width
        run.compact()
    finish(run, TIES_DEGREE)


class Phase:
    """One band of pairs of all kinds, and what is counted of the open pairs below it while it lasts."""

    def __init__(self, run: Run, rho: float, ceiling: int, width: float) -> None:
        self.run = run
        self.rho = rho
        counting = Pass(run, ceiling, width=width)
        self.band = counting.next_band()
        self.ceiling = counting.level - 1 if counting.complete else ceiling
        """After the phase: a bound on all contributions."""
        self.width = 1.0
        """After the phase: how wide the next band should be."""
        self.may_widen = len(self.band.first) < counting.most_entries
        self.open_counting: Pass | None = None
        self.accepted = 0
        self.maximum = 0
        """When open pairs were first counted under the present maximum degree: links so far, and that maximum."""
        self.full_head, self.full_tail = np.full((2, len(self.band.head)), -1, np.int32)
        self.entries = (self.band.first, self.band.second, self.band.following)
        self.trees: Trees | None = None
        maximum = int(run.all_degrees().max(initial=0))
        self.low = np.array([maximum, self.ceiling, self.ceiling, self.band.highest, 0, 0], np.int64)

    def work_off(self) -> None:
        """Accept links until pairs of all kinds below the band must be known."""
        run, c = self.run, self.run.components
        while True:
            asked = _take_from_queues(
                run.cursor,
                self.low,
                run.limits.steps,
                self.band.lowest,
                self.band.filled,
                self.rho,
                c.row_start,
                c.row_topic,
                c.label,
                c.ring,
                c.size,
                c.apart,
                run.degree,
                run.mark,
                *self.entries,
                self.band.head,
                self.band.tail,
                self.full_head,
                self.full_tail,
                run.links,
                run.gains,
            )
            if asked == ASK_ALL:
                return
            if asked == ASK_OPEN and not self.learn_open():
                return
            run.done("joining components")

    def learn_open(self) -> bool:
        """Find more open pairs; False when a wider band of all pairs is the better way to that."""
        run, low = self.run, self.low
        beyond = int(low[BEYOND])
        if beyond <= 1 and not low[PARTIAL]:
            # Open pairs contribute 1 at most: the free trees are all there is to find.
            self.trees = self.trees or Trees(run)
            self.trees.grow(int(low[MAXIMUM]), TIES_DEGREE)
            low[BEYOND] = 0
            return True
        if not low[PARTIAL]:
            is_open = run.degree < low[MAXIMUM]
            if not is_open.any():
                low[BEYOND] = 0
                return True
            if low[MAXIMUM] > self.maximum:
                gained = int(run.cursor[ACCEPTED]) - self.accepted
                raised = int(low[MAXIMUM]) - self.maximum
                self.accepted += gained
                self.maximum += raised
                idle = WORTH_A_PASS * gained < raised * np.count_nonzero(is_open)
                if self.open_counting and idle and self.may_widen:
                    self.ceiling = int(max(low[UNSEEN], low[OPEN_TOP], low[FULL_TOP]))
                    self.width = self.rho
                    return False
            self.open_counting = Pass(run, beyond, included=is_open)
        assert self.open_counting is not None
        found = self.open_counting.next_band()
        low[PARTIAL] = not self.open_counting.complete
        low[BEYOND] = found.lowest - 1
        low[OPEN_TOP] = max(int(low[OPEN_TOP]), found.highest)
        self.append(found)
        return True

    def append(self, found: Band) -> None:
        """Queue open pairs below the band behind the band's own entries."""
        own = self.band.filled
        first, second, following = self.band.first[:own], self.band.second[:own], self.entries[2][:own]
        links = found.following[: found.filled]
        self.entries = (
            np.concatenate([first, found.first[: found.filled]]),
            np.concatenate([second, found.second[: found.filled]]),
            np.concatenate([following, np.where(links < 0, links, links + own)]),
        )
        for level in range(found.lowest, found.highest + 1):
            if found.head[level] >= 0:
                if self.band.head[level] >= 0:
                    self.entries[2][self.band.tail[level]] = found.head[level] + own
                else:
                    self.band.head[level] = found.head[level] + own
                self.band.tail[level] = found.tail[level] + own


@kernel
def release(
    lowest: int,
    highest: int,
    low: Longs,
    open_head: Ints,
    open_tail: Ints,
    full_head: Ints,
    full_tail: Ints,
    following: Ints,
) -> None:
    """The maximum grew: what was full is open again, and open pairs below the band are no longer all known."""
    for level in range(lowest, highest + 1):
        if full_head[level] >= 0:
            if open_head[level] >= 0:
                following[full_tail[level]] = open_head[level]
            else:
                open_tail[level] = full_tail[level]
            open_head[level] = full_head[level]
            full_head[level] = -1
    for level in range(lowest):
        open_head[level] = -1
    low[MAXIMUM] += 1
    low[BEYOND] = low[UNSEEN]
    low[PARTIAL] = 0
    low[OPEN_TOP] = max(low[OPEN_TOP], low[FULL_TOP])
    low[FULL_TOP] = 0


@kernel
def _take_from_queues(
    cursor: Longs,
    low: Longs,
    budget: int,
    lowest: int,
    own: int,
    rho: float,
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
    open_head: Ints,
    open_tail: Ints,
    full_head: Ints,
    full_tail: Ints,
    links: Ints,
    gains: Ints,
) -> int:
    """Accept links while the queues tell which is next; why that ended (``OUT_OF_STEPS``, ``ASK_OPEN``, ``ASK_ALL``).

    All pairs above ``low[UNSEEN]`` are queued, at levels from ``lowest`` up, as the first ``own`` entries; open ones
    above ``low[BEYOND]`` as well.
    """
    highest = len(open_head) - 1
    while budget > 0:
        level = low[OPEN_TOP]
        best_open = -1
        while level > low[BEYOND] and level > 0:
            entry = open_head[level]
            if entry < 0:
                level -= 1
                low[OPEN_TOP] = level
                continue
            open_head[level] = following[entry]
            v = first[entry]
            w = second[entry]
            budget -= 1
            if max(degree[v], degree[w]) >= low[MAXIMUM]:
                # Entries behind the band's own are replaced by the next counting, so none of them is kept.
                if level >= lowest and entry < own:
                    append(entry, level, full_head, full_tail, following)
                    low[FULL_TOP] = max(low[FULL_TOP], level)
                continue
            after = open_head[level]
            contribution = weigh(
                v, w, after >= 0 and first[after] == v, cursor, row_start, row_topic, label, mark
            )
            cursor[SPENT] += 1
            if contribution == level:
                best_open = entry
                break
            if contribution > low[BEYOND]:
                append(entry, contribution, open_head, open_tail, following)
        if best_open < 0 and low[PARTIAL]:
            return ASK_OPEN
        worth = level if best_open >= 0 else low[BEYOND]

        best_full = -1
        level = low[FULL_TOP]
        while level >= lowest and level > rho * worth:
            entry = full_head[level]
            if entry < 0:
                level -= 1
                low[FULL_TOP] = level
                continue
            full_head[level] = following[entry]
            v = first[entry]
            w = second[entry]
            budget -= 1
            contribution = weigh(v, w, False, cursor, row_start, row_topic, label, mark)
            cursor[SPENT] += 1
            if contribution == level:
                best_full = entry
                break
            if contribution >= lowest:
                append(entry, contribution, full_head, full_tail, following)

        if best_full >= 0:
            if best_open >= 0:
                following[best_open] = open_head[worth]
                if open_head[worth] < 0:
                    open_tail[worth] = best_open
                open_head[worth] = best_open
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
            release(lowest, highest, low, open_head, open_tail, full_head, full_tail, following)
        elif low[UNSEEN] > rho * worth:
            # Pairs that are in no queue could beat whatever is best among the open ones.
            if best_open >= 0:
                following[best_open] = open_head[worth]
                if open_head[worth] < 0:
                    open_tail[worth] = best_open
                open_head[worth] = best_open
            return ASK_ALL
        elif best_open >= 0:
            v = first[best_open]
            w = second[best_open]
            accept(
                v,
                w,
                worth,
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
        else:
            return ASK_OPEN
    return OUT_OF_STEPS
