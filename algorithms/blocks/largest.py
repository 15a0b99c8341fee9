"""The rule "largest estimate" over topic blocks: work a band off from the top level down, lazily.

The same walk as :mod:`algorithms.engine.largest`, queues and tie rules included; an entry is weighed by blocks.
"""

from __future__ import annotations

from algorithms.blocks.forest import add_link
from algorithms.engine.components import find_topic
from algorithms.engine.entries import ACCEPTED, KEY, MARKED, SPENT, TOP, append, mix
from algorithms.engine.largest import RANDOM_KEYS
from algorithms.engine.trees import TIES_DEGREE, TIES_RANDOM
from algorithms.interests import Ints, Longs
from algorithms.jit import kernel


@kernel
def weigh(
    v: int,
    w: int,
    again: bool,
    cursor: Longs,
    row_start: Longs,
    row_topic: Ints,
    block: Ints,
    top: Ints,
    mark: Ints,
) -> int:
    """In how many topics a pair of rows, v before w (so v has more topics), shares no block: GM2's estimate.

    ``mark``: one row a topic, that holds the marked row's subscription (-1 where it has none), that
    subscription's parent block, and the block's top. ``again``: v comes next as well, so marking it pays.
    """
    count = 0
    if cursor[MARKED] != v:
        if not again and row_start[v + 1] - row_start[v] > 12 * (row_start[w + 1] - row_start[w]):
            low, high = row_start[v], row_start[v + 1]
            for i in range(row_start[w], row_start[w + 1]):
                low = find_topic(row_topic[i], low, high, row_topic)
                if low == high:
                    break
                count += (
                    (row_topic[low] == row_topic[i])
                    & (block[low] != block[i])
                    & (top[block[low]] != i)
                    & (top[block[i]] != low)
                )
            return count
        unmark(cursor, row_start, row_topic, mark)
        for i in range(row_start[v], row_start[v + 1]):
            t = row_topic[i]
            mark[t, 0] = i
            mark[t, 1] = block[i]
            mark[t, 2] = top[block[i]]
        cursor[MARKED] = v
    for i in range(row_start[w], row_start[w + 1]):
        t = row_topic[i]
        if mark[t, 0] >= 0:
            count += (mark[t, 1] != block[i]) & (mark[t, 2] != i) & (top[block[i]] != mark[t, 0])
    return count


@kernel
def unmark(cursor: Longs, row_start: Longs, row_topic: Ints, mark: Ints) -> None:
    """Take the marked row, if there is one, out of ``mark``."""
    v = cursor[MARKED]
    if v >= 0:
        for i in range(row_start[v], row_start[v + 1]):
            mark[row_topic[i], 0] = -1
        cursor[MARKED] = -1


@kernel
def take_largest(
    cursor: Longs,
    budget: int,
    lowest: int,
    ties: int,
    seed: int,
    clock: Longs,
    seen: Ints,
    path: Ints,
    row_start: Longs,
    row_topic: Ints,
    block: Ints,
    top: Ints,
    children: Ints,
    onward: Ints,
    back: Ints,
    tree: Ints,
    spread: Ints,
    free: Ints,
    size: Ints,
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
    key; ``clock``, ``seen`` and ``path`` are the forest's scratch; accepted links are rows, in order.
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
            if budget <= 0 or cursor[ACCEPTED] == len(links):
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
            estimate = weigh(v, w, again, cursor, row_start, row_topic, block, top, mark)
            cursor[SPENT] += 1
            if estimate == level:
                unmark(cursor, row_start, row_topic, mark)
                add_link(
                    v,
                    w,
                    clock,
                    seen,
                    path,
                    row_start,
                    row_topic,
                    block,
                    top,
                    children,
                    onward,
                    back,
                    tree,
                    spread,
                    free,
                    size,
                )
                degree[v] += 1
                degree[w] += 1
                n = cursor[ACCEPTED]
                links[n, 0] = v
                links[n, 1] = w
                gains[n] = estimate
                cursor[ACCEPTED] = n + 1
            elif estimate >= lowest:
                append(entry, estimate, level_head, level_tail, following)
        cursor[TOP] = level - 1
        cursor[KEY] = -1
    return True
