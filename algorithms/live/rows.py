"""Rows that grow and shrink in one pool of numbers, every write noted so that it can be taken back bit for bit.

The state of a live overlay is three arrays that all kernels here take:

==============  ==========================================================================================
``pool``        the entries of all rows; a free area holds the address of the next one of its size, -1 at the end
``rows``        row -> start, length and room of its area in the pool, and a flag
``free``        c -> the first free area of 2^c entries, -1 for none
==============  ==========================================================================================

Row ``KINDS * i + kind`` belongs to broker i or, for ``SUBSCRIBERS``, to topic i. Rows of topics ascend; the others
are in no order. ``counts`` holds how much of the pool is in use, and of ``log``, where each write notes (array, place,
old value). Entries past the used part of the pool are nobody's, so only writes below ``SETTLED`` are noted: who means
to roll back to a later moment raises it to ``TOP`` at that moment.

A kernel that runs out of pool or log raises :class:`OutOfRoom`; its caller rolls back, makes room and calls again.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from algorithms.interests import Ints, Longs
from algorithms.jit import kernel

_Number = TypeVar("_Number", np.int32, np.int64)

TOPICS, NEIGHBOURS, BACKUPS, PRIMARIES, SUBSCRIBERS = 0, 1, 2, 3, 4
KINDS = 5
START, LENGTH, ROOM, FLAG = 0, 1, 2, 3
"""Columns of ``rows``. The flag of a row of backups: it wants to be built anew."""

TOP, SETTLED, LOGGED, SHORT_OF = 0, 1, 2, 3
"""Places in ``counts``: pool in use; the part of it whose writes are noted; log in use; which of both ran out."""

IN_POOL, IN_ROWS, IN_FREE, IN_COUNTS = 0, 1, 2, 3
"""Arrays, as the log names them."""

SIZES = 32
SMALLEST = 2
"""No area is smaller than 2^SMALLEST entries."""


class OutOfRoom(Exception):
    """The pool or the log is full; ``counts[SHORT_OF]`` says which."""


@kernel
def _note(array: int, place: int, old: int, counts: Longs, log: Longs) -> None:
    n = counts[LOGGED]
    if n == len(log):
        counts[SHORT_OF] = LOGGED
        raise OutOfRoom
    log[n, 0] = array
    log[n, 1] = place
    log[n, 2] = old
    counts[LOGGED] = n + 1


@kernel
def put(place: int, value: int, pool: Ints, counts: Longs, log: Longs) -> None:
    """Write one entry of the pool."""
    if place < counts[SETTLED]:
        _note(IN_POOL, place, pool[place], counts, log)
    pool[place] = value


@kernel
def put_row(row: int, column: int, value: int, rows: Longs, counts: Longs, log: Longs) -> None:
    """Write one column of a row's header."""
    if rows[row, column] != value:
        _note(IN_ROWS, row * 4 + column, rows[row, column], counts, log)
        rows[row, column] = value


@kernel
def _allocate(entries: int, pool: Ints, free: Longs, counts: Longs, log: Longs) -> tuple[int, int]:
    """The start and the room of a new area for so many entries."""
    size = SMALLEST
    while (1 << size) < entries:
        size += 1
    start = free[size]
    if start >= 0:
        _note(IN_FREE, size, start, counts, log)
        free[size] = pool[start]
    else:
        start = counts[TOP]
        if start + (1 << size) > len(pool):
            counts[SHORT_OF] = TOP
            raise OutOfRoom
        _note(IN_COUNTS, TOP, start, counts, log)
        counts[TOP] = start + (1 << size)
    return start, 1 << size


@kernel
def _give_back(start: int, room: int, pool: Ints, free: Longs, counts: Longs, log: Longs) -> None:
    if room < 1 << SMALLEST:
        return
    size = SMALLEST
    while (2 << size) <= room:
        size += 1
    put(start, free[size], pool, counts, log)
    _note(IN_FREE, size, free[size], counts, log)
    free[size] = start


@kernel
def empty(row: int, pool: Ints, rows: Longs, free: Longs, counts: Longs, log: Longs) -> None:
    """Make a row empty and give its area back."""
    _give_back(rows[row, START], rows[row, ROOM], pool, free, counts, log)
    for column in range(4):
        put_row(row, column, 0, rows, counts, log)


