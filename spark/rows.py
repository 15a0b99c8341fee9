"""Rows as a task is handed them, and the interests it makes of them.

Brokers and topics have numbers here. A task never sees another name, and needs none.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pyarrow

from algorithms.interests import Interests, Ints, Longs


def flat_rows(table: pyarrow.Table) -> tuple[Ints, Ints, Longs]:
    """The column v, all topics one after the other, and how many of them belong to each row."""
    topics = pyarrow.chunked_array(table["topics"]).combine_chunks()
    if isinstance(topics, pyarrow.ChunkedArray):
        topics = pyarrow.concat_arrays(topics.chunks) if topics.num_chunks else pyarrow.array([], topics.type)
    lengths = topics.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
    return table["v"].to_numpy(), topics.flatten().to_numpy(zero_copy_only=False), lengths


def numbered_interests(broker_of_row: Ints, topic_of_row: Ints, brokers: int, topics: int) -> Interests:
    """Interests of numbers: the names are the numbers themselves, which only their count is asked of.

    Rows may come in any order and repeat.
    """
    keys = np.unique(broker_of_row.astype(np.int64) * max(topics, 1) + topic_of_row)
    broker, topic = np.divmod(keys, max(topics, 1))
    by_topic = np.argsort(topic, kind="stable")
    names = cast("Any", range)
    return Interests(
        brokers=names(brokers),
        topics=names(topics),
        broker_start=_starts(broker, brokers),
        broker_topics=_frozen(topic.astype(np.int32)),
        topic_start=_starts(topic, topics),
        topic_brokers=_frozen(broker[by_topic].astype(np.int32)),
        duplicates=len(broker_of_row) - len(keys),
    )


def _starts(owner_of_row: Longs, owners: int) -> Longs:
    starts = np.zeros(owners + 1, np.int64)
    np.cumsum(np.bincount(owner_of_row, minlength=owners), out=starts[1:])
    return cast("Longs", _frozen(starts))


def _frozen(array: Any) -> Any:
    array.setflags(write=False)
    return array
