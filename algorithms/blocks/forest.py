"""Topic blocks of the brokers at work: an incremental block-cut forest for every topic, in flat arrays.

A topic block is a maximal set of subscribers that no single failure parts; a bridge is a block of two. Within a topic,
blocks and subscribers alternate in trees: each subscriber has at most one *parent block*, each block one *top*
subscriber, and its other members are the block's *children*. So two subscribers share a block when they have the same
parent block, or one is the top of the other's: three comparisons.

A link between two trees hangs the smaller one, re-rooted at the link's end, below the other end as a bridge. A link
within a tree closes a cycle: all blocks on the way between its ends become one. The largest of them keeps its number,
so each subscriber gets a new parent block log2(n) times at most.

The arrays (a *row* is a broker, numbered by falling number of unfinished topics; N subscriptions):

==============  ==========================================================================================
``broker``      row -> dense broker id
``row_start``   row -> its first subscription; one more at the end
``row_topic``   subscription -> topic (renumbered, ascending within a row)
``block``       subscription -> its parent block; N + itself where it is a root
``top``         block -> its top subscription; -1 for the N numbers that stand for roots
``children``    block -> how many children it has
``onward``      subscription -> the next child of the same block, in a circle
``back``        subscription -> the one before
``tree``        subscription -> one nearer to the root of a union-find over trees
``spread``      subscription -> how many are in its tree, where ``tree`` is itself
``free``        a stack of unused block numbers, its height in the last place
``size``        topic -> its number of subscribers, 0 once all of them are in one block
==============  ==========================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from algorithms.engine.components import by_topic, find_topic
from algorithms.interests import Ints, Longs
from algorithms.jit import kernel


@dataclass
class Blocks:
    """The topic blocks at one moment of a build; kernels take its arrays one by one."""

    broker: Ints
    row_start: Longs
    row_topic: Ints
    block: Ints
    top: Ints
    children: Ints
    onward: Ints
    back: Ints
    tree: Ints
    spread: Ints
    free: Ints
    size: Ints

    @classmethod
    def alone(cls, broker: Ints, row_start: Longs, row_topic: Ints, topics: int) -> Blocks:
        """No links: every subscriber is a root."""
        n = len(row_topic)
        everyone = np.arange(n, dtype=np.int32)
        size = np.bincount(row_topic, minlength=topics).astype(np.int32)
        size[size == 1] = 0
        return cls(
            broker,
            row_start,
            row_topic,
            block=everyone + np.int32(n),
            top=np.full(2 * n, -1, np.int32),
            children=np.zeros(n, np.int32),
            onward=everyone.copy(),
            back=everyone.copy(),
            tree=everyone.copy(),
            spread=np.ones(n, np.int32),
            free=np.append(everyone[::-1], np.int32(n)),
            size=size,
        )

    def arrays(self) -> tuple[Ints, ...]:
        """The arrays from ``row_start`` on, as the kernels of this module take them."""
        return tuple(getattr(self, field.name) for field in fields(self)[1:])

    def compacted(self) -> Blocks:
        """Without finished topics and without brokers that have none left, rows by falling number of topics."""
        return Blocks(*_compact(self.broker, *self.arrays()))

    @property
    def unfinished(self) -> int:
        """How many subscribers are not yet in their topic's last block; 0 when every topic is 2-connected."""
        return int(self.size.sum(dtype=np.int64))


@kernel
def _root(i: int, tree: Ints) -> int:
    while tree[i] != i:
        tree[i] = tree[tree[i]]
        i = tree[i]
    return i


@kernel
def _reroot(i: int, path: Ints, block: Ints, top: Ints, onward: Ints, back: Ints) -> None:
    """Make subscription i the root of its tree: on the way up, each block's child there and its top change places."""
    roots = len(block)
    n = 0
    x = i
    while block[x] < roots:
        path[n] = x
        n += 1
        x = top[block[x]]
    # From the old root down: a top can take its child's place only after its own place above was taken.
    for step in range(n - 1, -1, -1):
        child = path[step]
        b = block[child]
        x = top[b]
        if onward[child] == child:
            onward[x], back[x] = x, x
        else:
            onward[x], back[x] = onward[child], back[child]
            onward[back[x]] = x
            back[onward[x]] = x
        block[x] = b
        top[b] = child
    block[i] = roots + i


