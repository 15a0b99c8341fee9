"""Restore a backup into an overlay that never held anything, as a process of its own does it."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.compute

from algorithms import BadInput, Interests, Overlay
from algorithms.interests import Ints
from backend.backup.archive import damaged, read_table, unpack
from backend.imports.request import Access
from backend.policy import Policy
from backend.store import BrokerFacts, Database, Lease
from backend.store.bulk import History, LinkFacts, restore_overlay
from backend.store.keys import read_keys
from backend.worker import Report


@dataclass(frozen=True)
class Content:
    """What a backup holds, read and checked."""

    overlay: Overlay
    policy: Policy
    links: LinkFacts
    facts: dict[str, BrokerFacts]
    history: History


def restore_whole(report: Report, access: Access, import_id: str, backup: Path) -> dict[str, Any]:
    """Read the file, and store what it holds; nothing is stored where any part of it is damaged."""
    report(0.0, "reading the backup")
    content = read_backup(backup)
    report(0.2, "storing")
    return asyncio.run(_store(report, access, import_id, content))


def read_backup(backup: Path) -> Content:
    """Everything in a backup, checked; what is wrong is named."""
    with tempfile.TemporaryDirectory(dir=backup.parent) as place:
        folder = Path(place)
        manifest = unpack(backup, folder)
        try:
            policy = Policy.from_properties(json.loads((folder / "policy.json").read_text()))
            keys = [_key(key) for key in json.loads((folder / "keys.json").read_text(encoding="utf-8"))]
            overlay, links, facts = _overlay(folder, backup, manifest["version"])
        except (BadInput, ValueError, KeyError, TypeError) as error:
            raise damaged(backup, f"its content does not fit together: {error}") from None
        changes = read_table(folder, "changes.parquet", backup).to_pylist()
    versions = [row["version"] for row in changes]
    last = manifest["version"]
    if versions != list(range(last - len(versions) + 1, last + 1)):
        raise damaged(backup, f"changes.parquet: the versions do not lead to {last} without a gap")
    counts = {"brokers": len(overlay.interests.brokers), "links": len(overlay.links)}
    for name, count in counts.items():
        if manifest.get(name) != count:
            raise damaged(
                backup, f"manifest.json: {name} is {manifest.get(name)!r}, but the parts hold {count}"
            )
    return Content(overlay, policy, links, facts, History(last, manifest.get("imported"), changes, keys))


def _overlay(folder: Path, backup: Path, version: int) -> tuple[Overlay, LinkFacts, dict[str, BrokerFacts]]:
    table = read_table(folder, "brokers.parquet", backup)
    brokers = sorted(table.column("broker").to_pylist())
    subscriptions = read_table(folder, "subscriptions.parquet", backup)
    topics = sorted(pyarrow.compute.unique(subscriptions.column("topic")).to_pylist())
    interests = Interests.from_dense(
        brokers,
        topics,
        _ranks(subscriptions.column("broker"), brokers, "subscriptions.parquet, broker"),
        _ranks(subscriptions.column("topic"), topics, "subscriptions.parquet, topic"),
    )
    links = read_table(folder, "links.parquet", backup)
    ends = np.stack(
        [_ranks(links.column(side), brokers, f"links.parquet, {side}") for side in ("broker_a", "broker_b")],
        axis=1,
    )
    overlay = Overlay.from_links(interests, ends)
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    if not np.array_equal(ends[order], overlay.links):
        raise ValueError("links.parquet: a link twice, or with its larger end first")
    reasons = links.column("reason").combine_chunks().dictionary_encode()
    if isinstance(reasons, pyarrow.ChunkedArray):
        reasons = reasons.combine_chunks()
    facts = LinkFacts(
        links.column("since").to_numpy()[order].astype(np.int64),
        reasons.dictionary.to_pylist(),
        reasons.indices.to_numpy()[order].astype(np.int32),
    )
    return overlay, facts, _facts(table, version)


def _ranks(column: pyarrow.ChunkedArray, names: list[str], what: str) -> Ints:
    ranks = pyarrow.compute.index_in(column, value_set=pyarrow.array(names, pyarrow.string()))
    if ranks.null_count:
        raise ValueError(f"{what}: an id that brokers.parquet does not hold")
    dense: Ints = ranks.to_numpy().astype(np.int32)
    return dense


def _facts(table: pyarrow.Table, version: int) -> dict[str, BrokerFacts]:
    """Leases run anew from now: while the system was away, nobody could renew them."""
    now = datetime.now(UTC)
    known = {}
    for row in table.to_pylist():
        seconds = row["lease_seconds"]
        facts = BrokerFacts(
            json.loads(row["attributes"]) if row["attributes"] else {},
            Lease(seconds, now + timedelta(seconds=seconds)) if seconds else None,
            row["acked"],
            json.loads(row["failures"]) if row["failures"] else [],
        ).as_of(version)
        if not facts.is_plain:
            known[row["broker"]] = facts
    return known


def _key(key: Mapping[str, Any]) -> dict[str, Any]:
    moments = {
        name: datetime.fromisoformat(key[name]) if key[name] else None
        for name in ("created_at", "revoked_at")
    }
    living = None if key["revoked_at"] else key["name"]
    return {**{name: key[name] for name in ("id", "name", "hash", "scope")}, **moments, "living_name": living}


async def _store(report: Report, access: Access, import_id: str, content: Content) -> dict[str, Any]:
    async with access.open() as database:
        keys, left_out = await _new_keys(database, content.history.keys)
        version = await restore_overlay(
            database,
            content.overlay,
            content.policy,
            content.links,
            content.facts,
            History(content.history.version, content.history.imported, content.history.changes, keys),
            import_id=import_id,
            progress=lambda done: report(0.2 + 0.75 * done, "storing"),
        )
    interests = content.overlay.interests
    return {
        "version": version,
        "brokers": len(interests.brokers),
        "topics": len(interests.topics),
        "subscriptions": interests.subscriptions,
        "links": len(content.overlay.links),
        "changes": len(content.history.changes),
        "keys": len(keys),
        "keys_left_out": left_out,
    }


async def _new_keys(database: Database, keys: Any) -> tuple[list[Mapping[str, Any]], list[str]]:
    """The keys that this installation does not have; one whose name works here already is left out, and named."""
    here = await read_keys(database)
    ids = {key.id for key in here}
    names = {key.name for key in here if key.revoked_at is None}
    new = [key for key in keys if key["id"] not in ids and key["living_name"] not in names]
    return new, [key["name"] for key in keys if key not in new]
