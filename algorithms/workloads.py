"""The papers' workloads: random interests with a given popularity of topics and size of brokers, by seed.

Popularity, most popular topic first:

| distribution | q_i, i = 1..T | used by |
|---|---|---|
| uniform | 1/T | all |
| zipf | proportional to i^-exponent | 0.5 in Chockler et al. 2007 and Onus and Richa 2016; 2.0 (the default) in Chen et al. |
| exponential | proportional to r^i, the most popular 10% of topics holding 0.55 | Chockler et al. 2007, section 8 |

Sizes, as "subscribes to t with probability q_t" is not yet a workload:

| sizes | a broker's topics |
|---|---|
| fixed | draws from q until it has ``subscriptions`` distinct ones: what reproduces the papers' figures |
| independent | each topic by its own coin, min(1, c q_t), with c such that ``subscriptions`` are expected |
| power-law | fixed, each broker with its own size k between two bounds, P(k) proportional to k^-2 |
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from algorithms.errors import BadInput
from algorithms.interests import Interests, Ints
from algorithms.jit import kernel

Distribution = Literal["uniform", "zipf", "exponential"]
Sizes = Literal["fixed", "independent", "power-law"]
Floats = NDArray[np.float64]

SIZE_EXPONENT = 2.0
_CHUNK = 1 << 22
"""Random numbers drawn at a time, so that memory does not grow with the workload."""


def generate(
    *,
    brokers: int,
    topics: int,
    subscriptions: int | tuple[int, int],
    distribution: Distribution = "uniform",
    exponent: float = 2.0,
    sizes: Sizes = "fixed",
    seed: int = 0,
) -> Interests:
    """Random interests; the same arguments give the same interests.

    ``subscriptions`` is the size of a broker, and for power-law sizes the pair (smallest, largest). ``exponent`` is
    Zipf's. Ids count from 1 and are padded with zeros, so that their order is the order of the numbers; topic 1 is the
    most popular. A topic nobody drew does not appear; a broker that drew nothing does.

    >>> interests = generate(brokers=200, topics=10, subscriptions=3, distribution="zipf", seed=7)
    >>> interests, interests.brokers[0], interests.topics[-1]
    (<Interests: 200 brokers, 10 topics, 600 subscriptions>, 'b001', 't10')
    """
    _check(brokers, topics, subscriptions, distribution, exponent, sizes, seed)
    random = np.random.default_rng(seed)
    weight = popularity(topics, distribution, exponent)
    if sizes == "independent":
        assert isinstance(subscriptions, int)
        broker_of_row, topic_of_row = _independent(random, brokers, _coins(weight, subscriptions))
    else:
        size_of_broker = _size_of_broker(random, brokers, subscriptions)
        broker_of_row = np.repeat(np.arange(brokers, dtype=np.int32), size_of_broker)
        topic_of_row = _distinct(random, weight, size_of_broker)
    used, topic_of_row = _without_gaps(topic_of_row, topics)
    broker_digits, topic_digits = len(str(brokers)), len(str(topics))
    return Interests.from_dense(
        [f"b{v:0{broker_digits}d}" for v in range(1, brokers + 1)],
        [f"t{t + 1:0{topic_digits}d}" for t in used.tolist()],
        broker_of_row,
        topic_of_row,
    )


def popularity(topics: int, distribution: Distribution, exponent: float = 2.0) -> Floats:
    """The probability of each topic, the most popular first; they sum to 1.

    >>> popularity(10, "exponential")[:1].round(6).tolist()
    [0.55]
    """
    place = np.arange(1, topics + 1, dtype=np.float64)
    if distribution == "uniform":
        weight = np.ones(topics)
    elif distribution == "zipf":
        weight = place**-exponent
    else:
        weight = _exponential(topics)
    share: Floats = weight / weight.sum()
    return share


def _exponential(topics: int) -> Floats:
    """r^0, r^1, ... with r such that the first tenth holds 0.55 of the sum, found by bisection."""
    top = max(1, round(topics / 10))
    places = np.arange(topics, dtype=np.float64)
    low, high = 0.0, 1.0
    for _ in range(100):
        ratio = (low + high) / 2
        weight = ratio**places
        if weight[:top].sum() > 0.55 * weight.sum():
            low = ratio
        else:
            high = ratio
    settled: Floats = high**places
    return settled


def _size_of_broker(random: np.random.Generator, brokers: int, subscriptions: int | tuple[int, int]) -> Ints:
    if isinstance(subscriptions, int):
        return np.full(brokers, subscriptions, np.int32)
    smallest, largest = subscriptions
    sizes = np.arange(smallest, largest + 1)
    share = sizes**-SIZE_EXPONENT
    return random.choice(sizes, brokers, p=share / share.sum()).astype(np.int32)


def _distinct(random: np.random.Generator, weight: Floats, size_of_broker: Ints) -> Ints:
    """For each broker so many distinct topics, as if drawn one by one and repeats ignored."""
    leaves = 1 << max(len(weight) - 1, 0).bit_length()
    tree = np.zeros(2 * leaves)
    tree[leaves : leaves + len(weight)] = weight
    for node in range(leaves - 1, 0, -1):
        tree[node] = tree[2 * node] + tree[2 * node + 1]
    drawn = np.empty(int(size_of_broker.sum(dtype=np.int64)), np.int32)
    ends = np.cumsum(size_of_broker, dtype=np.int64)
    first = done = 0
    while first < len(size_of_broker):
        last = max(int(np.searchsorted(ends, done + _CHUNK, side="right")), first + 1)
        until = int(ends[last - 1])
        _draw(tree, size_of_broker[first:last], random.random(until - done), drawn[done:until])
        first, done = last, until
    return drawn


@kernel
def _draw(tree: Floats, size_of_broker: Ints, uniform: Floats, drawn: Ints) -> None:
    """Draw without replacement from a tree of sums, never by rejection, which stalls when a broker wants nearly all.

    ``tree``: node i has children 2i and 2i + 1, the second half are the topics' weights; it is whole again after every
    broker. Sums are recomputed from the children, not subtracted from, so no rounding error is left behind and an
    emptied branch weighs exactly 0. ``uniform``: one number in [0, 1) a draw. ``drawn``: the topics.
    """
    leaves = len(tree) // 2
    taken = np.empty(len(tree) // 2)
    at = 0
    for size in size_of_broker:
        for i in range(size):
            rest = uniform[at + i] * tree[1]
            node = 1
            while node < leaves:
                node *= 2
                if rest >= tree[node] and tree[node + 1] > 0:
                    rest -= tree[node]
                    node += 1
            drawn[at + i] = node - leaves
            taken[i] = tree[node]
            tree[node] = 0.0
            while node > 1:
                node //= 2
                tree[node] = tree[2 * node] + tree[2 * node + 1]
        for i in range(size):
            node = leaves + drawn[at + i]
            tree[node] = taken[i]
            while node > 1:
                node //= 2
                tree[node] = tree[2 * node] + tree[2 * node + 1]
        at += size


def _coins(weight: Floats, expected: int) -> Floats:
    """min(1, c q_t) with c such that they sum to ``expected``."""
    low, high = 0.0, expected / weight.min()
    for _ in range(200):
        middle = (low + high) / 2
        if np.minimum(1.0, middle * weight).sum() < expected:
            low = middle
        else:
            high = middle
    coins: Floats = np.minimum(1.0, high * weight)
    return coins


def _independent(random: np.random.Generator, brokers: int, coins: Floats) -> tuple[Ints, Ints]:
    """The brokers of each topic by jumps: the gap to the next subscriber is geometric, so no coin shows tails."""
    broker_of_row, topic_of_row = [], []
    for topic, chance in enumerate(coins.tolist()):
        members, last = [np.empty(0, np.int64)], -1
        while last < brokers:
            expected = (brokers - last) * chance
            gaps = random.geometric(max(chance, 1e-300), int(expected + 6 * np.sqrt(expected) + 8))
            # A gap past the last broker ends the topic; clipped, a sum of gaps cannot overflow.
            places = last + np.cumsum(np.minimum(gaps, brokers + 1))
            members.append(places[places < brokers])
            last = int(places[-1])
        found = np.concatenate(members)
        broker_of_row.append(found.astype(np.int32))
        topic_of_row.append(np.full(len(found), topic, np.int32))
    return np.concatenate(broker_of_row), np.concatenate(topic_of_row)


def _without_gaps(topic_of_row: Ints, topics: int) -> tuple[Ints, Ints]:
    """The topics that occur, and the rows with those topics numbered densely."""
    occurs = np.zeros(topics, np.bool_)
    occurs[topic_of_row] = True
    rank = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
    return np.flatnonzero(occurs).astype(np.int32), rank[topic_of_row]


def _check(
    brokers: object,
    topics: object,
    subscriptions: object,
    distribution: object,
    exponent: object,
    sizes: object,
    seed: object,
) -> None:
    _check_count("brokers", brokers, 1, 2**31 - 1)
    most = _check_count("topics", topics, 1, 2**31 - 1)
    _check_count("seed", seed, 0, 2**63 - 1)
    if distribution not in get_args(Distribution):
        raise BadInput("distribution", distribution, f"must be one of {', '.join(get_args(Distribution))}")
    if sizes not in get_args(Sizes):
        raise BadInput("sizes", sizes, f"must be one of {', '.join(get_args(Sizes))}")
    if isinstance(exponent, bool) or not isinstance(exponent, (int, float)) or not 0 <= exponent <= 20:
        raise BadInput("exponent", exponent, "must be a number, at least 0 and at most 20")
    if sizes == "power-law":
        if not (isinstance(subscriptions, tuple) and len(subscriptions) == 2):
            raise BadInput(
                "subscriptions", subscriptions, "power-law sizes need the pair (smallest, largest)"
            )
        smallest = _check_count("subscriptions", subscriptions[0], 1, most)
        _check_count("subscriptions", subscriptions[1], smallest, most)
    else:
        _check_count("subscriptions", subscriptions, 1, most)


def _check_count(field: str, value: object, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadInput(field, value, "must be a whole number")
    if not low <= value <= high:
        raise BadInput(field, value, f"must be at least {low} and at most {high}")
    return value
