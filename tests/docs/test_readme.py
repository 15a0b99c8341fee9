"""The README holds what it says: its commands run as printed, its Python runs, its pictures are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from backend.cli import COMMANDS, main
from tests.docs.pages import ROOT, blocks, commands

README = (ROOT / "README.md").read_text(encoding="utf-8")
SYSTEM = {
    "experiments",
    "up",
    "status",
    "down",
    "import",
    "query",
    "rebuild",
    "plan",
    "check",
    "backup",
    "restore",
}
"""They need a running system, or minutes: tests of their own try them."""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place like the project's directory, where commands may write."""
    (tmp_path / "backend").symlink_to(ROOT / "backend")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("checkout")
def test_the_commands_run_as_printed() -> None:
    found = [words for words in commands(README) if words[0] in COMMANDS]
    assert {"generate", "build", "verify", "measure", "bound", "simulate"} <= {words[0] for words in found}
    for words in found:
        if words[0] not in SYSTEM:
            with pytest.raises(SystemExit) as stop:
                main(words)
            assert stop.value.code == 0, words


@pytest.mark.usefixtures("checkout")
def test_the_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks(README, "python")
    exec(code, {})
    assert "True" in capsys.readouterr().out


def test_the_pictures_are_there() -> None:
    pictures = re.findall(r'(?:src|srcset)="([^"]+)"', README)
    assert len(pictures) == 2
    assert all((ROOT / picture).exists() for picture in pictures)
