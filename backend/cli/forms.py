"""What commands share: the type of a file argument, ``--json``, and how figures are printed."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

FILE = click.Path(path_type=Path)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON for a program.")


def figures_table() -> Table:
    """A table of names and texts, without lines or headings."""
    return Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))


def print_json(value: object) -> None:
    """A value for a program, still readable by a person."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


@contextmanager
def progress_bar(title: str, *, hidden: bool) -> Iterator[Callable[[float, str], None]]:
    """A bar on a terminal's stderr, nothing in a pipe; Ctrl-C stops what it is shown for."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
    )
    with (
        _interruptible(),
        Progress(*columns, console=console, transient=True, disable=hidden or not console.is_terminal) as bar,
    ):
        task = bar.add_task(title, total=1.0)
        yield lambda done, stage: bar.update(task, completed=done, description=f"{title}: {stage}")


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C come out as KeyboardInterrupt wherever it finds the program.

    Inside the call of a kernel, or while one is compiled, it may surface as another error or be lost.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal came
        came = True
        signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    except Exception as error:
        if came:
            raise KeyboardInterrupt from error
        raise
    else:
        if came:
            raise KeyboardInterrupt
    finally:
        signal.signal(signal.SIGINT, before)
