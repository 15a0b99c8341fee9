"""Take a backup: the mirror of one moment is copied, and the rest is done in another process while changes go on."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version as release
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet

from algorithms import Overlay
from backend.backup.archive import BROKERS, CHANGE_LISTS, CHANGES, LINKS, SUBSCRIPTIONS, pack
from backend.errors import Problem
from backend.imports.request import Access
from backend.live import Mirror
from backend.policy import Policy
from backend.record import Pair
from backend.store import BrokerFacts, Database
from backend.store.keys import read_keys
from backend.times import stamp
from backend.worker import Report, in_process

RECORDS_AT_ONCE = 500


@dataclass(frozen=True)
class Moment:
    """Everything the mirror knows, at one version."""

    version: int
    policy: Policy
    overlay: Overlay
    links: dict[Pair, tuple[int, str]]
    facts: dict[str, BrokerFacts]


async def take_backup(mirror: Mirror, access: Access, target: Path) -> dict[str, Any]:
    """Write the backup of this very version to a file; answers its manifest."""
    # No await between these copies: they are one version.
    version, policy, freeze = mirror.version, mirror.policy, mirror.live.freeze()
    links = mirror.links.copy()
    facts = {broker: known.as_of(version) for broker, known in mirror.facts.items()}
    moment = Moment(version, policy, await asyncio.to_thread(freeze), links, facts)
    return await in_process(lambda _share, _stage: None, write_backup, access, moment, target)


def write_backup(_report: Report, access: Access, moment: Moment, target: Path) -> dict[str, Any]:
    """What the other process does."""
    interests = moment.overlay.interests
    with tempfile.TemporaryDirectory(dir=target.parent) as place:
        folder = Path(place)
        _write(folder / "brokers.parquet", BROKERS, _brokers(moment))
        rows = np.repeat(np.arange(len(interests.brokers), dtype=np.int32), interests.broker_sizes())
        _write(
            folder / "subscriptions.parquet",
            SUBSCRIPTIONS,
            {
                "broker": _texts(interests.brokers, rows),
                "topic": _texts(interests.topics, interests.broker_topics),
            },
        )
        _write(folder / "links.parquet", LINKS, _links(moment))
        (folder / "policy.json").write_text(json.dumps(moment.policy.properties(), indent=2))
        first, imported = asyncio.run(_write_stored(access, folder, moment.version))
        manifest = {
            "topicweave": release("topicweave"),
            "created_at": stamp(datetime.now(UTC)),
            "version": moment.version,
            "first_change": first,
            "imported": imported,
            "brokers": len(interests.brokers),
            "topics": len(interests.topics),
            "subscriptions": interests.subscriptions,
            "links": len(moment.overlay.links),
        }
        pack(folder, target, manifest)
    return manifest


async def _write_stored(access: Access, folder: Path, version: int) -> tuple[int | None, int | None]:
    """The history up to the version, and the keys; the first change, and before what nothing can be rebuilt."""
    async with access.open() as database:
        properties = (await database.read("overlay/read_overlay"))[0]["properties"]
        first = await _write_changes(database, folder / "changes.parquet", version)
        keys = [
            {
                **asdict(key),
                "created_at": stamp(key.created_at),
                "revoked_at": stamp(key.revoked_at) if key.revoked_at else None,
            }
            for key in await read_keys(database)
        ]
    (folder / "keys.json").write_text(json.dumps(keys, indent=2, ensure_ascii=False), encoding="utf-8")
    return first, properties.get("imported")


async def _write_changes(database: Database, path: Path, version: int) -> int | None:
    first: int | None = None
    last = -1
    with pyarrow.parquet.ParquetWriter(path, CHANGES, compression="zstd") as writer:
        while True:
            rows = await database.read(
                "backup/read_changes", after=last, version=version, limit=RECORDS_AT_ONCE
            )
            if not rows:
                break
            found = [_change(row["change"]) for row in rows]
            first = found[0]["version"] if first is None else first
            expected = range(first if last < 0 else last + 1, found[-1]["version"] + 1)
            if [row["version"] for row in found] != list(expected):
                raise Problem(f"the history has a gap after version {last}: see `topicweave check`")
            last = found[-1]["version"]
            writer.write_table(pyarrow.Table.from_pylist(found, schema=CHANGES))
    if last != version and version > 0:
        raise Problem(f"the history ends at version {last}, not at {version}: see `topicweave check`")
    return first


def _change(node: Mapping[str, Any]) -> dict[str, Any]:
    row = {name: node.get(name) for name in CHANGES.names}
    row["at"] = node["at"].to_native()
    return {**row, **{name: list(node.get(name) or ()) for name in CHANGE_LISTS}}


def _brokers(moment: Moment) -> dict[str, Any]:
    known = [moment.facts.get(broker, BrokerFacts()) for broker in moment.overlay.interests.brokers]

    def dumped(values: Iterator[Any]) -> list[str | None]:
        return [json.dumps(value, sort_keys=True, default=_plain) if value else None for value in values]

    return {
        "broker": moment.overlay.interests.brokers,
        "attributes": dumped(facts.attributes for facts in known),
        "lease_seconds": [facts.lease and facts.lease.seconds for facts in known],
        "lease_until": [facts.lease and facts.lease.until for facts in known],
        "acked": [facts.acked for facts in known],
        "failures": dumped(facts.failures for facts in known),
    }


def _plain(value: object) -> str:
    return stamp(value) if isinstance(value, datetime) else str(value)


def _links(moment: Moment) -> dict[str, Any]:
    overlay = moment.overlay
    why = [moment.links[link] for link in overlay.link_names()]
    return {
        "broker_a": _texts(overlay.interests.brokers, overlay.links[:, 0]),
        "broker_b": _texts(overlay.interests.brokers, overlay.links[:, 1]),
        "since": [since for since, _ in why],
        "reason": [reason for _, reason in why],
    }


def _texts(names: tuple[str, ...], rows: Any) -> pyarrow.Array:
    return pyarrow.DictionaryArray.from_arrays(
        pyarrow.array(np.ascontiguousarray(rows)), pyarrow.array(names, pyarrow.string())
    ).cast(pyarrow.string())


def _write(path: Path, schema: pyarrow.Schema, columns: Mapping[str, Any]) -> None:
    arrays = [
        column if isinstance(column, pyarrow.Array) else pyarrow.array(column, schema.field(name).type)
        for name, column in columns.items()
    ]
    pyarrow.parquet.write_table(pyarrow.table(arrays, schema=schema), path, compression="zstd")
