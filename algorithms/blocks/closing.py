"""Level 1 for free: once no pair has an estimate above 1, any links that make each topic one block are exact GM2.

A link of estimate 1 changes one topic only, so topics no longer influence each other, and no pair has to be counted or
stored. What is left to choose is which members to link: few links, ends of low degree. An *end* of a topic is a
subscriber without links there, or a block with at most one articulation broker; every end needs a link, and a link
between two ends serves both. Ends of different trees are joined first, tree after tree and round to the first; then the
ends of the one tree that is left, in depth-first order, each with the one half the order further on, so that most
blocks lie between them.
"""

from __future__ import annotations

import numpy as np

from algorithms.blocks.trees import BLOCK, join_blocks, share_block
from algorithms.engine.components import by_topic
from algorithms.engine.entries import write_link
from algorithms.interests import Ints, Longs
from algorithms.jit import kernel


@kernel
def _find_ends(
    member: Ints,
    subscription: Ints,
    node: Ints,
    top: Ints,
    degree: Ints,
    child: Ints,
    beside: Ints,
    local: Ints,
    below: Ints,
    sibling: Ints,
    stack: Ints,
    ends: Ints,
    tree_of: Ints,
) -> int:
    """The ends of one topic, tree after tree in depth-first order; returns how many.

    ``member`` and ``subscription``: the rows of the topic and their subscriptions. ``ends``: for each end the local
    number of who to link there, the lowest degree that is no articulation broker; a tree that is one block has two.
    ``tree_of``: the number of its tree. Scratch: ``child[b]`` and ``sibling`` list a block's children, ``below`` and
    ``beside[b]`` the blocks that a subscriber is the top of, ``local`` the local number of a subscription.
    """
    roots = len(node)
    size = len(member)
    for x in range(size):
        local[subscription[x]] = x
        below[x] = -1
        if node[subscription[x], BLOCK] < roots:
            child[node[subscription[x], BLOCK]] = -1
    for x in range(size):
        b = node[subscription[x], BLOCK]
        if b < roots:
            sibling[x] = child[b]
            child[b] = x
    for x in range(size):
        b = node[subscription[x], BLOCK]
        if b < roots and child[b] == x:
            above = local[top[b]]
            beside[b] = below[above]
            below[above] = b
    n = 0
    trees = 0
    for root in range(size):
        if node[subscription[root], BLOCK] < roots:
            continue
        if below[root] < 0:
            ends[n], tree_of[n] = root, trees
            n += 1
        stack[0] = root
        depth = 1
        while depth > 0:
            depth -= 1
            x = stack[depth]
            b = below[x]
            while b >= 0:
                articulate = 0
                lowest, second = -1, -1
                y = x
                while y >= 0:
                    # In two blocks or more: a parent block and one below, or two below.
                    blocks = below[y] >= 0 and (node[subscription[y], BLOCK] < roots or beside[below[y]] >= 0)
                    if blocks:
                        articulate += 1
                    elif lowest < 0 or degree[member[y]] < degree[member[lowest]]:
                        lowest, second = y, lowest
                    elif second < 0 or degree[member[y]] < degree[member[second]]:
                        second = y
                    if y != x:
                        stack[depth] = y
                        depth += 1
                        y = sibling[y]
                    else:
                        y = child[b]
                if articulate <= 1:
                    ends[n], tree_of[n] = lowest, trees
                    n += 1
                if articulate == 0:
                    ends[n], tree_of[n] = second, trees
                    n += 1
                b = beside[b]
        trees += 1
    return n


@kernel
def close_topics(
    cursor: Longs,
    clock: Longs,
    path: Ints,
    row_start: Longs,
    row_topic: Ints,
    node: Ints,
    top: Ints,
    hold: Ints,
    size: Ints,
    degree: Ints,
    links: Ints,
    gains: Ints,
) -> None:
    """Make every topic one block by links of estimate 1; they are written behind the links so far, as rows."""
    topics = len(size)
    start, row_of, subscription_of = by_topic(row_start, row_topic, topics)
    largest = 0
    for t in range(topics):
        largest = max(largest, start[t + 1] - start[t])
    child = np.empty(len(node), np.int32)
    beside = np.empty(len(node), np.int32)
    local = np.empty(len(node), np.int32)
    scratch = np.empty((5, largest + 2), np.int32)
    ends, tree_of = scratch[3], scratch[4]
    for t in range(topics):
        member = row_of[start[t] : start[t + 1]]
        subscription = subscription_of[start[t] : start[t + 1]]
        while size[t] > 0:
            n = _find_ends(
                member,
                subscription,
                node,
                top,
                degree,
                child,
                beside,
                local,
                scratch[0],
                scratch[1],
                scratch[2],
                ends,
                tree_of,
            )
            several = tree_of[n - 1] > 0
            for k in range(n if several else n // 2):
                x = ends[k]
                y = ends[(k + 1) % n] if several else ends[k + n // 2]
                if several and tree_of[k] == tree_of[(k + 1) % n]:
                    continue
                i, j = int(subscription[x]), int(subscription[y])
                if i == j or share_block(i, j, node, top):
                    continue
                join_blocks(i, j, t, clock, path, node, top, hold, size)
                write_link(member[x], member[y], 1, cursor, degree, links, gains)
                if size[t] == 0:
                    break
