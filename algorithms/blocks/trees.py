"""Block-cut trees: two subscribers are joined by a link, and the blocks between them grow together.

A link between two trees hangs the smaller one, re-rooted at the link's end, below the other end as a bridge. A link
within a tree closes a cycle: all blocks on the way between its ends become one. The largest of them keeps its number,
so each subscriber gets a new parent block log2(n) times at most. :mod:`algorithms.blocks.forest` tells the arrays.

What one step reads of a subscriber or of a block lies side by side: a step costs as much as it misses the processor's
nearer memory.
"""

from __future__ import annotations

from algorithms.interests import Ints, Longs
from algorithms.jit import kernel

BLOCK, ONWARD, BACK, TREE, SPREAD, SEEN, LINKS = range(7)
"""Columns of ``node``: a subscription's parent block, its neighbours in the circle of that block's children, one nearer
to the root of a union-find over trees, how many are in the tree (where that is itself), the stamp of the last climb,
and its links in the topic."""

CHILDREN, PASSED = range(2)
"""Columns of ``hold``: a block's number of children (of an unused one: the next unused), the stamp of the last climb."""

STAMP, UNUSED = range(2)
"""Places in the ``clock``: the last stamp, the first unused block."""


@kernel
def share_block(i: int, j: int, node: Ints, top: Ints) -> bool:
    """Whether two subscriptions of a topic are in one block: the same parent block, or one is the top of the other's."""
    b, c = node[i, BLOCK], node[j, BLOCK]
    return bool((b == c) | (top[b] == j) | (top[c] == i))


@kernel
def _root(i: int, node: Ints) -> int:
    while node[i, TREE] != i:
        node[i, TREE] = node[node[i, TREE], TREE]
        i = node[i, TREE]
    return i


@kernel
def _reroot(i: int, path: Ints, node: Ints, top: Ints) -> None:
    """Make subscription i the root of its tree: on the way up, each block's child there and its top change places."""
    roots = len(node)
    n = 0
    x = i
    while node[x, BLOCK] < roots:
        path[n] = x
        n += 1
        x = top[node[x, BLOCK]]
    # From the old root down: a top can take its child's place only after its own place above was taken.
    for step in range(n - 1, -1, -1):
        child = path[step]
        b = node[child, BLOCK]
        x = top[b]
        if node[child, ONWARD] == child:
            node[x, ONWARD], node[x, BACK] = x, x
        else:
            node[x, ONWARD], node[x, BACK] = node[child, ONWARD], node[child, BACK]
            node[node[x, BACK], ONWARD] = x
            node[node[x, ONWARD], BACK] = x
        node[x, BLOCK] = b
        top[b] = child
    node[i, BLOCK] = roots + i


@kernel
def _climb(i: int, j: int, stamp: int, node: Ints, top: Ints, hold: Ints) -> int:
    """Where the ways up from two subscriptions of a tree meet: a subscription, or the number of them plus a block.

    Both climb in turn, blocks and subscriptions alike, until one meets what the other has marked; so the cost is at
    most twice the longer way.
    """
    roots = len(node)
    node[i, SEEN], node[j, SEEN] = stamp, stamp
    x, y = i, j
    while True:
        b = node[x, BLOCK]
        if b < roots:
            if hold[b, PASSED] == stamp:
                return int(roots + b)
            hold[b, PASSED] = stamp
            x = top[b]
            if node[x, SEEN] == stamp:
                return int(x)
            node[x, SEEN] = stamp
        x, y = y, x


@kernel
def _close(i: int, j: int, meeting: int, clock: Longs, path: Ints, node: Ints, top: Ints, hold: Ints) -> int:
    """Make one block of all blocks between two subscriptions of a tree, whose ways up meet; returns it."""
    roots = len(node)
    # One child of each block on the way; the meeting block once.
    n = 0
    for side in range(2):
        x = i if side == 0 else j
        while x != meeting:
            b = node[x, BLOCK]
            if roots + b != meeting or side == 0:
                path[n] = x
                n += 1
            if roots + b == meeting:
                break
            x = top[b]
    last = meeting if meeting < roots else top[meeting - roots]
    door = path[0]
    for step in range(1, n):
        if hold[node[path[step], BLOCK], CHILDREN] > hold[node[door, BLOCK], CHILDREN]:
            door = path[step]
    keeper = int(node[door, BLOCK])
    for step in range(n):
        x = path[step]
        b = node[x, BLOCK]
        if b == keeper:
            continue
        hold[keeper, CHILDREN] += hold[b, CHILDREN]
        y = x
        while True:
            node[y, BLOCK] = keeper
            y = node[y, ONWARD]
            if y == x:
                break
        before, after = node[x, BACK], node[door, ONWARD]
        node[before, ONWARD] = after
        node[after, BACK] = before
        node[door, ONWARD] = x
        node[x, BACK] = door
        top[b] = -1
        hold[b, CHILDREN] = clock[UNUSED]
        clock[UNUSED] = b
    top[keeper] = last
    return keeper


@kernel
def join_blocks(
    i: int, j: int, topic: int, clock: Longs, path: Ints, node: Ints, top: Ints, hold: Ints, size: Ints
) -> None:
    """Put a link into one topic, between subscriptions that share no block; ``path`` is scratch, as long as the topic."""
    root_i, root_j = _root(i, node), _root(j, node)
    if root_i == root_j:
        clock[STAMP] += 1
        meeting = _climb(i, j, clock[STAMP], node, top, hold)
        b = _close(i, j, meeting, clock, path, node, top, hold)
    else:
        if node[root_i, SPREAD] < node[root_j, SPREAD]:
            i, j = j, i
            root_i, root_j = root_j, root_i
        _reroot(j, path, node, top)
        b = int(clock[UNUSED])
        clock[UNUSED] = hold[b, CHILDREN]
        node[j, BLOCK] = b
        node[j, ONWARD], node[j, BACK] = j, j
        top[b] = i
        hold[b, CHILDREN] = 1
        node[root_j, TREE] = root_i
        node[root_i, SPREAD] += node[root_j, SPREAD]
    if hold[b, CHILDREN] == size[topic] - 1:
        size[topic] = 0
