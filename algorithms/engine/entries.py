"""Entries of a band: pairs of rows in queues, weighed when they surface, accepted as links.

A queue is a chain through ``following``, from ``head[queue]`` to ``tail[queue]``; -1 ends it. An entry is in one queue
at a time, so all queues share one array.
"""

from __future__ import annotations

from algorithms.engine.components import (
    add_link,
    clear_mark,
    marked_contribution,
    searched_contribution,
    set_mark,
)
from algorithms.interests import Ints, Longs
from algorithms.jit import kernel

TOP, KEY, MARKED, ACCEPTED, SPENT = 0, 1, 2, 3, 4
"""Places in the ``cursor``: level at work, key at work (-1: level not opened yet), marked row (-1: none), links so
far, evaluations so far."""


@kernel
def mix(a: int, b: int, seed: int) -> int:
    """A hash of two numbers and a seed, below 2**31."""
    h = (int(a) * 0x9E3779B1 + int(b) * 0x85EBCA6B + int(seed) * 0xC2B2AE35) & 0xFFFFFFFF
    h = ((h ^ (h >> 15)) * 0x2C1B3C6D) & 0xFFFFFFFF
    h = ((h ^ (h >> 12)) * 0x297A2D39) & 0xFFFFFFFF
    return (h ^ (h >> 15)) >> 1


@kernel
def append(entry: int, queue: int, head: Ints, tail: Ints, following: Ints) -> None:
    """Put an entry at the end of a queue."""
    following[entry] = -1
    if head[queue] < 0:
        head[queue] = entry
    else:
        following[tail[queue]] = entry
    tail[queue] = entry


@kernel
def queue_levels(begin: int, end: int, following: Ints, head: Ints, tail: Ints) -> None:
    """Turn the values that a counting pass left in ``following`` into one queue a level."""
    for entry in range(begin, end):
        append(entry, following[entry], head, tail, following)


@kernel
def weigh(
    v: int, w: int, again: bool, cursor: Longs, row_start: Longs, row_topic: Ints, label: Ints, mark: Ints
) -> int:
    """The contribution of a pair of rows, v before w (so v has more topics); ``again``: v comes next as well.

    Marking v costs its length, then each w costs only its own; a search pays where v is long and met once.
    """
    if cursor[MARKED] != v:
        if not again and row_start[v + 1] - row_start[v] > 12 * (row_start[w + 1] - row_start[w]):
            return int(searched_contribution(v, w, row_start, row_topic, label))
        if cursor[MARKED] >= 0:
            clear_mark(cursor[MARKED], row_start, row_topic, mark)
        set_mark(v, row_start, row_topic, label, mark)
        cursor[MARKED] = v
    return int(marked_contribution(w, row_start, row_topic, label, mark))


@kernel
def write_link(v: int, w: int, gain: int, cursor: Longs, degree: Ints, links: Ints, gains: Ints) -> None:
    """Write a link down behind those so far and raise the degrees of its ends."""
    degree[v] += 1
    degree[w] += 1
    at = cursor[ACCEPTED]
    links[at, 0] = v
    links[at, 1] = w
    gains[at] = gain
    cursor[ACCEPTED] = at + 1


@kernel
def accept(
    v: int,
    w: int,
    contribution: int,
    cursor: Longs,
    row_start: Longs,
    row_topic: Ints,
    label: Ints,
    ring: Ints,
    size: Ints,
    apart: Ints,
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
    add_link(v, w, marked, row_start, row_topic, label, ring, size, apart, mark)
    write_link(v, w, contribution, cursor, degree, links, gains)
