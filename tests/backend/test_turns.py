"""What takes long leaves room for the rest: jobs have threads of their own, heavy reads come a few at a time."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import neo4j
import pytest
from fastapi import FastAPI

from backend.api.dependencies import HeavyWork
from backend.check import check
from backend.errors import Busy
from backend.turns import Turns
from backend.worker import Report, in_process
from tests.backend.live import KEY, served
from tests.conftest import Neo4jServer


def sleep_long(report: Report) -> None:
    report(0.5, "sleeping")
    time.sleep(600)


def test_jobs_keep_no_thread_from_requests() -> None:
    async def look() -> None:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(1))
        began = asyncio.Event()
        job = asyncio.create_task(in_process(lambda *_: began.set(), sleep_long))
        await asyncio.wait_for(began.wait(), 120)
        assert await asyncio.wait_for(asyncio.to_thread(lambda: "answered"), 30) == "answered"
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job

    asyncio.run(look())


def test_turns_come_one_after_the_other_and_the_queue_ends() -> None:
    async def look() -> None:
        turns, order, gate = Turns("look", 1, 1), list[str](), asyncio.Event()

        async def work(name: str) -> None:
            async with turns.one():
                order.append(name)
                await gate.wait()

        tasks = [asyncio.create_task(work(name)) for name in ("first", "second")]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert order == ["first"]
        with pytest.raises(Busy, match="look: 2 are under way"):
            async with turns.one():
                pass
        gate.set()
        await asyncio.gather(*tasks)
        assert order == ["first", "second"]
        async with turns.one():
            pass

    asyncio.run(look())


@pytest.mark.neo4j
def test_a_heavy_read_too_many_is_sent_away(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered, gate = threading.Event(), threading.Event()

    async def held(*given: Any) -> dict[str, Any]:
        entered.set()
        while not gate.is_set():
            await asyncio.sleep(0.01)
        return await check(*given)

    monkeypatch.setattr("backend.api.check.check", held)
    with served(neo4j_server, database, tmp_path) as live, ThreadPoolExecutor(1) as pool:
        cast(FastAPI, live.client.app).state.heavy = HeavyWork(checks=Turns("check", 1, 0))
        try:
            first = pool.submit(live.ask, "GET", "check")
            assert entered.wait(60)
            refused = live.client.get("/v1/check", headers=KEY)
            assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
            assert refused.json()["type"].endswith(":busy")
            assert live.ask("GET", "overlay")["version"] == 0
        finally:
            gate.set()
        assert first.result()["good"]
        assert live.ask("GET", "check")["good"]
