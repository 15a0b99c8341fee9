"""Processes are started, found again, told apart and stopped with all they started."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from backend.errors import CannotRun
from backend.managed.processes import (
    Child,
    ProcessMark,
    free_port,
    listens,
    read_marks,
    require_port,
    stop_orphan,
    tail,
    write_marks,
    write_whole,
)

SLEEP = "import time; print('ready', flush=True); time.sleep(60)"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + SLEEP
PARENT = f"import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', {SLEEP!r}]).pid, flush=True); {SLEEP}"


def start(program: str, log: Path) -> Child:
    child = Child("stand-in", [sys.executable, "-c", program], os.environ, log)
    until(lambda: "ready" in tail(log))
    return child


def until(condition: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


def test_a_child_is_stopped_with_what_it_started(tmp_path: Path) -> None:
    child = start(PARENT, tmp_path / "log")
    grandchild = psutil.Process(int(tail(child.log).split()[0]))
    child.stop(patience=5)
    assert child.ending() == "ended by SIGTERM"
    until(lambda: not grandchild.is_running() or grandchild.status() == psutil.STATUS_ZOMBIE)


def test_a_child_that_will_not_go_is_killed(tmp_path: Path) -> None:
    child = start(STUBBORN, tmp_path / "log")
    child.stop(patience=0.2)
    assert child.ending() == "ended by SIGKILL"
    assert child.mark.find() is None


def test_the_output_of_the_run_before_is_kept_once(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "some.log"
    for word in ("first", "second", "third"):
        child = Child(
            "stand-in", [sys.executable, "-c", f"print('{word}'); raise SystemExit(3)"], os.environ, log
        )
        until(lambda child=child: child.exit_code() is not None)  # type: ignore[misc]
    assert child.ending() == "ended with exit code 3"
    assert child.tail() == "third"
    assert tail(log.with_name("some.log.1")) == "second"


def test_an_orphan_is_found_by_its_mark_and_stopped(tmp_path: Path) -> None:
    child = start(SLEEP, tmp_path / "log")
    write_marks(tmp_path / "marks", [child.mark])
    (mark,) = read_marks(tmp_path / "marks")
    assert mark == child.mark
    assert stop_orphan(mark, patience=5)
    assert child.exit_code() is not None
    assert not stop_orphan(mark, patience=5)


def test_another_process_with_that_pid_is_left_alone(tmp_path: Path) -> None:
    child = start(SLEEP, tmp_path / "log")
    mistaken = ProcessMark("older", child.pid, child.mark.created - 100)
    assert mistaken.find() is None
    assert not stop_orphan(mistaken, patience=1)
    assert child.exit_code() is None
    child.stop(patience=5)


@pytest.mark.parametrize("text", ["", "[", "{}", '[{"pid": 1}]', "[1]"])
def test_marks_that_make_no_sense_are_no_marks(tmp_path: Path, text: str) -> None:
    (tmp_path / "marks").write_text(text)
    assert read_marks(tmp_path / "marks") == []
    assert read_marks(tmp_path / "absent") == []


def test_a_taken_port_names_its_purpose_its_owner_and_the_way_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert listens(port)
        with pytest.raises(CannotRun) as caught:
            require_port(port, "the API", "--api-port")
    assert f"port {port}, for the API, is taken by process {os.getpid()}" in caught.value.detail
    assert "--api-port" in caught.value.detail


def test_a_port_taken_on_every_address_is_taken() -> None:
    with socket.create_server(("0.0.0.0", 0)) as server, pytest.raises(CannotRun):
        require_port(server.getsockname()[1], "the API", "--api-port")


def test_a_free_port_is_free() -> None:
    port = free_port()
    assert not listens(port)
    require_port(port, "the API", "--api-port")


def test_a_file_is_written_whole_with_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "file"
    (tmp_path / "file.new").write_text("left by a crash")
    write_whole(path, "one", mode=0o600)
    write_whole(path, "two", mode=0o600)
    assert path.read_text() == "two"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_tail_reads_the_end_of_long_files(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("".join(f"line {i}\n" for i in range(100_000)))
    assert tail(path, 2) == "line 99998\nline 99999"
    assert tail(tmp_path / "absent") == ""
