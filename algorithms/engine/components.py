"""Topic components of the brokers at work: seed them, drop what is finished, weigh a pair, join two.

The arrays, all of which shrink as topics finish (a *row* is a broker, numbered by falling number of unfinished topics):

==============  ==========================================================================================
``broker``      row -> dense broker id
``row_start``   row -> its first subscription; one more at the end
``row_topic``   subscription -> topic (renumbered, ascending within a row)
``label``       subscription -> its component, named by one of the component's subscriptions, so no two topics share one
``ring``        subscription -> the next one of the same component, in a circle
``size``        label -> how many subscriptions its component has (garbage where no component has that name)
``apart``       topic -> how many components it has
==============  ==========================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from algorithms.interests import Ints, Longs
from algorithms.jit import kernel


@dataclass
class Components:
    """The topic components at one moment of a build; kernels take its arrays one by one."""

    broker: Ints
    row_start: Longs
    row_topic: Ints
    label: Ints
    ring: Ints
    size: Ints
    apart: Ints

    @classmethod
    def seeded(
        cls, broker: Ints, row_start: Longs, row_topic: Ints, topics: int, group: Ints | None
    ) -> Components:
        """Components at the start: subscriptions of one topic with the same group number are already connected.

        Without ``group`` every subscription is its own component.
        """
        everyone = np.arange(len(broker), dtype=np.int32)
        if group is None:
            group = np.repeat(everyone, np.diff(row_start))
        groups = int(group.max(initial=-1)) + 1
        label, ring, size, apart = _seed(row_start, row_topic, group, groups, topics)
        return cls(broker, row_start, row_topic, label, ring, size, apart)

    def compacted(self) -> Components:
        """Without finished topics and without brokers that have none left, rows by falling number of topics."""
        broker, row_start, row_topic, label, ring, size, apart = _compact(
            self.broker, self.row_start, self.row_topic, self.label, self.ring, self.size, self.apart
        )
        return Components(broker, row_start, row_topic, label, ring, size, apart)

    @property
    def single(self) -> bool:
        """Whether every subscription is a component of its own."""
        return int(self.apart.sum(dtype=np.int64)) == len(self.row_topic)

    @property
    def to_join(self) -> int:
        """How many joins of two components are still to be made."""
        return int(np.maximum(self.apart - 1, 0).sum(dtype=np.int64))


@kernel
def by_topic(row_start: Longs, row_topic: Ints, topics: int) -> tuple[Longs, Ints, Ints]:
    """Subscriptions sorted by topic, rows ascending: where each topic starts, the rows, the subscriptions."""
    start = np.zeros(topics + 1, np.int64)
    for i in range(len(row_topic)):
        start[row_topic[i] + 1] += 1
    for t in range(topics):
        start[t + 1] += start[t]
    fill = start[:-1].copy()
    row_of = np.empty(len(row_topic), np.int32)
    subscription = np.empty(len(row_topic), np.int32)
    for r in range(len(row_start) - 1):
        for i in range(row_start[r], row_start[r + 1]):
            place = fill[row_topic[i]]
            fill[row_topic[i]] = place + 1
            row_of[place] = r
            subscription[place] = i
    return start, row_of, subscription


@kernel
def _seed(
    row_start: Longs, row_topic: Ints, group: Ints, groups: int, topics: int
) -> tuple[Ints, Ints, Ints, Ints]:
    start, _, subscription = by_topic(row_start, row_topic, topics)
    label = np.empty(len(row_topic), np.int32)
    ring = np.empty(len(row_topic), np.int32)
    size = np.zeros(len(row_topic), np.int32)
    apart = np.zeros(topics, np.int32)
    seen_in = np.full(groups, -1, np.int32)
    first = np.empty(groups, np.int32)
    for t in range(topics):
        for place in range(start[t], start[t + 1]):
            i = subscription[place]
            g = group[i]
            if seen_in[g] != t:
                seen_in[g] = t
                first[g] = i
                ring[i] = i
                apart[t] += 1
            else:
                ring[i] = ring[first[g]]
                ring[first[g]] = i
            label[i] = first[g]
            size[first[g]] += 1
    return label, ring, size, apart


@kernel
def _compact(
    broker: Ints, row_start: Longs, row_topic: Ints, label: Ints, ring: Ints, size: Ints, apart: Ints
) -> tuple[Ints, Longs, Ints, Ints, Ints, Ints, Ints]:
    rows = len(broker)
    new_topic = np.full(len(apart), -1, np.int32)
    topics = 0
    for t in range(len(apart)):
        if apart[t] > 1:
            new_topic[t] = topics
            topics += 1
    new_apart = np.empty(topics, np.int32)
    for t in range(len(apart)):
        if new_topic[t] >= 0:
            new_apart[new_topic[t]] = apart[t]

    # Counting sort of the rows by falling number of unfinished topics; rows that are equal keep their order.
    active = np.zeros(rows, np.int32)
    for r in range(rows):
        for i in range(row_start[r], row_start[r + 1]):
            if new_topic[row_topic[i]] >= 0:
                active[r] += 1
    most = 0
    for r in range(rows):
        most = max(most, active[r])
    place = np.zeros(most + 2, np.int64)
    for r in range(rows):
        place[most - active[r] + 1] += 1
    for k in range(most + 1):
        place[k + 1] += place[k]
    kept = place[most]
    old_row = np.empty(rows, np.int32)
    for r in range(rows):
        k = most - active[r]
        old_row[place[k]] = r
        place[k] += 1

    new_broker = np.empty(kept, np.int32)
    new_start = np.zeros(kept + 1, np.int64)
    for n in range(kept):
        new_broker[n] = broker[old_row[n]]
        new_start[n + 1] = new_start[n] + active[old_row[n]]
    subscriptions = new_start[kept]
    new_row_topic = np.empty(subscriptions, np.int32)
    moved = np.empty(len(row_topic), np.int32)
    for n in range(kept):
        to = new_start[n]
        for i in range(row_start[old_row[n]], row_start[old_row[n] + 1]):
            t = new_topic[row_topic[i]]
            if t >= 0:
                new_row_topic[to] = t
                moved[i] = to
                to += 1
    new_label = np.empty(subscriptions, np.int32)
    new_ring = np.empty(subscriptions, np.int32)
    new_size = np.zeros(subscriptions, np.int32)
    for n in range(kept):
        for i in range(row_start[old_row[n]], row_start[old_row[n] + 1]):
            if new_topic[row_topic[i]] >= 0:
                to = moved[i]
                new_label[to] = moved[label[i]]
                new_ring[to] = moved[ring[i]]
                new_size[moved[label[i]]] = size[label[i]]
    return new_broker, new_start, new_row_topic, new_label, new_ring, new_size, new_apart


@kernel
def set_mark(row: int, row_start: Longs, row_topic: Ints, label: Ints, mark: Ints) -> None:
    """Write the row's component of each of its topics into ``mark``, which holds -1 elsewhere."""
    for i in range(row_start[row], row_start[row + 1]):
        mark[row_topic[i]] = label[i]


