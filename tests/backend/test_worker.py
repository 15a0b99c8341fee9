"""Work in a process of its own: what it raises, and that nothing of it is left when it is called off."""

from __future__ import annotations

import asyncio
import multiprocessing
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import neo4j
import pytest
from neo4j.exceptions import ClientError, ServiceUnavailable

from backend import worker
from backend.errors import NotReady, Problem
from backend.worker import Report, in_process
from tests.backend.conftest import database as database
from tests.backend.test_events import serving
from tests.conftest import Neo4jServer

begun, gate = threading.Event(), threading.Event()


class Slow:
    """What is given to the process, and keeps it from being started before the gate opens."""

    def __reduce__(self) -> tuple[type[int], tuple[()]]:
        begun.set()
        gate.wait()
        return int, ()


def raise_it(_: Report, error: Exception) -> None:
    raise error


def run_for_ever(_report: Report, _slow: Slow) -> None:
    threading.Event().wait()


def not_imported(_: Report) -> list[str]:
    return [name for name in worker.PRELOADED if name not in sys.modules]


def report(_share: float, _stage: Any) -> None: ...


def test_a_database_that_is_away_is_told_as_that() -> None:
    with pytest.raises(NotReady, match="Neo4j does not answer: nobody there"):
        asyncio.run(in_process(report, raise_it, ServiceUnavailable("nobody there")))
    for error in (ClientError("a statement of ours"), ValueError("what nobody foresaw")):
        with pytest.raises(Problem, match=str(error)) as told:
            asyncio.run(in_process(report, raise_it, error))
        assert not isinstance(told.value, NotReady)


def test_nothing_has_to_be_imported_first() -> None:
    assert asyncio.run(in_process(report, not_imported)) == []


def test_one_that_is_called_off_while_it_starts_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    beside, asked = worker._beside, list[asyncio.Future[Any]]()

    def noted(work: Callable[[], Any]) -> Any:
        asked.append(asyncio.ensure_future(beside(work)))
        return asyncio.shield(asked[-1])

    async def called_off() -> None:
        task = asyncio.create_task(in_process(report, run_for_ever, Slow()))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        await asyncio.sleep(0)
        gate.set()
        with suppress(asyncio.CancelledError):
            await task
        await asyncio.wait(asked)

    monkeypatch.setattr(worker, "_beside", noted)
    asyncio.run(called_off())
    assert multiprocessing.active_children() == []


def test_a_server_whose_socket_is_gone_is_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(_process: object) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(worker._forked.Process, "start", gone)
    assert set(asyncio.run(in_process(report, not_imported))) <= set(worker.PRELOADED)
    with pytest.raises(Problem, match="nobody foresaw"):
        asyncio.run(in_process(report, raise_it, ValueError("what nobody foresaw")))
    assert multiprocessing.active_children() == []


@pytest.mark.neo4j
def test_an_api_that_was_stopped_leaves_no_temporary_files(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path
) -> None:
    temporary = Path(tempfile.mkdtemp(prefix="tw", dir="/tmp"))
    with serving(neo4j_server, tmp_path, TMPDIR=str(temporary)) as api:
        assert api.ask("GET", "/v1/check")["good"]
        assert list(temporary.iterdir()), "the socket of the server that processes are forked from"
        api.process.terminate()
        assert api.process.wait(120) == 0
    assert list(temporary.iterdir()) == []
    temporary.rmdir()
