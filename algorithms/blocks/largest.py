"""The rule "largest estimate" over topic blocks: work a band off from the top level down, lazily.

The same walk as :mod:`algorithms.engine.largest`; an entry is weighed by blocks, with bitsets where there are some.
"""

from __future__ import annotations

from algorithms.blocks.bits import note_link, weigh_by_bits
from algorithms.blocks.links import add_link
from algorithms.blocks.trees import BLOCK, share_block
from algorithms.engine.bitsets import Words
from algorithms.engine.components import find_topic
from algorithms.engine.entries import KEY, MARKED, SPENT, TOP, append, write_link
from algorithms.engine.queues import next_entry, open_level
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
    node: Ints,
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
                count += row_topic[low] == row_topic[i] and not share_block(low, i, node, top)
            return count
        unmark(cursor, row_start, row_topic, mark)
        for i in range(row_start[v], row_start[v + 1]):
            t = row_topic[i]
            mark[t, 0] = i
            mark[t, 1] = node[i, BLOCK]
            mark[t, 2] = top[node[i, BLOCK]]
        cursor[MARKED] = v
    for i in range(row_start[w], row_start[w + 1]):
        t = row_topic[i]
        if mark[t, 0] >= 0:
            b = node[i, BLOCK]
            count += (mark[t, 1] != b) & (mark[t, 2] != i) & (top[b] != mark[t, 0])
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
    path: Ints,
    row_start: Longs,
    row_topic: Ints,
    node: Ints,
    top: Ints,
    hold: Ints,
    size: Ints,
    degree: Ints,
    mark: Ints,
    bits: Words,
    rank: Ints,
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
    key; ``path`` is scratch, as long as the largest topic; ``bits`` and ``rank`` are empty where pairs are
    weighed by walking; accepted links are rows, in order.
    """
    by_bits = len(bits) > 0
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
            v = first[entry]
            w = second[entry]
            if by_bits:
                estimate = weigh_by_bits(v, w, bits, rank, node, top)
            else:
                after = following[entry]
                again = after >= 0 and first[after] == v
                estimate = weigh(v, w, again, cursor, row_start, row_topic, node, top, mark)
            cursor[SPENT] += 1
            if estimate == level:
                unmark(cursor, row_start, row_topic, mark)
                add_link(v, w, clock, path, row_start, row_topic, node, top, hold, size)
                note_link(v, w, bits)
                write_link(v, w, estimate, cursor, degree, links, gains)
            elif estimate >= lowest:
                append(entry, estimate, level_head, level_tail, following)
        cursor[TOP] = level - 1
        cursor[KEY] = -1
    return True
