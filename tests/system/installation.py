"""An installation as a user has it: `topicweave up` in a process, a home, ports of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import psutil

from backend.managed.home import Home
from backend.managed.processes import ProcessMark, free_port

PATIENCE = 150.0

# A JVM that lives for a minute is up sooner without its optimising compiler.
_QUICK = {"PYTHONUNBUFFERED": "1", "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1"}


def topicweave(
    *arguments: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run one command to its end."""
    command = [sys.executable, "-c", "from backend.cli import main; main()", *arguments]
    return subprocess.run(
        command,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


class Installation:
    """One home with ports of its own; ``start`` and ``wait_until_up`` may be called again after an end."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.api_port, self.console_port, self.bolt_port = free_port(), free_port(), free_port()
        self.up: subprocess.Popen[bytes] | None = None
        self.children: list[ProcessMark] = []

    @property
    def output(self) -> str:
        """All that `up` has said in this run."""
        return (self.home.parent / f"{self.home.name}.out").read_text()

    @property
    def options(self) -> list[str]:
        """What names this home and its ports."""
        ports = [
            "--api-port",
            self.api_port,
            "--console-port",
            self.console_port,
            "--bolt-port",
            self.bolt_port,
        ]
        return ["--home", str(self.home), *map(str, ports)]

    def start(self, *options: str, environment: Mapping[str, str] | None = None) -> None:
        """`topicweave up`, in a session of its own as a terminal gives it one."""
        command = [
            sys.executable,
            "-c",
            "from backend.cli import main; main()",
            "up",
            *self.options,
            *options,
        ]
        with (self.home.parent / f"{self.home.name}.out").open("wb") as output:
            self.up = subprocess.Popen(
                command,
                env={**os.environ, **_QUICK, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait_until_up(self) -> None:
        """Return when `up` says that all is up; notes its children."""
        assert self.up is not None
        deadline = time.monotonic() + PATIENCE
        while "TopicWeave is up." not in self.output:
            assert self.up.poll() is None, self.output
            assert time.monotonic() < deadline, self.output
            time.sleep(0.1)
        running = Home(self.home).running()
        assert running is not None
        self.children = running.children

    def child(self, name: str) -> ProcessMark:
        """The child of that name."""
        return next(mark for mark in self.children if mark.name == name)

    def wait_until_ended(self) -> int:
        """The exit code of `up`, once it has ended."""
        assert self.up is not None
        return self.up.wait(PATIENCE)

    def survivors(self) -> list[ProcessMark]:
        """Children that still run."""
        return [mark for mark in self.children if mark.find() is not None]

    def clean(self) -> None:
        """Leave nothing running, however a test ended."""
        if self.up is not None and self.up.poll() is None:
            self.up.send_signal(signal.SIGTERM)
            try:
                self.up.wait(60)
            except subprocess.TimeoutExpired:
                self.up.kill()
                self.up.wait()
        running = Home(self.home).running()
        for mark in [*self.children, *(running.children if running else [])]:
            if process := mark.find():
                process.kill()
                psutil.wait_procs([process], timeout=10)


def api_key(home: Path) -> Mapping[str, str]:
    """The header that lets a caller in."""
    return {"X-API-Key": (home / "api-key").read_text().strip()}
