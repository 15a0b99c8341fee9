"""``topicweave check``: mirror, invariants and database compared; what was edited behind our back is named.

The database is read in several transactions while changes go on. A broker that a change touched meanwhile is *in
motion*: what is seen of it may be half old and half new, so it is left out of the comparison. Everybody else is the
same before, during and after the reading, so any difference is one that no change explains. Nothing is repaired here.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from algorithms import BadInput, Interests, Overlay
from backend.imports.request import Access
from backend.live import Mirror
from backend.policy import Policy
from backend.record import Pair
from backend.store import BrokerFacts, Database
from backend.store.commit import read_changes
from backend.worker import Report, in_process

EXAMPLES = 20
RECORDS_AT_ONCE = 500

MEANINGS = {
    "overlay-count": "there must be one Overlay node, and it must be live",
    "policy": "the policy in Neo4j is not the one in force",
    "version": "the newest Change must have the overlay's version",
    "history-gap": "these versions have no Change",
    "broker-missing": "in the overlay, but not in Neo4j",
    "broker-unknown": "in Neo4j, but no change made it join",
    "broker-unnamed": "a Broker node whose id is no text",
    "attributes": "the attributes in Neo4j are not those it joined with",
    "subscription-missing": "in the overlay, but not in Neo4j",
    "subscription-unknown": "in Neo4j, but no change subscribed it",
    "subscription-twice": "stored more than once",
    "topic-unnamed": "a broker subscribes to a Topic node whose name is no text",
    "topic-idle": "a Topic node that nobody subscribes to",
    "link-missing": "in the overlay, but not in Neo4j",
    "link-unknown": "in Neo4j, but no change opened it",
    "link-facts": "since or reason in Neo4j are not those it was opened with",
    "link-twice": "stored more than once",
    "link-backwards": "stored from the larger id to the smaller",
    "link-loop": "a broker linked to itself",
    "link-foreign": "an end that is no broker",
    "link-idle": "its ends share no topic",
    "topic-below-k": "not connected as the policy promises",
}


@dataclass(frozen=True)
class Known:
    """What this process believes, at one version."""

    version: int
    policy: Policy
    overlay: Overlay
    links: dict[Pair, tuple[int, str]]
    facts: dict[str, BrokerFacts]


@dataclass
class Findings:
    """What is wrong, by kind; a few of each are named."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, kind: str, what: str) -> None:
        """One more."""
        self.counts[kind] += 1
        if len(self.examples[kind]) < EXAMPLES:
            self.examples[kind].append(what)

    def add_all(self, kind: str, what: Iterable[str]) -> None:
        """Several, in order."""
        for one in sorted(what):
            self.add(kind, one)

    def as_json(self) -> list[dict[str, Any]]:
        """In the order of MEANINGS."""
        return [
            {"kind": kind, "meaning": meaning, "count": self.counts[kind], "examples": self.examples[kind]}
            for kind, meaning in MEANINGS.items()
            if self.counts[kind]
        ]


@dataclass
class Stored:
    """What Neo4j holds."""

    topics: dict[str, list[str]] = field(default_factory=dict)
    attributes: dict[str, str | None] = field(default_factory=dict)
    links: dict[Pair, tuple[Any, Any]] = field(default_factory=dict)


async def check(mirror: Mirror, access: Access) -> dict[str, Any]:
    """Compare what this process serves with Neo4j; the work is done in another process."""
    # No await between these copies: they are one version.
    version, policy, freeze = mirror.version, mirror.policy, mirror.live.freeze()
    links, facts = mirror.links.copy(), mirror.facts.copy()
    known = Known(version, policy, await asyncio.to_thread(freeze), links, facts)
    return await in_process(lambda _share, _stage: None, compare, access, known)


def compare(_report: Report, access: Access, known: Known) -> dict[str, Any]:
    """What the other process does."""
    return asyncio.run(_compare(access, known))


async def _compare(access: Access, known: Known) -> dict[str, Any]:
    began = time.perf_counter()
    findings = Findings()
    async with access.open() as database:
        stored = _read(database, findings)
        idle = [row["name"] for row in await database.read("check/read_idle_topics", limit=EXAMPLES)]
        version = await _check_state(database, known, findings)
        brokers, topics = await _in_motion(database, known.version)
    _compare_brokers(known, stored, brokers, findings)
    _compare_links(known, stored, brokers, findings)
    findings.add_all("topic-idle", (str(name) for name in idle if name not in topics))
    _check_promise(known, stored, brokers, findings)
    return {
        "good": not findings.counts,
        "version": version,
        "compared_at": known.version,
        "k": known.policy.k,
        "brokers": len(stored.topics),
        "subscriptions": sum(len(set(names)) for names in stored.topics.values()),
        "links": len(stored.links),
        "in_motion": len(brokers),
        "problems": sum(findings.counts.values()),
        "findings": findings.as_json(),
        "seconds": round(time.perf_counter() - began, 3),
    }


