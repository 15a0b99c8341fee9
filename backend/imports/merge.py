"""Two federations become one: Star Merge links them, and no link of either is touched.

The links across are worked out beside the live overlay, which goes on; when the merge's turn comes, each topic that both
federations have is looked at once more. Both sides are topic-connected in themselves, so one link across is enough for
a topic; for k = 2, two links that share no end (as far as a side has two subscribers).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from algorithms import Interests, Overlay
from algorithms.completion import missing_links
from algorithms.files import read_interests, read_links
from algorithms.live import LinkChange, LiveOverlay, Plan
from algorithms.merge import star_merge
from backend.errors import BadValue, Conflict
from backend.imports.bounds import Bounds
from backend.imports.score import LINKS_NAMED, without_idle_links
from backend.policy import PolicyMoved
from backend.record import Pair
from backend.worker import Report

MOST_SUBSCRIPTIONS = 500_000
"""A merge is one transaction; more than this does not fit into a server of the default size."""
CLASHES_NAMED = 5
BROUGHT = "came with a federation that was merged"
"""Why a link is open that the second federation had; no plan that is older closes it."""


def brought_since(links: Mapping[Pair, tuple[int, str]], version: int) -> set[Pair]:
    """Those of the open links (since which version, and why) that came with a federation after that version."""
    return {link for link, (since, reason) in links.items() if reason == BROUGHT and since > version}


@dataclass(frozen=True)
class _Merged(LinkChange):
    """A link that the second federation brought along."""

    @property
    def reason(self) -> str:
        """Why, in words."""
        return BROUGHT


@dataclass(frozen=True)
class Federation:
    """The second federation, and the links across that were found beside the live overlay."""

    interests: Interests
    links: tuple[Pair, ...]
    completed: tuple[Pair, ...]
    """What it lacked in itself."""
    left_out: tuple[Pair, ...]
    """Its links whose ends share no topic."""
    across: tuple[Pair, ...]
    k: int
    """How connected its topics are."""


def read_federation(
    report: Report, live: Overlay, interests_file: Path, links_file: Path, k: int, bounds: Bounds
) -> Federation:
    """Read the second federation, make it whole in itself, and link it to the overlay of some moment."""
    report(0.0, "reading the files")
    interests = read_interests(interests_file)
    bounds.check(interests, interests_file)
    if interests.subscriptions > MOST_SUBSCRIPTIONS:
        raise BadValue(
            f"interests: a merge takes at most {MOST_SUBSCRIPTIONS} subscriptions at once (got {interests.subscriptions})",
            field="interests",
        )
    refuse_clashes(interests.brokers, live.interests.brokers)
    second, idle = without_idle_links(read_links(links_file, interests))
    report(0.2, "completing the second federation")
    missing = Overlay.from_links(interests, missing_links(second, k)).link_names()
    own = second.link_names()
    report(0.4, "linking the two")
    across = _across(live, Overlay.from_names(interests, [*own, *missing]))
    return Federation(interests, tuple(own), tuple(missing), tuple(idle), across, k)


def refuse_clashes(newcomers: Iterable[str], brokers: Iterable[str]) -> None:
    """A broker is in one federation only."""
    clashes = sorted(set(newcomers).intersection(brokers))
    if clashes:
        more = f" and {len(clashes) - CLASHES_NAMED} more" if len(clashes) > CLASHES_NAMED else ""
        named = ", ".join(map(repr, clashes[:CLASHES_NAMED]))
        raise Conflict(
            f"interests: brokers of these ids are in the overlay already: {named}{more}", field="broker"
        )


def merge_plan(live: LiveOverlay, federation: Federation) -> Plan:
    """The whole merge as one difference, for the live overlay of this moment."""
    interests = federation.interests
    if federation.k < live.policy.k:
        raise PolicyMoved(federation.k, live.policy.k)
    refuse_clashes(interests.brokers, (broker for broker in interests.brokers if broker in live))
    opened: list[LinkChange] = [_Merged(a, b, "repair") for a, b in federation.links]
    opened += [
        LinkChange(a, b, "repair", _shared(interests.topics_of(a), interests.topics_of(b)))
        for a, b in federation.completed
    ]
    for (old, new), topics in _whole_across(live, federation).items():
        opened.append(LinkChange(min(old, new), max(old, new), "repair", topics))
    return live.replay(
        Plan(
            live.version,
            joined=interests.brokers,
            subscribed=tuple((b, t) for b in interests.brokers for t in interests.topics_of(b)),
            opened=tuple(opened),
        )
    )


def result(federation: Federation, plan_opened: int, version: int) -> dict[str, Any]:
    """What a merge came to."""
    return {
        "brokers": len(federation.interests.brokers),
        "topics": len(federation.interests.topics),
        "subscriptions": federation.interests.subscriptions,
        "duplicates": federation.interests.duplicates,
        "links_brought": len(federation.links),
        "completed": len(federation.completed),
        "left_out": len(federation.left_out),
        "left_out_first": federation.left_out[:LINKS_NAMED],
        "across": plan_opened - len(federation.links) - len(federation.completed),
        "version": version,
    }


def _across(live: Overlay, second: Overlay) -> tuple[Pair, ...]:
    """Star Merge of two overlays that share no broker: the links across."""
    topics_of = {
        broker: overlay.interests.topics_of(broker)
        for overlay in (live, second)
        for broker in overlay.interests.brokers
    }
    both = Interests.from_mapping(topics_of)
    newcomers = set(second.interests.brokers)
    part = np.array([broker in newcomers for broker in both.brokers], np.int32)
    inner = Overlay.from_names(both, [*live.link_names(), *second.link_names()])
    outer = star_merge(both, part, degrees=inner.degrees().astype(np.int32)).outer
    names = both.brokers
    return tuple((names[a], names[b]) for a, b in outer.tolist())


def _whole_across(live: LiveOverlay, federation: Federation) -> dict[Pair, tuple[str, ...]]:
    """The links across (live end, new end) that are still of use, and what churn or k ask for beside them."""
    interests, k = federation.interests, live.policy.k
    new = set(interests.brokers)
    links: dict[Pair, tuple[str, ...]] = {}
    serving: dict[str, list[Pair]] = defaultdict(list)

    def add(old_end: str, new_end: str) -> None:
        topics = _shared(live.topics_of(old_end), interests.topics_of(new_end))
        if topics:
            links[old_end, new_end] = topics
            for topic in topics:
                serving[topic].append((old_end, new_end))

    for a, b in federation.across:
        old_end, new_end = (b, a) if a in new else (a, b)
        if old_end in live:
            add(old_end, new_end)
    degree = dict.fromkeys(new, 0)
    for a, b in (*federation.links, *federation.completed):
        degree[a] += 1
        degree[b] += 1
    for topic in sorted(set(interests.topics).intersection(live.topic_names())):
        old_side, new_side = live.subscribers_of(topic), interests.subscribers_of(topic)
        while True:
            old_ends = {a for a, _ in serving[topic]}
            new_ends = {b for _, b in serving[topic]}
            if len(old_ends) >= min(k, len(old_side)) and len(new_ends) >= min(k, len(new_side)):
                break
            add(
                min(set(old_side) - old_ends or old_side, key=lambda b: (live.degree_of(b), b)),
                min(set(new_side) - new_ends or new_side, key=lambda b: (degree[b], b)),
            )
    return links


def _shared(some: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(some).intersection(others)))
