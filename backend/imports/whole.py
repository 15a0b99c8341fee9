"""Imports into an empty overlay, as a process of its own does them: read, build or adopt, store."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from algorithms import Interests, Overlay
from algorithms.completion import missing_links
from algorithms.files import read_interests, read_links
from backend.imports.bounds import Bounds
from backend.imports.request import Access
from backend.imports.score import LINKS_NAMED, build_fresh, figures, published, score, without_idle_links
from backend.policy import Policy
from backend.store.bulk import import_overlay
from backend.worker import Report

ADOPTED = "was there before: adopted"
COMPLETES = "completes the adopted links"


def read_rows(report: Report, path: Path, bounds: Bounds) -> Interests:
    """Interests from a file; a broken row is named, and so is what this installation does not take."""
    report(0.0, "reading the interests")
    interests = read_interests(path)
    bounds.check(interests, path)
    return interests


def import_whole(
    report: Report,
    access: Access,
    import_id: str,
    interests_file: Path,
    links_file: Path | None,
    algorithm: str,
    policy: Policy,
    actor: str,
    bounds: Bounds,
    *,
    store: bool,
) -> dict[str, Any]:
    """Import into an empty overlay; the links by an algorithm, or those of the file and what they lack.

    Without ``store`` nothing is kept: the answer says what the links of the file are worth and what they lack.
    """
    began = time.perf_counter()
    interests = read_rows(report, interests_file, bounds)
    read = time.perf_counter()
    reasons: Mapping[tuple[str, str], str] = {}
    adopted: dict[str, Any] = {}
    if links_file is None:
        overlay = build_fresh(algorithm, interests, policy.k, _within(report, 0.05, 0.4))
    else:
        existing = read_links(links_file, interests)
        overlay, adopted, reasons = _adopted(existing, algorithm, policy.k, _within(report, 0.05, 0.4))
    built = time.perf_counter()
    answer: dict[str, Any] = {
        "brokers": len(interests.brokers),
        "topics": len(interests.topics),
        "subscriptions": interests.subscriptions,
        "duplicates": interests.duplicates,
        **figures(overlay),
        "algorithm": algorithm,
        "adopted": adopted or None,
        "version": None,
        "seconds": {"read": read - began, "build": built - read},
    }
    if store:
        answer["version"] = asyncio.run(
            _store(
                report, access, import_id, overlay, policy, actor, ADOPTED if adopted else "import", reasons
            )
        )
        answer["seconds"]["store"] = time.perf_counter() - built
    return answer


def _adopted(
    existing: Overlay, algorithm: str, k: int, report: Report
) -> tuple[Overlay, dict[str, Any], dict[tuple[str, str], str]]:
    """The overlay that keeps what exists, what that is worth, and why each new link is there."""
    useful, idle = without_idle_links(existing)
    fresh = build_fresh(algorithm, existing.interests, k, _within(report, 0.0, 0.4))
    classic = build_fresh(published(k), existing.interests, k, _within(report, 0.4, 0.6))
    worth = score(existing, fresh, algorithm, classic, k)
    report(0.6, "finding what is missing")
    more = Overlay.from_links(existing.interests, missing_links(useful, k))
    opened = more.link_names()
    whole = Overlay.from_names(existing.interests, [*useful.link_names(), *opened])
    told = {
        "score": worth,
        "kept": len(useful.links),
        "opened": len(opened),
        "opened_first": opened[:LINKS_NAMED],
        "left_out": len(idle),
        "left_out_first": idle[:LINKS_NAMED],
    }
    return whole, told, dict.fromkeys(opened, COMPLETES)


async def _store(
    report: Report,
    access: Access,
    import_id: str,
    overlay: Overlay,
    policy: Policy,
    actor: str,
    reason: str,
    reasons: Mapping[tuple[str, str], str],
) -> int:
    report(0.4, "storing")
    async with access.open() as database:
        return await import_overlay(
            database,
            overlay,
            policy,
            actor,
            reason=reason,
            reasons=reasons,
            import_id=import_id,
            progress=lambda done: report(0.4 + 0.55 * done, "storing"),
        )


def _within(report: Report, start: float, end: float) -> Report:
    return lambda done, stage: report(start + done * (end - start), stage)
