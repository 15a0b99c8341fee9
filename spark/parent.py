"""A job that the API started ends with it: killed, the API can tell nobody to stop."""

from __future__ import annotations

import os
import signal
import threading
import time

SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_TO_STOP = 10.0


def end_with(parent: int) -> None:
    """Watch a process; when it is no longer this one's parent, stop as if told to, then kill what is left."""
    threading.Thread(target=_watch, args=(parent,), name="parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(SECONDS_TO_STOP)
    if os.getpgrp() == os.getpid():  # else the group is not ours alone
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)