@kernel
def clear_mark(row: int, row_start: Longs, row_topic: Ints, mark: Ints) -> None:
    """Take the row's topics out of ``mark`` again."""
    for i in range(row_start[row], row_start[row + 1]):
        mark[row_topic[i]] = -1


@kernel
def marked_contribution(row: int, row_start: Longs, row_topic: Ints, label: Ints, mark: Ints) -> int:
    """In how many topics the row and the marked one are apart: by how much a link lowers the number of components."""
    count = 0
    for i in range(row_start[row], row_start[row + 1]):
        other = mark[row_topic[i]]
        count += (other >= 0) & (other != label[i])
    return count


@kernel
def find_topic(topic: int, low: int, high: int, row_topic: Ints) -> int:
    """The first place in ``row_topic[low:high]`` that is not below the topic."""
    while low < high:
        middle = (low + high) >> 1
        if row_topic[middle] < topic:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def searched_contribution(long: int, short: int, row_start: Longs, row_topic: Ints, label: Ints) -> int:
    """The contribution of a pair by binary search: for rows whose lengths differ a lot and that are met once."""
    count = 0
    low = row_start[long]
    high = row_start[long + 1]
    for i in range(row_start[short], row_start[short + 1]):
        low = find_topic(row_topic[i], low, high, row_topic)
        if low == high:
            break
        count += (row_topic[low] == row_topic[i]) & (label[low] != label[i])
    return count


@kernel
def join_components(i: int, j: int, label: Ints, ring: Ints, size: Ints) -> None:
    """Make one component of the different ones of subscriptions i and j: the smaller takes the larger's label.

    A giant component thus keeps its label to the end, and each subscription is relabelled log2(n) times at most.
    """
    if size[label[i]] < size[label[j]]:
        i, j = j, i
    size[label[i]] += size[label[j]]
    x = j
    while True:
        label[x] = label[i]
        x = ring[x]
        if x == j:
            break
    ring[i], ring[j] = ring[j], ring[i]


@kernel
def add_link(
    v: int,
    w: int,
    marked: bool,
    row_start: Longs,
    row_topic: Ints,
    label: Ints,
    ring: Ints,
    size: Ints,
    apart: Ints,
    mark: Ints,
) -> None:
    """Join the components of rows v and w in every topic they share; ``marked``: v is, and its mark stays true."""
    low = row_start[v]
    high = row_start[v + 1]
    leap = (high - low) > 12 * (row_start[w + 1] - row_start[w])
    for i in range(row_start[w], row_start[w + 1]):
        if leap:
            low = find_topic(row_topic[i], low, high, row_topic)
        else:
            while low < high and row_topic[low] < row_topic[i]:
                low += 1
        if low == high:
            break
        if row_topic[low] == row_topic[i] and label[low] != label[i]:
            join_components(low, i, label, ring, size)
            apart[row_topic[i]] -= 1
            if marked:
                mark[row_topic[i]] = label[low]


Mask = NDArray[np.bool_]
