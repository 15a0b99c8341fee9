"""Restore k-connectivity: links across the separators that the growing-set test finds.

After a degree cover most topics are k-connected already; the rest hold clusters of like brokers that fewer than k others
cut off. Each separator found gets one link across it, between the brokers of lowest degree on its two sides; the link
counts in every topic its ends share. A topic is tested until it holds, and links never harm another topic.
"""

from __future__ import annotations

import numpy as np

from algorithms.connectivity import Flags, scratch, weak_spot
from algorithms.interests import Interests, Ints, Longs
from algorithms.jit import kernel
from algorithms.progress import Progress, silent
from algorithms.topic_rows import TopicRows, add_links

_ROOM = 4
_TOPICS_A_SLICE = 64
_TOPIC, _ADDED = 0, 1


def restore(interests: Interests, links: Ints, k: int, *, progress: Progress = silent) -> Ints:
    """The links to add so that every topic is k-connected (a clique where it has at most k + 1 subscribers)."""
    degree = np.bincount(links.ravel(), minlength=len(interests.brokers)).astype(np.int32)
    work, flags, clock = scratch(int(interests.topic_sizes().max(initial=0)))
    added = np.empty((max(len(links), 16), 2), np.int32)
    cursor = np.zeros(2, np.int64)
    topics = len(interests.topics)
    while cursor[_TOPIC] < topics:
        # A row or the list of new links was full: start again from there with more room.
        so_far = added[: cursor[_ADDED]]
        rows = TopicRows.of(interests, np.concatenate([links, so_far]), _ROOM)
        if 2 * len(so_far) > len(added):
            added = np.resize(added, (2 * len(added), 2))
        roomy = True
        while roomy and cursor[_TOPIC] < topics:
            roomy = _restore(
                k,
                _TOPICS_A_SLICE,
                cursor,
                interests.broker_start,
                interests.broker_topics,
                interests.topic_start,
                interests.topic_brokers,
                rows.place,
                rows.starts,
                rows.ends,
                rows.neighbours,
                rows.slots,
                degree,
                work,
                flags,
                clock,
                added,
            )
            progress(int(cursor[_TOPIC]) / topics, f"restoring connectivity: {cursor[_ADDED]} links added")
    return added[: cursor[_ADDED]]


@kernel
def _restore(
    k: int,
    budget: int,
    cursor: Longs,
    broker_start: Longs,
    broker_topics: Ints,
    topic_start: Longs,
    topic_brokers: Ints,
    place: Longs,
    starts: Longs,
    ends: Longs,
    neighbours: Ints,
    slots: Longs,
    degree: Ints,
    work: Ints,
    flags: Flags,
    clock: Longs,
    added: Ints,
) -> bool:
    """Test topics from ``cursor[_TOPIC]`` on, ``budget`` of them; False when there was no room for a link.

    ``added`` gets the new links, as dense broker ids; rows and scratch are those of the test.
    """
    largest = work.shape[1]
    separator = np.empty(largest, np.int32)
    parted = np.zeros(2, np.int32)
    side = np.zeros(largest, np.int8)
    queue = work[5]
    while cursor[_TOPIC] < len(topic_start) - 1 and budget > 0:
        t = cursor[_TOPIC]
        first = topic_start[t]
        size = topic_start[t + 1] - first
        wanted = min(k, size - 1)
        while wanted > 0:
            got = weak_spot(
                wanted, first, size, starts[:-1], ends, neighbours, work, flags, clock, separator, parted
            )
            if got == wanted:
                break
            if cursor[_ADDED] == len(added):
                return False
            # Whoever the first of the parted two reaches without the separator is on its side (1), the separator
            # itself is on none (2).
            side[:size] = 0
            for n in range(got):
                side[separator[n]] = 2
            side[parted[0]] = 1
            queue[0] = parted[0]
            reached, at = 1, 0
            while at < reached:
                u = queue[at]
                at += 1
                for p in range(starts[first + u], ends[first + u]):
                    w = neighbours[p]
                    if side[w] == 0:
                        side[w] = 1
                        queue[reached] = w
                        reached += 1
            near, far = parted[0], parted[1]
            for v in range(size):
                if side[v] == 1 and degree[topic_brokers[first + v]] < degree[topic_brokers[first + near]]:
                    near = v
                elif side[v] == 0 and degree[topic_brokers[first + v]] < degree[topic_brokers[first + far]]:
                    far = v
            link = added[cursor[_ADDED] : cursor[_ADDED] + 1]
            link[0, 0] = min(topic_brokers[first + near], topic_brokers[first + far])
            link[0, 1] = max(topic_brokers[first + near], topic_brokers[first + far])
            if not add_links(
                link, broker_start, broker_topics, topic_start, place, starts, ends, neighbours, slots
            ):
                return False
            degree[link[0, 0]] += 1
            degree[link[0, 1]] += 1
            cursor[_ADDED] += 1
        cursor[_TOPIC] += 1
        budget -= 1
    return True
