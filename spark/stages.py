"""How far a job is, and what it took: stages timed one after the other, their tasks counted while they run.

Spark computes when asked for a result, so a stage ends where its result is asked for. While one runs, a thread looks at
how many of its tasks are done and tells whoever wants to know.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.sql import SparkSession

Tell = Callable[[str, float], None]
"""Called every second or so with the stage and the share of the whole job that is done."""

EVERY_SECONDS = 1.0


class Stages:
    """The stages of one job, with the share of it that each is expected to take."""

    def __init__(self, session: SparkSession, shares: dict[str, float], tell: Tell | None = None) -> None:
        self.seconds: dict[str, float] = {}
        self._session = session
        whole = sum(shares.values()) or 1.0
        self._shares = {name: share / whole for name, share in shares.items()}
        self._done = 0.0
        self._tell = tell

    @contextmanager
    def stage(self, name: str, share_of: str | None = None) -> Iterator[None]:
        """Run one stage; ``share_of`` names the expected one whose share it takes a part of."""
        share = self._shares.pop(share_of or name, 0.0)
        started = time.monotonic()
        over = threading.Event()
        follower = threading.Thread(target=self._follow, args=(name, share, over), daemon=True)
        if self._tell:
            self._tell(name, self._done)
            follower.start()
        try:
            yield
        except Exception as error:
            error.add_note(f"while {name}")
            raise
        finally:
            over.set()
            if self._tell:
                follower.join(timeout=5)
            self.seconds[name] = round(time.monotonic() - started, 3)
            self._done += share

    def _follow(self, name: str, share: float, over: threading.Event) -> None:
        assert self._tell is not None
        tracker = self._session.sparkContext.statusTracker()
        reached = 0.0
        while not over.wait(EVERY_SECONDS):
            # A Java that has ended is told of by the stage itself.
            with suppress(Py4JError, OSError):
                done = tasks = 0
                for number in tracker.getActiveStageIds():
                    info = tracker.getStageInfo(number)
                    if info is not None:
                        done, tasks = done + info.numCompletedTasks, tasks + info.numTasks
                # A stage of ours is several of Spark's: a bar never goes back.
                reached = max(reached, done / tasks if tasks else 0.0)
                self._tell(name, self._done + share * min(reached, 0.99))
