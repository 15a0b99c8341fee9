"""The home directory: secrets, lock, record."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from backend.errors import BadValue, CannotRun
from backend.managed.home import Home, Running, secret
from backend.managed.processes import ProcessMark

HOLD = """
import sys
from pathlib import Path
from backend.managed.home import Home
with Home(Path(sys.argv[1])).locked():
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_secret_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "api-key"
    first = secret(path)
    assert len(first) >= 32
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    assert secret(path) == first
    assert path.stat().st_mode & 0o777 == 0o600
    assert secret(tmp_path / "other") != first


def test_an_empty_secret_left_by_a_crash_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "api-key").touch()
    assert secret(tmp_path / "api-key")


def test_a_home_is_its_owners_alone(tmp_path: Path) -> None:
    home = Home(tmp_path / "some" / "home")
    home.prepare()
    assert home.path.stat().st_mode & 0o777 == 0o700


def test_a_home_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "home"):
        with pytest.raises(BadValue, match="home: must be a folder") as refused:
            Home(path).prepare()
        assert (refused.value.field, refused.value.exit_code) == ("home", 2)
    with pytest.raises(CannotRun, match="the home /proc/none cannot be made"):
        Home(Path("/proc/none")).prepare()


def test_a_held_home_names_the_holder_and_is_free_once_it_is_killed(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.prepare()
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        home.record(running(ProcessMark.of("up", holder.pid)))
        with pytest.raises(CannotRun) as caught, home.locked():
            pass
        assert str(tmp_path) in caught.value.detail
        assert f"process {holder.pid}" in caught.value.detail
        holder.kill()
    with home.locked():
        record = home.running()
        assert record is not None
        assert not record.alive()


def test_the_record_comes_back_as_it_was(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert home.running() is None
    record = running(ProcessMark.of("up", os.getpid()))
    home.record(record)
    assert home.running() == record
    assert record.alive()
    home.record(None)
    assert home.running() is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"up": 1, "children": []}'])
def test_a_record_that_makes_no_sense_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "running.json").write_text(text)
    assert Home(tmp_path).running() is None


def running(up: ProcessMark) -> Running:
    return Running(up, "running", "http://a", None, "bolt://b", [ProcessMark("the API", 1, 2.5)])
