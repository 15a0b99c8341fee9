"""Whole overlays into an empty one: an import, or what a backup holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any
from uuid import uuid4

import numpy as np

from algorithms import Overlay
from algorithms.interests import Ints, Longs
from backend.errors import Conflict
from backend.policy import Policy
from backend.record import ChangeRecord, Figures
from backend.store.database import Database
from backend.store.importing import importing
from backend.store.overlay import BrokerFacts, create_overlay

SUBSCRIPTIONS_A_BATCH = 50_000
LINKS_A_BATCH = 20_000
ROWS_A_BATCH = 5000
CHANGED_ENTRIES_A_BATCH = 50_000

Progress = Callable[[float], None]


def silent(_: float) -> None:
    """The progress callback of a caller who does not want one."""


@dataclass(frozen=True)
class LinkFacts:
    """Since when each link of an overlay is open, and why: ``reasons[reason_of[i]]`` for the i-th link."""

    since: Longs
    reasons: Sequence[str]
    reason_of: Ints

    @classmethod
    def alike(cls, links: int, since: int, reason: str) -> LinkFacts:
        """One version and one reason for all."""
        return cls(np.full(links, since, np.int64), (reason,), np.zeros(links, np.int32))


@dataclass(frozen=True)
class History:
    """What a backup brings beside the overlay: its version, the records up to it, and the keys."""

    version: int
    imported: int | None
    """The version of the last import: nothing before it can be rebuilt."""
    changes: Sequence[Mapping[str, Any]]
    keys: Sequence[Mapping[str, Any]]


async def import_overlay(
    database: Database,
    overlay: Overlay,
    policy: Policy,
    actor: str,
    *,
    reason: str = "import",
    reasons: Mapping[tuple[str, str], str] | None = None,
    import_id: str | None = None,
    progress: Progress = silent,
) -> int:
    """Store a whole overlay into an empty one; it is live, with the next version, only when all of it is there.

    ``reasons`` names why some links exist, where that is not ``reason``; whoever must be able to remove the import from
    elsewhere gives it an ``import_id``. The policy is that of a first overlay; later it is changed by nobody but its own
    call, and one that asks for another k than the overlay was built for is a :class:`PolicyMoved`.
    """
    await create_overlay(database, policy)
    this = import_id or str(uuid4())
    async with importing(database, this, policy.k) as before:
        version = before + 1
        await _write(
            database, this, overlay, _link_facts(overlay, version, reason, reasons or {}), {}, progress
        )
        figures = Figures(len(overlay.interests.brokers), len(overlay.links), overlay.max_degree)
        record = ChangeRecord(version, this, datetime.now(UTC), actor, "import", figures=figures)
        finished = await database.write(
            "overlay/finish_import", **{"import": this, "record": record.properties()}
        )
        return int(_still_ours(finished)[0]["version"])


async def restore_overlay(
    database: Database,
    overlay: Overlay,
    policy: Policy,
    links: LinkFacts,
    facts: Mapping[str, BrokerFacts],
    history: History,
    *,
    import_id: str | None = None,
    progress: Progress = silent,
) -> int:
    """Store what a backup holds into an overlay that never held anything; live, at its version, when all is there."""
    await create_overlay(database, policy)
    this = import_id or str(uuid4())
    async with importing(database, this) as before:
        if before != 0:
            raise Conflict(
                f"the overlay has a history already (version {before}); a restore needs an empty one"
            )
        await _write(database, this, overlay, links, facts, lambda done: progress(done * 0.8))
        written = 0
        for rows in _record_batches(history.changes):
            await _batch(database, this, "overlay/create_changes", len(rows), rows=rows)
            written += len(rows)
            progress(0.8 + 0.2 * written / len(history.changes))
        finished = await database.write(
            "overlay/finish_restore",
            **{
                "import": this,
                "version": history.version,
                "imported": history.imported,
                "forgotten": history.version - len(history.changes),
                "policy": policy.properties(),
                "keys": list(history.keys),
            },
        )
        return int(_still_ours(finished)[0]["version"])


async def _write(
    database: Database,
    this: str,
    overlay: Overlay,
    links: LinkFacts,
    facts: Mapping[str, BrokerFacts],
    progress: Progress,
) -> None:
    interests = overlay.interests
    total = max(1, interests.subscriptions + len(overlay.links))
    for names in _batches(interests.topics, ROWS_A_BATCH):
        await _batch(database, this, "overlay/create_topics", len(names), names=names)
    done = 0
    for first, end in _broker_ranges(interests.broker_start):
        start, stop = int(interests.broker_start[first]), int(interests.broker_start[end])
        used, place = np.unique(interests.broker_topics[start:stop], return_inverse=True)
        places = place.tolist()
        cuts = (interests.broker_start[first : end + 1] - start).tolist()
        await _batch(
            database,
            this,
            "overlay/create_brokers",
            end - first,
            ids=interests.brokers[first:end],
            topics=[interests.topics[t] for t in used.tolist()],
            subscriptions=[places[cuts[i] : cuts[i + 1]] for i in range(end - first)],
        )
        done += stop - start
        progress(done / total)
    for rows in _batches(
        [{"id": broker, "facts": fact_properties(known)} for broker, known in facts.items()], ROWS_A_BATCH
    ):
        await _batch(database, this, "overlay/set_facts", len(rows), rows=rows)
    for first in range(0, len(overlay.links), LINKS_A_BATCH):
        some = slice(first, first + LINKS_A_BATCH)
        count = len(overlay.links[some])
        await _batch(database, this, "overlay/create_links", count, **_link_rows(overlay, links, some))
        done += count
        progress(done / total)


async def _batch(database: Database, this: str, name: str, expected: int, **parameters: Any) -> None:
    made = await database.write(name, **{"import": this}, **parameters)
    _still_ours(made if made and made[0]["made"] == expected else [])


def _still_ours(records: Sequence[Any]) -> Sequence[Any]:
    if not records:
        raise Conflict("the import was taken for a broken one and removed; start it again")
    return records


def _link_rows(overlay: Overlay, links: LinkFacts, some: slice) -> dict[str, Any]:
    """Parameters for a batch of links: grouped by their smaller end, each reason sent once."""
    names = overlay.interests.brokers
    used, place = np.unique(links.reason_of[some], return_inverse=True)
    ends = zip(overlay.links[some].tolist(), links.since[some].tolist(), place.tolist(), strict=True)
    rows = []
    for a, group in groupby(ends, key=lambda row: row[0][0]):
        members = list(group)
        rows.append(
            {
                "a": names[a],
                "b": [names[b] for (_, b), _, _ in members],
                "since": [since for _, since, _ in members],
                "reason": [reason for _, _, reason in members],
            }
        )
    return {"rows": rows, "reasons": [links.reasons[r] for r in used.tolist()]}


def _link_facts(
    overlay: Overlay, since: int, reason: str, reasons: Mapping[tuple[str, str], str]
) -> LinkFacts:
    if not reasons:
        return LinkFacts.alike(len(overlay.links), since, reason)
    table = list(dict.fromkeys([reason, *reasons.values()]))
    place = {text: i for i, text in enumerate(table)}
    of = [place[reasons.get(link, reason)] for link in overlay.link_names()]
    return LinkFacts(np.full(len(of), since, np.int64), table, np.array(of, np.int32))


def fact_properties(facts: BrokerFacts) -> dict[str, Any]:
    """What is known of a broker, as properties of its node."""
    return {
        "attributes": json.dumps(facts.attributes, sort_keys=True) if facts.attributes else None,
        "lease_seconds": facts.lease.seconds if facts.lease else None,
        "lease_until": facts.lease.until if facts.lease else None,
        "acked": facts.acked,
        "failures": [json.dumps(failure) for failure in facts.failures] or None,
    }


def _broker_ranges(broker_start: Longs) -> Iterator[tuple[int, int]]:
    """Ranges of brokers with about as many subscriptions each as one transaction should hold; at least one broker."""
    brokers = len(broker_start) - 1
    first = 0
    while first < brokers:
        end = (
            int(np.searchsorted(broker_start, broker_start[first] + SUBSCRIPTIONS_A_BATCH, side="right")) - 1
        )
        end = min(max(end, first + 1), first + ROWS_A_BATCH, brokers)
        yield first, end
        first = end


def _record_batches(rows: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Records by their size: one that changed everything is a batch of its own."""
    batch: list[Mapping[str, Any]] = []
    entries = 0
    for row in rows:
        batch.append(row)
        entries += 20 + sum(len(value) for value in row.values() if isinstance(value, (list, tuple)))
        if entries > CHANGED_ENTRIES_A_BATCH:
            yield batch
            batch, entries = [], 0
    if batch:
        yield batch


def _batches(items: Sequence[Any], size: int) -> Iterator[list[Any]]:
    for first in range(0, len(items), size):
        yield list(items[first : first + size])
