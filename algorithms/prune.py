"""Prune: take away every link that a k-connected overlay can do without.

In a topic that is k-connected a link may go exactly when k disjoint paths join its ends without it; in a topic of at
most k + 1 subscribers, a clique by need, never. So a link is dropped when that holds in every topic its ends share.
Links only become more needed as others go: one that was kept need not be looked at again, and after one walk over all
links nothing more can be dropped. For k = 1 this is reverse delete.

The links of the busiest brokers are tried first: that takes the maximum degree down as well.
"""

from __future__ import annotations

import numpy as np

from algorithms.components import common_slots
from algorithms.connectivity import Flags, fan, scratch
from algorithms.interests import Interests, Ints, Longs
from algorithms.jit import kernel
from algorithms.progress import Progress, silent
from algorithms.topic_rows import TopicRows, drop_neighbour

_LINKS_A_SLICE = 1 << 12
_DEGREE, _TRIED, _DROPPED = 0, 1, 2


def pruned(interests: Interests, links: Ints, k: int, *, progress: Progress = silent) -> Ints:
    """The links that are left when no more can go without costing a topic its k-connectivity.

    The links must be distinct. A topic that is not k-connected to begin with keeps every link whose ends have fewer
    than k other disjoint paths between them.

    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x"], "c": ["x"]})
    >>> pruned(interests, np.array([[0, 1], [0, 2], [1, 2]], np.int32), 1).tolist()
    [[0, 1], [0, 2]]
    """
    links = links.copy()  # an overlay's links are read-only, and kernels are compiled anew for each such type
    rows = TopicRows.of(interests, links)
    work, flags, clock = scratch(int(interests.topic_sizes().max(initial=0)))
    degree = np.bincount(links.ravel(), minlength=len(interests.brokers)).astype(np.int32)
    head, following = _queued(links, degree)
    kept = np.ones(len(links), np.bool_)
    cursor = np.array([len(head) - 1, 0, 0], np.int64)
    while cursor[_DEGREE] >= 0:
        _prune(
            _LINKS_A_SLICE,
            min(k, np.iinfo(np.int32).max - 1),
            cursor,
            links,
            kept,
            head,
            following,
            degree,
            interests.broker_start,
            interests.broker_topics,
            interests.topic_start,
            rows.place,
            rows.starts,
            rows.ends,
            rows.neighbours,
            rows.slots,
            work,
            flags[0],
            clock,
        )
        done = cursor[_TRIED] / max(len(links), 1)
        progress(float(done), f"pruning: {cursor[_DROPPED]} links dropped")
    return links[kept]


def _queued(links: Ints, degree: Ints) -> tuple[Ints, Ints]:
    """One list of links for each larger degree of the two ends, the last links in front."""
    keys = degree[links].max(axis=1, initial=0)
    head = np.full(int(keys.max(initial=0)) + 1, -1, np.int32)
    following = np.full(len(links), -1, np.int32)
    order = np.argsort(keys, kind="stable")
    same = keys[order[1:]] == keys[order[:-1]]
    following[order[1:][same]] = order[:-1][same]
    last = np.append(~same, True)[: len(order)]
    head[keys[order[last]]] = order[last]
    return head, following


@kernel
def _prune(
    budget: int,
    k: int,
    cursor: Longs,
    links: Ints,
    kept: Flags,
    head: Ints,
    following: Ints,
    degree: Ints,
    broker_start: Longs,
    broker_topics: Ints,
    topic_start: Longs,
    place: Longs,
    starts: Longs,
    ends: Longs,
    neighbours: Ints,
    slots: Longs,
    work: Ints,
    goal: Flags,
    clock: Longs,
) -> None:
    """Try links until the budget is spent or ``cursor[_DEGREE]`` falls below 0.

    ``head[d]`` starts a list, by ``following``, of links whose larger end degree was d or more when they were put
    there; a link whose ends have lost links since moves down. ``goal`` is scratch, all False.
    """
    while cursor[_DEGREE] >= 0 and budget > 0:
        link = head[cursor[_DEGREE]]
        if link < 0:
            cursor[_DEGREE] -= 1
            continue
        head[cursor[_DEGREE]] = following[link]
        v, w = links[link, 0], links[link, 1]
        now = max(degree[v], degree[w])
        if now < cursor[_DEGREE]:
            following[link] = head[now]
            head[now] = link
            continue
        budget -= 1
        cursor[_TRIED] += 1
        found = common_slots(broker_start, broker_topics, v, w, slots[0], slots[1])
        spare = True
        for i in range(found):
            t = broker_topics[slots[0, i]]
            p, q = place[slots[0, i]], place[slots[1, i]]
            if (
                topic_start[t + 1] - topic_start[t] <= k + 1
                or min(ends[p] - starts[p], ends[q] - starts[q]) <= k
            ):
                spare = False
                break
        for i in range(found):
            if not spare:
                break
            p, q = place[slots[0, i]], place[slots[1, i]]
            first = topic_start[broker_topics[slots[0, i]]]
            for at in range(starts[q], ends[q]):
                goal[neighbours[at]] = True
            goal[p - first] = False
            spare = fan(p - first, q - first, k, first, starts, ends, neighbours, goal, work, clock) == k
            for at in range(starts[q], ends[q]):
                goal[neighbours[at]] = False
        if spare:
            kept[link] = False
            cursor[_DROPPED] += 1
            degree[v] -= 1
            degree[w] -= 1
            for i in range(found):
                p, q = place[slots[0, i]], place[slots[1, i]]
                first = topic_start[broker_topics[slots[0, i]]]
                drop_neighbour(p, q - first, starts, ends, neighbours)
                drop_neighbour(q, p - first, starts, ends, neighbours)
