"""The README holds what it says: its commands run as printed, its Python runs, its links lead somewhere."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from backend.cli import COMMANDS, main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
SYSTEM = {"up", "status"}  # tried as a user would in tests/system


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def commands() -> list[list[str]]:
    lines = [shlex.split(line, comments=True) for block in blocks("sh") for line in block.splitlines()]
    return [words[1:] for words in lines if words and words[0] == "topicweave"]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place like the project's directory, where commands may write."""
    (tmp_path / "backend").symlink_to(ROOT / "backend")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("checkout")
def test_the_commands_run_as_printed() -> None:
    names = [words[0] for words in commands()]
    assert SYSTEM <= set(names) <= set(COMMANDS)
    for words in commands():
        if words[0] not in SYSTEM:
            with pytest.raises(SystemExit) as stop:
                main(words)
            assert stop.value.code == 0, words


@pytest.mark.usefixtures("checkout")
def test_the_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks("python")
    exec(code, {})
    assert "True" in capsys.readouterr().out


def test_the_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"make ([a-z-]+)", README)) <= targets


def test_the_links_lead_somewhere() -> None:
    targets = [target for target in re.findall(r"\]\(([^)]+)\)", README) if "://" not in target]
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []
