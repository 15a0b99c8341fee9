"""Engines: where a rebuild is computed. Local: a process of its own on this machine; spark: the bulk jobs of ``spark/``.

An engine leaves the rebuild's links as CANDIDATE relationships and answers with the plan; whatever happens to it, the
live overlay is not touched.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import numpy as np
from neo4j.exceptions import DriverError, Neo4jError

from algorithms import find_algorithm
from algorithms.bulk import BULK, parse_bulk
from algorithms.interests import Ints
from algorithms.registry import Value
from backend.errors import BadValue, Problem
from backend.imports.merge import brought_since
from backend.manager import Manager
from backend.rebuilds.build import build_links, fitted_plan
from backend.rebuilds.rebuild import WAITING, Rebuild
from backend.store import rebuilds as store
from backend.worker import Report, in_process

Answer = TypeVar("Answer")
Plan = dict[str, Any]
Engine = Callable[[Manager, Rebuild, Report], Any]
_SECONDS_BETWEEN_LOOKS = 1.0
_SECONDS_TO_STOP = 10.0
_SECONDS_AWAY = 60.0


def promised_k(algorithm: str, params: dict[str, Value]) -> int:
    """The k of an algorithm's overlays, with these parameters and defaults for the others."""
    chosen = find_algorithm(algorithm)
    return chosen.promised_k({**chosen.parse({}), **params})


async def run_local(manager: Manager, rebuild: Rebuild, report: Report) -> Plan:
    """Build in a process of its own; while it measures what the links would change, they are stored."""
    mirror = manager.mirror
    rebuild.base_version, before = await mirror.snapshot()
    brokers = before.interests.brokers
    storing: list[asyncio.Task[None]] = []

    async def keep(links: Ints) -> None:
        pairs = [(brokers[a], brokers[b]) for a, b in np.sort(links, axis=1).tolist()]
        await store.write_candidates(manager.database, rebuild.id, pairs, ["running"])

    def heard(share: float, stage: str | Ints) -> None:
        if isinstance(stage, str):
            report(share, stage)
        else:
            storing.append(asyncio.create_task(keep(stage)))

    try:
        plan: Plan = await in_process(
            heard, build_links, before, rebuild.algorithm, rebuild.params, rebuild.seed, mirror.policy.k
        )
        report(0.95, "storing the links")
        await asyncio.gather(*storing)
    finally:
        for task in storing:
            task.cancel()
        await asyncio.gather(*storing, return_exceptions=True)
    return plan


async def run_spark(manager: Manager, rebuild: Rebuild, report: Report) -> Plan:
    """Have a Spark job read the interests from Neo4j and write the links there; then look at what it wrote."""
    report(0.01, "starting Spark")
    settings = manager.settings
    command = [sys.executable, "-m", "spark.rebuild", "--algorithm", rebuild.algorithm]
    command += ["--neo4j", settings.bolt_uri, "--rebuild", rebuild.id, "--seed", str(rebuild.seed)]
    command += ["--master", settings.spark_master, "--memory", settings.spark_memory]
    command += ["--jars", settings.spark_connector] if settings.spark_connector else []
    command += ["--parent", str(os.getpid())]
    for name, value in rebuild.params.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    process = await asyncio.create_subprocess_exec(
        *command,
        env={
            **os.environ,
            "NEO4J_USER": settings.neo4j_user,
            "NEO4J_PASSWORD": settings.find_neo4j_password(),
            "PYTHONSAFEPATH": "1",  # whatever lies where the API was started is not ours
        },
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stderr is not None
    told = asyncio.create_task(process.stderr.read())
    try:
        while process.returncode is None:
            try:
                await asyncio.wait_for(process.wait(), _SECONDS_BETWEEN_LOOKS)
            except TimeoutError:
                # Of a database that is away, the job itself will tell.
                with contextlib.suppress(Neo4jError, DriverError, OSError):
                    found = await store.read_one(manager.database, rebuild.id)
                    said = Rebuild.from_properties(found[0]).progress if found else None
                    if said and said["stage"] != WAITING:
                        report(max(0.01, 0.9 * said["share"]), said["stage"])
    finally:
        await asyncio.shield(_end(process))
    if process.returncode:
        lines = (await told).decode(errors="replace").strip().splitlines()
        line = lines[-1].removeprefix("error: ") if lines else f"exit code {process.returncode}"
        raise Problem(f"the Spark job failed: {line}")
    found = await _answered(lambda: store.read_one(manager.database, rebuild.id))
    rebuild.report = Rebuild.from_properties(found[0]).report if found else None
    report(0.9, "measuring the new links")
    mirror = manager.mirror
    links = await _answered(lambda: store.read_candidates(manager.database, rebuild.id))
    version, before = await mirror.snapshot()
    # What the job knew of: a federation that was merged while it ran keeps its links.
    rebuild.base_version = min(version, int((rebuild.report or {}).get("version_before", version)))
    links = sorted({*links, *brought_since(mirror.links, rebuild.base_version)})
    return await in_process(
        lambda share, stage: report(0.9 + 0.1 * share, stage), fitted_plan, before, links, mirror.policy.k
    )


async def _answered(ask: Callable[[], Awaitable[Answer]]) -> Answer:
    """What Neo4j answers; where it is away, it is waited for as long as the job itself would."""
    ending = time.monotonic() + _SECONDS_AWAY
    while True:
        try:
            return await ask()
        except (DriverError, Neo4jError, OSError):
            if time.monotonic() > ending:
                raise
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)


async def _end(process: asyncio.subprocess.Process) -> None:
    """A job that is told to stop takes its files with it; one that does not listen is killed, with all it started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            if number == signal.SIGTERM:
                process.terminate()
            else:
                os.killpg(process.pid, number)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _SECONDS_TO_STOP)


def check_request(
    engine: str, algorithm: str, params: dict[str, Any], k: int, brokers: int | None = None
) -> dict[str, Any]:
    """The parameters as the engine takes them; what cannot be run is refused here, before anything is queued."""
    chosen = find_algorithm(algorithm)
    if engine == "spark" and algorithm not in BULK:
        raise BadValue(f"engine: spark has {', '.join(BULK)} (got {algorithm!r})", field="algorithm")
    parsed = parse_bulk(algorithm, params, brokers) if engine == "spark" else chosen.checked(params, brokers)
    if "seed" in params:
        raise BadValue(f"params.seed: give seed beside params (got {params['seed']!r})", field="params.seed")
    refuse_below(k, algorithm, parsed)
    return {name: parsed[name] for name in params}


def refuse_below(k: int, algorithm: str, params: dict[str, Any]) -> None:
    """A rebuild that keeps less than the policy promises is refused, when it is asked for and when it is activated."""
    # Whatever the engine, k is all that matters here.
    offered = promised_k(
        algorithm, find_algorithm(algorithm).parse({n: v for n, v in params.items() if n == "k"})
    )
    if offered < k:
        raise BadValue(
            f"params.k: the policy promises k = {k}, {algorithm} would give k = {offered}", field="params.k"
        )


ENGINES = {"local": run_local, "spark": run_spark}
