"""Starting parts of the product as a person would, and showing their log when something fails."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx2

ROOT = Path(__file__).parents[2]


class NotUp(Exception):
    """A process ended, or took too long to answer; the message carries its log."""


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(**given: str) -> dict[str, str]:
    """The environment of a started process: this one's, without settings of whoever runs the tests."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("TOPICWEAVE_", "NEO4J_", "STREAMLIT_")) or name == "TOPICWEAVE_CACHE"
    }
    return kept | {"PYTHONPATH": str(ROOT)} | given


@contextmanager
def started(
    module: str, log: Path, ready: str, settings: Mapping[str, str], cwd: Path, seconds: float = 280
) -> Iterator[subprocess.Popen[bytes]]:
    """Run ``python -m module`` until the block ends; enter it once ``ready`` answers 200."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", module],
            cwd=cwd,
            env=environment(**settings),
            stdout=out,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        )
    try:
        _wait(process, module, log, ready, seconds)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(process: subprocess.Popen[bytes], module: str, log: Path, ready: str, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            raise NotUp(f"python -m {module} ended with {process.returncode}:\n{tail(log)}")
        try:
            if httpx2.get(ready, timeout=1, trust_env=False).status_code == 200:
                return
        except httpx2.HTTPError:
            pass
        time.sleep(0.1)
    raise NotUp(f"{ready} did not answer 200 within {seconds:g} s:\n{tail(log)}")


def tail(log: Path, characters: int = 6000) -> str:
    """The end of a log."""
    return log.read_text(errors="replace")[-characters:]
