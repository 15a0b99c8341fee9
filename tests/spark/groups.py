"""A command as a group of processes, of which none is left: a job that hangs would leave its Java behind, and whoever
reads its output would wait for that."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path


def run_group(
    words: list[str], *, cwd: Path, seconds: float, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with what it said; after so many seconds it is killed, and fails with what it said so far."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen(
            words, cwd=cwd, env=env and dict(env), stdout=out, stderr=err, start_new_session=True
        )
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            late = child.poll() is None
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        for file in (out, err):
            file.seek(0)
        said = out.read(), err.read()
    assert not late, f"not done after {seconds:g} s; it said so far: {said}"
    return subprocess.CompletedProcess(words, child.returncode, *said)