@kernel
def append(row: int, value: int, pool: Ints, rows: Longs, free: Longs, counts: Longs, log: Longs) -> None:
    """Add an entry at the end of a row, which moves to an area twice as large when it is full."""
    length = rows[row, LENGTH]
    if length == rows[row, ROOM]:
        start, room = _allocate(length + 1, pool, free, counts, log)
        old = rows[row, START]
        for i in range(length):
            put(start + i, pool[old + i], pool, counts, log)
        _give_back(old, rows[row, ROOM], pool, free, counts, log)
        put_row(row, START, start, rows, counts, log)
        put_row(row, ROOM, room, rows, counts, log)
    put(rows[row, START] + length, value, pool, counts, log)
    put_row(row, LENGTH, length + 1, rows, counts, log)


@kernel
def insert(row: int, value: int, pool: Ints, rows: Longs, free: Longs, counts: Longs, log: Longs) -> None:
    """Add an entry to an ascending row."""
    append(row, value, pool, rows, free, counts, log)
    start = rows[row, START]
    at = start + rows[row, LENGTH] - 1
    while at > start and pool[at - 1] > value:
        put(at, pool[at - 1], pool, counts, log)
        at -= 1
    put(at, value, pool, counts, log)


@kernel
def take_out(row: int, value: int, pool: Ints, rows: Longs, free: Longs, counts: Longs, log: Longs) -> None:
    """Remove an entry that is there; the last one takes its place, but an ascending row (of topics) closes up."""
    start = rows[row, START]
    last = start + rows[row, LENGTH] - 1
    if last == start:
        flag = rows[row, FLAG]
        empty(row, pool, rows, free, counts, log)
        put_row(row, FLAG, flag, rows, counts, log)
        return
    at = start
    while pool[at] != value:
        at += 1
    if row % KINDS == TOPICS:
        while at < last:
            put(at, pool[at + 1], pool, counts, log)
            at += 1
    elif at < last:
        put(at, pool[last], pool, counts, log)
    put_row(row, LENGTH, last - start, rows, counts, log)


@kernel
def has_topic(broker: int, topic: int, pool: Ints, rows: Longs) -> bool:
    """Whether a broker subscribes to a topic, by bisection."""
    low = rows[KINDS * broker, START]
    end = low + rows[KINDS * broker, LENGTH]
    high = end
    while low < high:
        middle = (low + high) >> 1
        if pool[middle] < topic:
            low = middle + 1
        else:
            high = middle
    return bool(low < end and pool[low] == topic)


@kernel
def are_linked(a: int, b: int, pool: Ints, rows: Longs) -> bool:
    """Whether two brokers have a link."""
    if rows[KINDS * a + NEIGHBOURS, LENGTH] > rows[KINDS * b + NEIGHBOURS, LENGTH]:
        a, b = b, a
    start = rows[KINDS * a + NEIGHBOURS, START]
    for at in range(start, start + rows[KINDS * a + NEIGHBOURS, LENGTH]):  # noqa: SIM110 (Numba has no generators here)
        if pool[at] == b:
            return True
    return False


@kernel
def link(a: int, b: int, pool: Ints, rows: Longs, free: Longs, counts: Longs, log: Longs) -> None:
    """Open a link that is not there."""
    append(KINDS * a + NEIGHBOURS, b, pool, rows, free, counts, log)
    append(KINDS * b + NEIGHBOURS, a, pool, rows, free, counts, log)


@kernel
def unlink(a: int, b: int, pool: Ints, rows: Longs, free: Longs, counts: Longs, log: Longs) -> None:
    """Close a link that is there."""
    take_out(KINDS * a + NEIGHBOURS, b, pool, rows, free, counts, log)
    take_out(KINDS * b + NEIGHBOURS, a, pool, rows, free, counts, log)


@kernel
def roll_back(
    until: int, noted: int, pool: Ints, rows: Longs, free: Longs, counts: Longs, log: Longs
) -> None:
    """Take back the writes noted in ``log[until:noted]``, the last one first."""
    for n in range(noted - 1, until - 1, -1):
        place, old = log[n, 1], log[n, 2]
        if log[n, 0] == IN_POOL:
            pool[place] = old
        elif log[n, 0] == IN_ROWS:
            rows[place >> 2, place & 3] = old
        elif log[n, 0] == IN_FREE:
            free[place] = old
        else:
            counts[place] = old
    counts[LOGGED] = until


@kernel
def drawn(random: Longs, below: int) -> int:
    """A number in 0..below-1 from a generator of one word (Lehmer's, with Park and Miller's multiplier)."""
    random[0] = random[0] * 48271 % 2147483647
    return int(random[0] % below)


def grown(array: NDArray[_Number], entries: int) -> NDArray[_Number]:
    """A copy with room for so many entries along the first axis, new ones 0."""
    larger = np.zeros((entries, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
