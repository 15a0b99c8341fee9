"""Level 1 for free: once no pair contributes more than 1, any tree over each topic's components is exact.

A link of contribution 1 joins two components of one topic and changes nothing in any other, so topics no longer
influence each other, and no pair has to be counted or stored. What is left to choose is which members to link: those
of low degree, found with two pointers over the members of a topic.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from algorithms.engine.components import by_topic, join_components
from algorithms.engine.entries import ACCEPTED, MARKED, mix
from algorithms.engine.run import Run
from algorithms.interests import Ints, Longs
from algorithms.jit import kernel

NEVER = np.iinfo(np.int32).max


Ties = Literal["degree", "row", "random"]
"""Which of equally good links comes first: that whose larger degree is lowest, the first by rows, or a random one."""

TIES_DEGREE, TIES_ROW, TIES_RANDOM = range(3)


def ties_code(ties: Ties) -> int:
    """The number a kernel knows an order of ties by."""
    return get_args(Ties).index(ties)


class Trees:
    """The subscribers of each unfinished topic, ready to be linked, until the run compacts its components."""

    def __init__(self, run: Run) -> None:
        c = run.components
        self.run = run
        self.members = by_topic(c.row_start, c.row_topic, len(c.apart))
        self.due = np.zeros(len(c.apart), np.int32)

    def grow(self, last_limit: int, ties: int) -> None:
        """Link components while both ends have a degree below the limit."""
        run, c = self.run, self.run.components
        grow_trees(
            last_limit,
            ties,
            run.seed,
            run.cursor,
            *self.members,
            c.label,
            c.ring,
            c.size,
            c.apart,
            run.degree,
            run.barred_start,
            run.barred,
            self.due,
            run.links,
            run.gains,
        )
        run.mark[:] = -1
        run.cursor[MARKED] = -1


def finish(run: Run, ties: int) -> None:
    """Trees over all components that are left."""
    Trees(run).grow(NEVER - 1, ties)
    run.done("growing trees")


@kernel
def needed_limit(start: int, end: int, member: Ints, subscription: Ints, label: Ints, degree: Ints) -> int:
    """The least limit under which two components of a topic both have a member of degree below the limit.

    One more than the second smallest, over components, of the lowest degree in the component. Degrees only grow, so
    it stays a lower bound until it is worked out again.
    """
    lowest = NEVER
    second = NEVER
    holder = -1
    for place in range(start, end):
        d = degree[member[place]]
        own = label[subscription[place]]
        if own == holder:
            lowest = min(lowest, d)
        elif d < lowest:
            second = lowest
            lowest = d
            holder = own
        elif d < second:
            second = d
    return second + 1 if second < NEVER else NEVER


@kernel
def grow_trees(
    last_limit: int,
    ties: int,
    seed: int,
    cursor: Longs,
    topic_start: Longs,
    member: Ints,
    subscription: Ints,
    label: Ints,
    ring: Ints,
    size: Ints,
    apart: Ints,
    degree: Ints,
    barred_start: Longs,
    barred: Ints,
    due: Ints,
    links: Ints,
    gains: Ints,
) -> int:
    """Link the components of each topic, ends of low degree first, while both ends have a degree below ``last_limit``.

    ``member`` and ``subscription`` are the subscribers of each topic; ``due[t]`` is a lower bound of the limit that
    topic t waits for (0 at the start). Returns the least limit that some topic still waits for, ``NEVER`` when all
    are connected or cannot be (because every pair left is barred).
    """
    rows = len(degree)
    stamp = np.full(rows, -1, np.int32)
    waiting = np.empty(len(apart), np.int32)
    topics = 0
    for t in range(len(apart)):
        if apart[t] > 1 and due[t] < NEVER:
            waiting[topics] = t
            topics += 1
    while topics > 0:
        limit = NEVER
        for k in range(topics):
            limit = min(limit, due[waiting[k]])
        if limit > last_limit:
            return limit
        still = 0
        for k in range(topics):
            t = waiting[k]
            if due[t] <= limit:
                start = topic_start[t]
                end = topic_start[t + 1]
                due[t] = needed_limit(start, end, member, subscription, label, degree)
                # Where nothing is asked of the degrees one sweep over all members does.
                within = limit if ties == TIES_DEGREE else NEVER - 1
                if due[t] <= within:
                    sweep_topic(
                        within,
                        ties,
                        seed,
                        t,
                        cursor,
                        member[start:end],
                        subscription[start:end],
                        label,
                        ring,
                        size,
                        apart,
                        degree,
                        barred_start,
                        barred,
                        stamp,
                        links,
                        gains,
                    )
                    due[t] = needed_limit(start, end, member, subscription, label, degree)
                    if due[t] <= within:
                        # Only barred pairs are left under this limit: wait for a member of a higher degree.
                        highest = 0
                        for place in range(start, end):
                            if degree[member[place]] >= within and (
                                highest == 0 or degree[member[place]] < highest
                            ):
                                highest = degree[member[place]]
                        due[t] = highest + 1 if highest >= within else NEVER
            if apart[t] > 1 and due[t] < NEVER:
                waiting[still] = t
                still += 1
        topics = still
    return NEVER


@kernel
def sweep_topic(
    limit: int,
    ties: int,
    seed: int,
    topic: int,
    cursor: Longs,
    member: Ints,
    subscription: Ints,
    label: Ints,
    ring: Ints,
    size: Ints,
    apart: Ints,
    degree: Ints,
    barred_start: Longs,
    barred: Ints,
    stamp: Ints,
    links: Ints,
    gains: Ints,
) -> None:
    """Link components of one topic until no allowed pair of members below the limit is apart.

    A hub takes members of other components until its degree reaches the limit; then the next member of its component
    is the hub. Members the pointer has passed are in the hub's component, full, or ``held`` back because the hub is
    barred from them; so a member is looked at once, and once more for each hub it was barred from.
    """
    n = 0
    rest = np.empty(len(member), np.int32)
    for k in range(len(member)):
        if degree[member[k]] < limit:
            rest[n] = k
            n += 1
    group = np.empty(n, np.int32)
    held = np.empty(n, np.int32)
    if ties == TIES_RANDOM:
        for k in range(n - 1, 0, -1):
            other = mix(k, topic, seed) % (k + 1)
            rest[k], rest[other] = rest[other], rest[k]
    passed = 0
    while passed < n and apart[topic] > 1:
        group[0] = rest[passed]
        passed += 1
        grouped = 1
        holding = 0
        hub = 0
        while hub < grouped and (passed < n or holding > 0):
            h = group[hub]
            hub += 1
            row = member[h]
            if degree[row] >= limit:
                continue
            for b in range(barred_start[row], barred_start[row + 1]):
                stamp[barred[b]] = row
            tried = 0
            kept = 0
            while tried < holding or passed < n:
                if tried < holding:
                    u = held[tried]
                    tried += 1
                elif degree[row] < limit:
                    u = rest[passed]
                    passed += 1
                else:
                    break
                other = member[u]
                if degree[other] >= limit:
                    continue
                if label[subscription[u]] == label[subscription[h]]:
                    group[grouped] = u
                    grouped += 1
                elif degree[row] >= limit or stamp[other] == row:
                    held[kept] = u
                    kept += 1
                else:
                    end = row
                    near = h
                    if ties == TIES_RANDOM and len(barred) == 0:
                        near = group[mix(passed, topic, seed + 1) % grouped]
                        end = member[near]
                    join_components(subscription[near], subscription[u], label, ring, size)
                    apart[topic] -= 1
                    degree[end] += 1
                    degree[other] += 1
                    at = cursor[ACCEPTED]
                    links[at, 0] = end
                    links[at, 1] = other
                    gains[at] = 1
                    cursor[ACCEPTED] = at + 1
                    group[grouped] = u
                    grouped += 1
            holding = kept
        # Everyone in the group is full, or barred from all that are held back: go on without it.
        if holding > 0:
            for k in range(passed, n):
                held[holding] = rest[k]
                holding += 1
            rest, held = held, rest
            n = holding
            passed = 0