def _read(database: Database, findings: Findings) -> Stored:
    stored = Stored()
    for broker, attributes, topics in database.rows("check/read_brokers"):
        named = [topic for topic in topics if isinstance(topic, str)]
        if not isinstance(broker, str):
            findings.add("broker-unnamed", repr(broker))
            continue
        unnamed = (topic for topic in topics if not isinstance(topic, str))
        findings.add_all("topic-unnamed", (f"{broker} - {topic!r}" for topic in unnamed))
        stored.topics[broker] = named
        stored.attributes[broker] = attributes
    for a, b, since, reason, proper in database.rows("check/read_links"):
        shown = f"{a} - {b}"
        if not (proper and isinstance(a, str) and isinstance(b, str)):
            findings.add("link-foreign", shown)
        elif a == b:
            findings.add("link-loop", shown)
        else:
            pair = (a, b) if a < b else (b, a)
            if a > b:
                findings.add("link-backwards", shown)
            if pair in stored.links:
                findings.add("link-twice", shown)
            stored.links[pair] = (since, reason)
    return stored


async def _check_state(database: Database, known: Known, findings: Findings) -> int:
    for _ in range(3):  # a commit between two counts looks like a fault, once
        (row,) = await database.read("check/read_state")
        overlays = row["overlays"]
        version = overlays[0].get("version", 0) if overlays else 0
        if len(overlays) == 1 and (row["last"] or 0) == version:
            break
    live = [overlay for overlay in overlays if overlay.get("state") == "live"]
    if len(overlays) != 1 or len(live) != 1:
        findings.add("overlay-count", f"{len(overlays)} Overlay nodes, {len(live)} of them live")
    if len(overlays) == 1 and (row["last"] or 0) > version:
        # The version is read before the Changes; a commit that came between has raised it by now.
        (now,) = await database.read("overlay/read_version")
        version = max(version, min(row["last"], now["version"]))
    if (row["last"] or 0) != version:
        findings.add("version", f"the overlay is at {version}, the newest Change at {row['last']}")
    if row["changes"] and row["changes"] != row["last"] - row["forgotten"]:
        gaps = await database.read("check/read_gaps", forgotten=row["forgotten"], limit=EXAMPLES)
        findings.add_all("history-gap", (str(gap["version"]) for gap in gaps))
    if overlays and version == known.version:
        try:
            same = Policy.from_properties(overlays[0]) == known.policy
        except (BadInput, TypeError) as error:
            findings.add("policy", str(error))
        else:
            if not same:
                findings.add("policy", f"in force: {known.policy.properties()}")
    return int(version)


async def _in_motion(database: Database, since: int) -> tuple[set[str], set[str]]:
    """Brokers and topics that changes touched after a version."""
    brokers: set[str] = set()
    topics: set[str] = set()
    while records := await read_changes(database, since, RECORDS_AT_ONCE):
        for record in records:
            brokers |= record.brokers_touched()
            topics.update(topic for _, topic in (*record.subscribed, *record.unsubscribed))
        since = records[-1].version
    return brokers, topics


def _compare_brokers(known: Known, stored: Stored, moving: set[str], findings: Findings) -> None:
    ours = set(known.overlay.interests.brokers)
    theirs = set(stored.topics)
    findings.add_all("broker-missing", ours - theirs - moving)
    findings.add_all("broker-unknown", theirs - ours - moving)
    for broker in sorted((ours & theirs) - moving):
        have, want = stored.topics[broker], set(known.overlay.interests.topics_of(broker))
        names = set(have)
        if len(have) != len(names):
            twice = (name for name, count in Counter(have).items() if count > 1)
            findings.add_all("subscription-twice", (f"{broker} - {name}" for name in twice))
        findings.add_all("subscription-missing", (f"{broker} - {name}" for name in want - names))
        findings.add_all("subscription-unknown", (f"{broker} - {name}" for name in names - want))
        facts = known.facts.get(broker, BrokerFacts())
        if _attributes(stored.attributes[broker]) != facts.attributes:
            findings.add("attributes", broker)


def _attributes(text: str | None) -> Any:
    try:
        return json.loads(text) if text else {}
    except (ValueError, TypeError):
        return text


def _compare_links(known: Known, stored: Stored, moving: set[str], findings: Findings) -> None:
    def still(links: Iterable[Pair]) -> list[Pair]:
        return sorted(link for link in links if link[0] not in moving and link[1] not in moving)

    findings.add_all(
        "link-missing", (f"{a} - {b}" for a, b in still(known.links.keys() - stored.links.keys()))
    )
    findings.add_all(
        "link-unknown", (f"{a} - {b}" for a, b in still(stored.links.keys() - known.links.keys()))
    )
    for a, b in still(stored.links.keys() & known.links.keys()):
        if stored.links[a, b] != known.links[a, b]:
            findings.add("link-facts", f"{a} - {b}")
    for a, b in still(stored.links):
        if not set(stored.topics.get(a, ())).intersection(stored.topics.get(b, ())):
            findings.add("link-idle", f"{a} - {b}")


def _check_promise(known: Known, stored: Stored, moving: set[str], findings: Findings) -> None:
    """Every topic is connected at the policy's k: in the mirror, and in Neo4j where nothing is in motion."""
    weak = {shortfall.topic: str(shortfall) for shortfall in known.overlay.topics_below(known.policy.k)}
    interests = Interests.from_mapping(stored.topics)
    links = [link for link in stored.links if link[0] in stored.topics and link[1] in stored.topics]
    for shortfall in Overlay.from_names(interests, links).topics_below(known.policy.k):
        if moving.isdisjoint(interests.subscribers_of(shortfall.topic)):
            weak[shortfall.topic] = str(shortfall)
    findings.add_all("topic-below-k", weak.values())