@kernel
def _close(
    i: int,
    j: int,
    stamp: int,
    seen: Ints,
    path: Ints,
    block: Ints,
    top: Ints,
    children: Ints,
    onward: Ints,
    back: Ints,
    free: Ints,
) -> int:
    """Make one block of all blocks between two subscriptions of a tree; returns it.

    Both ends climb in turn, blocks and subscriptions alike, until one meets what the other has marked; so the cost is
    at most twice the longer way. ``seen``: the stamp of the last climb, subscriptions first, then blocks.
    """
    roots = len(block)
    seen[i], seen[j] = stamp, stamp
    x, y = i, j
    meeting = -1
    while meeting < 0:
        if block[x] < roots:
            b = block[x]
            if seen[roots + b] == stamp:
                meeting = roots + b
                break
            seen[roots + b] = stamp
            x = top[b]
            if seen[x] == stamp:
                meeting = x
                break
            seen[x] = stamp
        x, y = y, x
    # One child of each block on the way; the meeting block once.
    n = 0
    for side in range(2):
        x = i if side == 0 else j
        while x != meeting:
            b = block[x]
            if roots + b != meeting or side == 0:
                path[n] = x
                n += 1
            if roots + b == meeting:
                break
            x = top[b]
    last = meeting if meeting < roots else top[meeting - roots]
    door = path[0]
    for step in range(1, n):
        if children[block[path[step]]] > children[block[door]]:
            door = path[step]
    keeper = int(block[door])
    for step in range(n):
        x = path[step]
        b = block[x]
        if b == keeper:
            continue
        children[keeper] += children[b]
        y = x
        while True:
            block[y] = keeper
            y = onward[y]
            if y == x:
                break
        onward[back[x]] = onward[door]
        back[onward[door]] = back[x]
        onward[door] = x
        back[x] = door
        top[b] = -1
        free[free[roots]] = b
        free[roots] += 1
    top[keeper] = last
    return keeper


@kernel
def join_blocks(
    i: int,
    j: int,
    topic: int,
    stamp: int,
    seen: Ints,
    path: Ints,
    block: Ints,
    top: Ints,
    children: Ints,
    onward: Ints,
    back: Ints,
    tree: Ints,
    spread: Ints,
    free: Ints,
    size: Ints,
) -> None:
    """Put a link into one topic, between subscriptions that share no block.

    ``stamp``: never used before; ``seen`` (2N) and ``path`` (as long as the largest topic) are scratch.
    """
    root_i, root_j = _root(i, tree), _root(j, tree)
    if root_i == root_j:
        b = _close(i, j, stamp, seen, path, block, top, children, onward, back, free)
    else:
        if spread[root_i] < spread[root_j]:
            i, j = j, i
            root_i, root_j = root_j, root_i
        _reroot(j, path, block, top, onward, back)
        n = len(block)
        free[n] -= 1
        b = free[free[n]]
        block[j] = b
        top[b] = i
        children[b] = 1
        onward[j], back[j] = j, j
        tree[root_j] = root_i
        spread[root_i] += spread[root_j]
    if children[b] == size[topic] - 1:
        size[topic] = 0


