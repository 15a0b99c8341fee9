"""Brokers: the list, and one broker with its links and its blast radius."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from algorithms import Overlay
from algorithms.analysis import blast_radii
from backend.api.answers.brokers import Broker, BrokerPage
from backend.api.answers.shape import answered
from backend.api.dependencies import LiveMirror
from backend.api.pages import PageQuery, page_of, sort_column
from backend.api.paths import BrokerId
from backend.errors import NotFound
from backend.live import Mirror
from backend.policy import Policy
from backend.times import stamp

router = APIRouter(tags=["brokers"])

_COLUMNS = ("id", "degree", "topics", "backups", "primaries", "blast_radius")


@router.get("/brokers", responses=answered(BrokerPage))
async def list_brokers(mirror: LiveMirror, request: PageQuery) -> dict[str, Any]:
    """Brokers by id, or by any figure of theirs. Rows have a blast radius when they are sorted by it."""
    column, down = sort_column(request, _COLUMNS, default="id")
    values: dict[str, Any] = dict.fromkeys(mirror.live.broker_names())
    if column == "blast_radius":
        _, values = await mirror.derived("blast radii", _blast_radii)
    elif column != "id":
        counts = {
            "degree": mirror.live.degrees,
            "topics": mirror.live.topic_counts,
            "backups": mirror.live.backup_counts,
            "primaries": mirror.live.primaries,
        }[column]()
        values = dict(zip(values, counts.tolist(), strict=True))
    page = page_of(values, request, str if column == "id" else values.__getitem__, down=down)
    items = [_row(mirror, name) for name in page.items if name in mirror.live]
    if column == "blast_radius":
        items = [{**row, "blast_radius": values[row["id"]]} for row in items]
    return {"items": items, "total": page.total, "next": page.next}


@router.get("/brokers/{id:id}", responses=answered(Broker))
async def read_broker(id: BrokerId, mirror: LiveMirror) -> dict[str, Any]:  # noqa: A002 (the word of the API)
    """One broker: topics, links with the topics each serves, backups, and what comes apart if it fails."""
    live = mirror.live
    if id not in live:
        raise NotFound(f"broker: no such broker (got {id!r})", field="broker")
    facts = mirror.facts_of(id)
    return {
        "id": id,
        "version": mirror.version,
        "topics": live.topics_of(id),
        "links": [_link(mirror, id, other) for other in live.neighbours_of(id)],
        "degree": live.degree_of(id),
        "backups": live.backups_of(id),
        "primaries": live.primaries_of(id),
        "blast_radius": live.blast_radius(id),
        "attributes": facts.attributes,
        "lease": facts.lease and {"ttl_seconds": facts.lease.seconds, "until": stamp(facts.lease.until)},
        "acked": facts.acked,
        "failures": facts.failures,
    }


def _row(mirror: Mirror, broker: str) -> dict[str, Any]:
    live = mirror.live
    return {
        "id": broker,
        "degree": live.degree_of(broker),
        "topics": len(live.topics_of(broker)),
        "backups": len(live.backups_of(broker)),
        "primaries": len(live.primaries_of(broker)),
    }


def _link(mirror: Mirror, broker: str, other: str) -> dict[str, Any]:
    since, reason = mirror.links[(broker, other) if broker < other else (other, broker)]
    topics = mirror.live.shared_topics(broker, other)
    return {"broker": other, "since": since, "reason": reason, "topics_served": len(topics), "topics": topics}


def _blast_radii(overlay: Overlay, _: Policy) -> dict[str, int]:
    return dict(zip(overlay.interests.brokers, blast_radii(overlay).tolist(), strict=True))
