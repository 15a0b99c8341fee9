"""The rule "largest contribution": work a band off from the top level down, lazily.

An entry's level is an upper bound of its contribution, which never grows. So an entry at the top is weighed again: if
its level still stands it is the best pair there is and becomes a link; else it moves down to its true level, or out of
the band. Inside a level a second lazy queue orders the entries by their key: the larger degree of the two ends (which
only grows, so a key is a lower bound), a random number, or nothing.
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

TIES_DEGREE, TIES_ROW, TIES_RANDOM = 0, 1, 2
RANDOM_KEYS = 1 << 10

TOP, KEY, MARKED, ACCEPTED, SPENT = 0, 1, 2, 3, 4
"""Places in the ``cursor``: level at work, key at work (-1: level not opened yet), marked row (-1: none), links so
far, evaluations so far."""


@kernel
def mix(a: int, b: int, seed: int) -> int:
    """A hash of two numbers and a seed, below 2**31."""
    h = (a * 0x9E3779B1 + b * 0x85EBCA6B + seed * 0xC2B2AE35) & 0xFFFFFFFF
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
def queue_levels(filled: int, following: Ints, head: Ints, tail: Ints) -> None:
    """Turn the values that a counting pass left in ``following`` into one queue a level."""
    for entry in range(filled):
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
    if cursor[MARKED] >= 0:
        clear_mark(cursor[MARKED], row_start, row_topic, mark)
        cursor[MARKED] = -1
    add_link(v, w, row_start, row_topic, label, ring, size, apart)
    degree[v] += 1
    degree[w] += 1
    n = cursor[ACCEPTED]
    links[n, 0] = v
    links[n, 1] = w
    gains[n] = contribution
    cursor[ACCEPTED] = n + 1


@kernel
def take_largest(
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
    last_key = len(key_head) - 1
    while cursor[TOP] >= lowest:
        level = cursor[TOP]
        if cursor[KEY] < 0:
            entry = level_head[level]
            level_head[level] = -1
            while entry >= 0:
                after = following[entry]
                key = 0
                if ties == TIES_DEGREE:
                    key = min(max(degree[first[entry]], degree[second[entry]]), last_key)
                elif ties == TIES_RANDOM:
                    key = mix(first[entry], second[entry], seed) & (RANDOM_KEYS - 1)
                append(entry, key, key_head, key_tail, following)
                entry = after
            cursor[KEY] = 0
        while cursor[KEY] <= last_key:
            key = cursor[KEY]
            entry = key_head[key]
            if entry < 0:
                cursor[KEY] = key + 1
                continue
            if budget <= 0:
                return False
            budget -= 1
            after = following[entry]
            key_head[key] = after
            v = first[entry]
            w = second[entry]
            if ties == TIES_DEGREE:
                now = min(max(degree[v], degree[w]), last_key)
                if now > key:
                    append(entry, now, key_head, key_tail, following)
                    continue
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