@kernel
def add_link(
    v: int,
    w: int,
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
) -> int:
    """Put a link into every topic where its ends share no block, the only ones it changes; how many there were."""
    if row_start[v + 1] - row_start[v] < row_start[w + 1] - row_start[w]:
        v, w = w, v
    joined = 0
    low = row_start[v]
    high = row_start[v + 1]
    step = (high - low) > 12 * (row_start[w + 1] - row_start[w])
    for i in range(row_start[w], row_start[w + 1]):
        if step:
            low = find_topic(row_topic[i], low, high, row_topic)
        else:
            while low < high and row_topic[low] < row_topic[i]:
                low += 1
        if low == high:
            break
        if (
            row_topic[low] == row_topic[i]
            and block[i] != block[low]
            and top[block[i]] != low
            and top[block[low]] != i
        ):
            clock[0] += 1
            join_blocks(
                low,
                i,
                row_topic[i],
                clock[0],
                seen,
                path,
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
            joined += 1
    return joined


@kernel
def add_links(
    links: Ints,
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
) -> None:
    """Start from links that exist already; their ends are rows."""
    for k in range(len(links)):
        add_link(
            links[k, 0],
            links[k, 1],
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


@kernel
def join_groups(
    group: Ints,
    groups: int,
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
) -> None:
    """Start with the subscribers of a topic whose rows have the same group number in one block: a ring in each."""
    first = np.full(groups, -1, np.int32)
    last = np.full(groups, -1, np.int32)
    start, row_of, subscription = by_topic(row_start, row_topic, len(size))
    for t in range(len(size)):
        # Forward each subscriber is joined with the one before in its group; backward the last with the first.
        for direction in range(2):
            for place in range(start[t], start[t + 1]):
                i = int(subscription[place])
                g = group[row_of[place]]
                j = -1
                if direction == 0:
                    j = int(last[g])
                    last[g] = i
                    if j < 0:
                        first[g] = i
                elif last[g] == i:
                    j = int(first[g])
                    first[g], last[g] = -1, -1
                if j >= 0 and j != i and block[i] != block[j] and top[block[i]] != j and top[block[j]] != i:
                    clock[0] += 1
                    join_blocks(
                        i,
                        j,
                        t,
                        clock[0],
                        seen,
                        path,
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


@kernel
def _compact(
    broker: Ints,
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
) -> tuple[Ints, Longs, Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints]:
    rows = len(broker)
    new_topic = np.full(len(size), -1, np.int32)
    topics = 0
    for t in range(len(size)):
        if size[t] > 0:
            new_topic[t] = topics
            topics += 1
    new_size = np.empty(topics, np.int32)
    for t in range(len(size)):
        if size[t] > 0:
            new_size[new_topic[t]] = size[t]

    # Counting sort of the rows by falling number of unfinished topics; rows that are equal keep their order.
    active = np.zeros(rows, np.int32)
    most = 0
    for r in range(rows):
        for i in range(row_start[r], row_start[r + 1]):
            active[r] += size[row_topic[i]] > 0
        most = max(most, active[r])
    place = np.zeros(most + 2, np.int64)
    for r in range(rows):
        place[most - active[r] + 1] += 1
    for k in range(most + 1):
        place[k + 1] += place[k]
    kept = place[most]
    old_row = np.empty(rows, np.int32)
    for r in range(rows):
        old_row[place[most - active[r]]] = r
        place[most - active[r]] += 1

    new_broker = np.empty(kept, np.int32)
    new_start = np.zeros(kept + 1, np.int64)
    for n in range(kept):
        new_broker[n] = broker[old_row[n]]
        new_start[n + 1] = new_start[n] + active[old_row[n]]
    left = new_start[kept]
    new_row_topic = np.empty(left, np.int32)
    origin = np.empty(left, np.int32)
    moved = np.full(len(row_topic) + 1, -1, np.int32)
    for n in range(kept):
        to = new_start[n]
        for i in range(row_start[old_row[n]], row_start[old_row[n] + 1]):
            if size[row_topic[i]] > 0:
                new_row_topic[to] = new_topic[row_topic[i]]
                origin[to] = i
                moved[i] = to
                to += 1
    roots = len(row_topic)
    number = np.full(roots, -1, np.int32)
    new_block = np.empty(left, np.int32)
    new_top = np.full(2 * left, -1, np.int32)
    new_children = np.zeros(left, np.int32)
    new_onward = np.empty(left, np.int32)
    new_back = np.empty(left, np.int32)
    new_tree = np.empty(left, np.int32)
    new_spread = np.empty(left, np.int32)
    new_free = np.empty(left + 1, np.int32)
    blocks = 0
    for to in range(left):
        i = origin[to]
        b = block[i]
        if b >= roots:
            new_block[to] = left + to
        else:
            if number[b] < 0:
                number[b] = blocks
                new_top[blocks] = moved[top[b]]
                new_children[blocks] = children[b]
                blocks += 1
            new_block[to] = number[b]
        # A root's circle is not in use and may lead anywhere.
        new_onward[to] = moved[onward[i]] if b < roots else to
        new_back[to] = moved[back[i]] if b < roots else to
        new_tree[to] = moved[tree[i]]
        new_spread[to] = spread[i]
    new_free[left] = left - blocks
    for k in range(left - blocks):
        new_free[k] = left - 1 - k
    return (
        new_broker,
        new_start,
        new_row_topic,
        new_block,
        new_top,
        new_children,
        new_onward,
        new_back,
        new_tree,
        new_spread,
        new_free,
        new_size,
    )
