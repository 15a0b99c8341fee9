"""The queues of a lazy greedy loop: entries by level, and inside the level at work by key.

Every greedy loop over a band works it off the same way. An entry's level is an upper bound of what its pair is worth,
which never grows; the entries of the highest level are put into one queue a key (the larger degree of the two ends,
which only grows, so a key is a lower bound; a random number; or nothing) and come out in the order of keys. What an entry
is worth, and what becomes of the pair, is the loop's own. These steps are plain functions: compiled into their callers
they cost nothing.
"""

from __future__ import annotations

from algorithms.engine.entries import KEY, append, mix
from algorithms.engine.trees import TIES_DEGREE, TIES_RANDOM
from algorithms.interests import Ints, Longs
from algorithms.jit import kernel

RANDOM_KEYS = 1 << 10


@kernel
def open_level(
    level: int,
    ties: int,
    seed: int,
    cursor: Longs,
    degree: Ints,
    first: Ints,
    second: Ints,
    following: Ints,
    level_head: Ints,
    key_head: Ints,
    key_tail: Ints,
) -> None:
    """Unless it is open already, move the entries of a level into the queues of their keys."""
    if cursor[KEY] >= 0:
        return
    last_key = len(key_head) - 1
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


@kernel
def next_entry(
    ties: int,
    cursor: Longs,
    degree: Ints,
    first: Ints,
    second: Ints,
    following: Ints,
    key_head: Ints,
    key_tail: Ints,
) -> int:
    """Take out the next entry of the level at work, one whose key still stands; -1 when there is none."""
    last_key = len(key_head) - 1
    key = cursor[KEY]
    while key <= last_key:
        entry = key_head[key]
        if entry < 0:
            key += 1
            continue
        key_head[key] = following[entry]
        if ties == TIES_DEGREE:
            now = min(max(degree[first[entry]], degree[second[entry]]), last_key)
            if now > key:
                append(entry, now, key_head, key_tail, following)
                continue
        cursor[KEY] = key
        return int(entry)
    cursor[KEY] = key
    return -1
