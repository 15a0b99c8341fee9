"""Random orders and parts that every engine agrees on: a seeded 64-bit hash of each id.

A random number generator gives a broker a place that depends on all brokers before it. A hash of (seed, id) depends on
that id alone, so a Spark task that sees one part of the brokers gives each the same number as a process that sees all.

The hash of an id is the first 8 bytes, little-endian, of BLAKE2b of its UTF-8 bytes; the seed is mixed in afterwards
by splitmix64's finaliser, so the costly part is done once an id, and another seed costs a few array operations.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from algorithms.interests import Interests

Hashes = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def id_hashes(ids: Iterable[str]) -> Hashes:
    """A stable 64-bit hash of each id, whatever the machine, process or Python version.

    >>> [f"{value:016x}" for value in id_hashes(["a", "b"])]
    ['2f42665b399ef840', '754f854de3c27284']
    """
    digests = b"".join([blake2b(text.encode(), digest_size=8).digest() for text in ids])
    return np.frombuffer(digests, "<u8").astype(np.uint64)


def seeded(hashes: Hashes, seed: int, stream: int = 0) -> Hashes:
    """The hashes mixed with a seed, and with the number of a stream where one seed serves several orders.

    Each output bit depends on every bit of hash, seed and stream; for one seed and stream the map is one to one.
    """
    key = _mixed(np.array([(seed & 0xFFFFFFFFFFFFFFFF)], np.uint64) + _GOLDEN)
    key = _mixed(key ^ np.uint64(stream & 0xFFFFFFFFFFFFFFFF))
    return _mixed((hashes ^ key) + _GOLDEN)


def random_ranks(hashes: Hashes, seed: int, stream: int = 0) -> NDArray[np.int32]:
    """The place of each id in the seeded random order, 0 first; equal numbers keep the order of the ids.

    >>> random_ranks(id_hashes(["a", "b", "c", "d"]), seed=1).tolist()
    [1, 2, 0, 3]
    """
    order = np.argsort(seeded(hashes, seed, stream), kind="stable")
    ranks = np.empty(len(order), np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return ranks


def random_parts(hashes: Hashes, seed: int, parts: int) -> NDArray[np.int32]:
    """A part in 0..parts-1 for each id, by its hash alone: part sizes vary as in a uniform draw.

    For parts whose sizes differ by at most one take ``random_ranks(...) % parts``, which needs all ids at one place.

    >>> random_parts(id_hashes(["a", "b", "c", "d"]), seed=1, parts=2).tolist()
    [0, 0, 1, 0]
    """
    return (seeded(hashes, seed) % np.uint64(parts)).astype(np.int32)


def subscription_hashes(interests: Interests, seed: int) -> Hashes:
    """A number for each place of ``interests.topic_brokers``, from seed, topic name and broker id alone.

    Sorted by it, each topic's subscribers are in a random order of the topic's own.
    """
    of_topic = seeded(id_hashes(interests.topics), seed)
    of_broker = id_hashes(interests.brokers)
    return _mixed(np.repeat(of_topic, interests.topic_sizes()) ^ of_broker[interests.topic_brokers])


def _mixed(values: Hashes) -> Hashes:
    values = (values ^ (values >> np.uint64(30))) * _FIRST
    values = (values ^ (values >> np.uint64(27))) * _SECOND
    return values ^ (values >> np.uint64(31))
