"""Work in a process of its own: heard of while it runs, ended with the process that asked for it.

Reading files, building overlays and decoding millions of rows would hold the interpreter that serves live changes; in
another process they do not. A fork of this one would keep the locks that threads hold just then, for ever, and a fresh
interpreter takes a second to import what the work needs: so each is forked from a server that has imported that, and
run nothing.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Concatenate, ParamSpec, TypeVar

from algorithms.errors import BadInput
from backend.errors import BadValue, NotReady, Problem, first_line

PRELOADED = (
    "backend.backup.take",
    "backend.check",
    "backend.imports.merge",
    "backend.imports.whole",
    "backend.rebuilds.build",
    "backend.simulations",
)
"""Where the work is that processes are made for."""

_forked = multiprocessing.get_context("forkserver")
_forked.set_forkserver_preload(list(PRELOADED))
_fresh = multiprocessing.get_context("spawn")

Report = Callable[[float, Any], None]
"""Called now and then with the share done (0 to 1) and what is being done, or with a part of the answer that is known."""
Answer = TypeVar("Answer")
Found = TypeVar("Found")
Given = ParamSpec("Given")


_waiting = ThreadPoolExecutor(64, "jobs")
"""A thread a job, which waits for what its process says. Those that requests are answered with are few: six jobs would
keep all of them on a machine of two cores."""


async def _beside(work: Callable[[], Found]) -> Found:
    return await asyncio.get_running_loop().run_in_executor(_waiting, work)


async def in_process(
    report: Report,
    work: Callable[Concatenate[Report, Given], Answer],
    *given: Given.args,
    **named: Given.kwargs,
) -> Answer:
    """What ``work(report, *given)`` answers or raises, worked out in a process of its own; ended when this is cancelled."""
    here, there = _fresh.Pipe(duplex=False)
    starting = asyncio.ensure_future(_beside(lambda: _start(there, work, given, named)))
    process: BaseProcess | None = None
    try:
        process = await asyncio.shield(starting)
        there.close()
        while True:
            try:
                kind, *told = await _beside(here.recv)
            except EOFError:
                await _beside(process.join)
                raise Problem(f"the process that did this ended: {_ending(process.exitcode)}") from None
            if kind == "progress":
                report(*told)
            elif kind == "problem":
                raise told[0]
            elif kind == "error":
                raise Problem(told[0])
            else:
                answer: Answer = told[0]
                return answer
    finally:
        await asyncio.wait([starting])  # a thread starts it, whoever is cancelled meanwhile
        there.close()
        if not starting.exception():
            process = starting.result()
            process.kill()
            await _beside(process.join)
        here.close()


def _start(there: Connection, *given: Any) -> BaseProcess:
    """Fork it; where the server's socket cannot be made or was cleared away, spawn it."""
    process: BaseProcess = _forked.Process(target=_run, args=(there, *given), daemon=True)
    try:
        process.start()
    except (OSError, EOFError):
        process = _fresh.Process(target=_run, args=(there, *given), daemon=True)
        process.start()
    return process


def _run(there: Connection, work: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()

    def report(share: float, stage: str) -> None:
        there.send(("progress", share, stage))

    try:
        there.send(("done", work(report, *given, **named)))
    except Problem as problem:
        there.send(("problem", problem))
    except BadInput as error:
        there.send(("problem", BadValue(str(error), field=error.field)))
    except BaseException as error:  # noqa: BLE001 (whatever it is, the other side must hear of it)
        traceback.print_exc(file=sys.stderr)
        away = NotReady(f"Neo4j does not answer: {first_line(error)}") if _is_away(error) else None
        with suppress(OSError):
            there.send(("problem", away) if away else ("error", f"{type(error).__name__}: {error}"))


def _is_away(error: BaseException) -> bool:
    """Whether the database is at fault. Most of this work has none: its driver is not imported for this question."""
    neo4j = sys.modules.get("neo4j.exceptions")
    if neo4j is None or isinstance(error, neo4j.ClientError):
        return False
    return isinstance(error, (neo4j.DriverError, neo4j.Neo4jError))


def _end_with_parent() -> None:
    """A parent that was killed cannot end its children: they notice, and go."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _ending(code: int | None) -> str:
    if code is None or code >= 0:
        return f"exit code {code}"
    return signal.Signals(-code).name
