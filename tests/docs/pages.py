"""The documents as tests see them: their blocks of code, the commands in them, what they link to."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click

from backend.cli import topicweave

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", *DOCS.rglob("*.md")])
GUIDES = [page for page in PAGES if page.parent.name != "decisions"]
"""Pages that people follow; a decision may speak of commands that were tried and left."""


def name_of(page: Path) -> str:
    """A page's name in the output of a test."""
    return str(page.relative_to(ROOT))


def text_of(name: str) -> str:
    """The text of a page of docs/."""
    return (DOCS / name).read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def shell_lines(text: str) -> list[str]:
    """The lines of the shell blocks, with continued ones whole."""
    return [
        line
        for block in blocks(text, "sh")
        for line in block.replace("\\\n", " ").splitlines()
        if line.strip() and not line.startswith("#")
    ]


def commands(text: str) -> list[list[str]]:
    """Every ``topicweave`` command of a page, in its blocks and in its sentences, as words after the name."""
    spans = re.findall(
        r"`(topicweave [^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    )
    lines = [line for line in shell_lines(text) if line.startswith("topicweave")]
    return [shlex.split(line, comments=True)[1:] for line in [*lines, *spans]]


def parse(words: list[str]) -> None:
    """Read a command as the command line would, without running it; click raises what is wrong with it."""
    context = click.Context(topicweave, info_name="topicweave")
    command: click.Command = topicweave
    while isinstance(command, click.Group):
        if not words:
            return
        name, found, words = command.resolve_command(context, words)
        assert found is not None, name
        command = found
        if isinstance(command, click.Group):
            continue
        with command.make_context(name, list(words), parent=context):
            return


def rows(text: str, heading: str) -> list[list[str]]:
    """The cells of the table whose header begins with a cell."""
    lines = text[text.index(f"| {heading} |") :].splitlines()[2:]
    found = []
    for line in lines:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return found


def code(cell: str) -> list[str]:
    """What stands in backticks."""
    return re.findall(r"`([^`]+)`", cell)
