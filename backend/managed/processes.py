"""Processes we start and must not lose: how they are started, told apart, stopped, and what they last said.

A process is known by its pid and its time of creation, since pids are used again. Each runs in a session of its
own, so that a terminal's Ctrl-C reaches only the one that started it, and so that what a child starts itself can
be stopped with it.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from backend.errors import CannotRun

TAIL_LINES = 30


@dataclass(frozen=True)
class ProcessMark:
    """What is written down about a process so that it can be found again, and not mistaken for another."""

    name: str
    pid: int
    created: float

    @classmethod
    def of(cls, name: str, pid: int) -> ProcessMark:
        """The mark of a living process."""
        return cls(name, pid, psutil.Process(pid).create_time())

    def find(self) -> psutil.Process | None:
        """The process, if it still lives."""
        try:
            process = psutil.Process(self.pid)
            # Creation times are exact to a clock tick; a pid does not come round again within a second.
            same = abs(process.create_time() - self.created) < 1
            return process if same and process.status() != psutil.STATUS_ZOMBIE else None
        except psutil.NoSuchProcess:
            return None

    def wait_until_gone(self, patience: float) -> bool:
        """Is it gone within so many seconds? One that has ended and waits for its parent to notice is gone."""
        deadline = time.monotonic() + patience
        while self.find() is not None:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def as_json(self) -> dict[str, str | int | float]:
        """For a file."""
        return asdict(self)


class Child:
    """A process started by us, its output in a file."""

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self.name = name
        self.log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        if log.exists():
            # The run before is kept, once; so a log does not grow for ever and its end is about this run.
            log.replace(log.with_name(f"{log.name}.1"))
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                command,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.mark = ProcessMark.of(name, self._process.pid)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def exit_code(self) -> int | None:
        """None while it runs; negative: the signal that ended it."""
        return self._process.poll()

    def ending(self) -> str:
        """How it ended, in words."""
        code = self.exit_code()
        if code is None:
            return "still running"
        return f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"

    def stop(self, patience: float) -> None:
        """SIGTERM, and SIGKILL for whatever of its session is left when it has gone or ``patience`` is over."""
        if self.exit_code() is None:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(patience)
        _kill_session(self.pid)
        self._process.wait()

    def tail(self, lines: int = TAIL_LINES) -> str:
        """The end of its output."""
        return tail(self.log, lines)


def stop_orphan(mark: ProcessMark, patience: float) -> bool:
    """Stop a process whose parent is gone, with its session; False if it does not live any more."""
    process = mark.find()
    if process is None:
        return False
    process.terminate()
    mark.wait_until_gone(patience)
    _kill_session(mark.pid)
    mark.wait_until_gone(patience)
    return True


def _kill_session(leader: int) -> None:
    # The group bears the leader's pid until its last member is gone, so this can hit no stranger.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def tail(path: Path, lines: int = TAIL_LINES) -> str:
    """The last lines of a text file; empty if there is none."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 64 * 1024))
            text = file.read().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(text.splitlines()[-lines:])


def write_marks(path: Path, marks: Sequence[ProcessMark]) -> None:
    """Put marks into a file, all or nothing."""
    write_whole(path, json.dumps([mark.as_json() for mark in marks]))


def read_marks(path: Path) -> list[ProcessMark]:
    """Marks from a file; none if it is missing or no such file."""
    try:
        return [
            ProcessMark(str(m["name"]), int(m["pid"]), float(m["created"]))
            for m in json.loads(path.read_text())
        ]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return []


def write_whole(path: Path, text: str, mode: int = 0o644) -> None:
    """Write a file so that a reader, or a crash, sees the old text or the new one."""
    beside = path.with_name(f"{path.name}.new")
    beside.unlink(missing_ok=True)
    with os.fdopen(
        os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8"
    ) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def free_port() -> int:
    """A loopback port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listens(port: int) -> bool:
    """Does anything accept connections on this loopback port? Cheap enough to ask often."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def require_port(port: int, purpose: str, option: str, host: str = "127.0.0.1") -> None:
    """CannotRun, naming who has it, if ``port`` of ``host`` is taken; or if the host is not this machine."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise CannotRun(f"{purpose} cannot listen on {host}: {error.strerror}") from None
    with socket.socket(family) as probe:
        # As servers do: a port whose last connections are still fading out counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
            return
        except OSError as error:
            reason = error.strerror
            if error.errno == errno.EADDRNOTAVAIL:
                raise CannotRun(
                    f"{purpose} cannot listen on {host}: not an address of this machine"
                ) from None
    owner = port_owner(port)
    by = f"taken by process {owner.pid} ({_title(owner)})" if owner else f"taken ({reason})"
    raise CannotRun(f"port {port}, for {purpose}, is {by}: stop that or choose another with {option}")


def port_owner(port: int) -> psutil.Process | None:
    """The process that listens on ``port``, where this machine lets us know."""
    try:
        for connection in psutil.net_connections(kind="tcp"):
            listening = connection.status == psutil.CONN_LISTEN
            if listening and connection.laddr and connection.laddr.port == port and connection.pid:
                return psutil.Process(connection.pid)
    except psutil.Error:
        pass
    return None


def _title(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline()[:4])[:80] or process.name()
    except psutil.Error:
        return "unknown"
