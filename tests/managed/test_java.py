"""Which Java is chosen, with stand-ins that only tell their version."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.managed.java import find_java, java_version


def fake_java(directory: Path, version: str) -> Path:
    """A ``java`` that answers -version as the real ones do, and a home for it."""
    executable = directory / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2024-01-16' >&2\n")
    executable.chmod(0o755)
    return executable


@pytest.mark.parametrize(
    ("version", "feature"), [("1.8.0_392", 8), ("11.0.21", 11), ("17", 17), ("21.0.8", 21), ("25-ea", 25)]
)
def test_versions_as_java_writes_them(tmp_path: Path, version: str, feature: int) -> None:
    assert java_version(fake_java(tmp_path, version)) == feature


def test_the_release_file_saves_a_start(tmp_path: Path) -> None:
    java = fake_java(tmp_path, "8")
    (tmp_path / "release").write_text('IMPLEMENTOR="Someone"\nJAVA_VERSION="17.0.15"\n')
    assert java_version(java) == 17


def test_java_home_comes_before_the_path(tmp_path: Path) -> None:
    first = fake_java(tmp_path / "a", "21.0.1")
    second = fake_java(tmp_path / "b", "17.0.1")
    java = find_java(environment={"JAVA_HOME": str(tmp_path / "a"), "PATH": str(second.parent)})
    assert (java.executable, java.version, java.bundled) == (first, 21, False)
    assert java.home == tmp_path / "a"


def test_too_old_is_said_and_the_next_is_taken(tmp_path: Path) -> None:
    fake_java(tmp_path / "old", "1.8.0_392")
    fitting = fake_java(tmp_path / "good", "17.0.1")
    said: list[str] = []
    java = find_java(said.append, {"JAVA_HOME": str(tmp_path / "old"), "PATH": str(fitting.parent)})
    assert java.executable == fitting
    assert len(said) == 1
    assert "JAVA_HOME" in said[0]
    assert "Java 8, too old" in said[0]
    assert "17 or 21 is needed" in said[0]


def test_too_new_everywhere_falls_back_to_the_bundled_one(tmp_path: Path) -> None:
    new = fake_java(tmp_path, "26")
    said: list[str] = []
    java = find_java(said.append, {"JAVA_HOME": str(tmp_path / "absent"), "PATH": str(new.parent)})
    assert java.bundled
    assert java.version == 21
    assert "no Java that runs" in said[0]
    assert "Java 26, too new" in said[1]


def test_no_java_at_all_is_served_by_the_bundled_one() -> None:
    java = find_java(environment={"PATH": ""})
    assert java.bundled
    assert java_version(java.executable) == 21
