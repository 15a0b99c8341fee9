"""How a long build tells what it is at, and how it is stopped."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[float, str], None]
"""Called now and then with the share done (0 to 1) and what is being done; raise ``Cancelled`` in it to stop."""


def silent(_done: float, _stage: str) -> None:
    """The progress callback of a caller who does not want one."""


def part_of(progress: Progress, start: float, end: float) -> Progress:
    """A callback that reports 0 to 1 as ``start`` to ``end`` of another.

    >>> part_of(lambda done, stage: print(done, stage), 0.5, 1.0)(0.5, "halfway")
    0.75 halfway
    """

    def report(done: float, stage: str) -> None:
        progress(start + done * (end - start), stage)

    return report
