"""Changes as a table: when, who, what."""

from __future__ import annotations

import pandas as pd

from ui import listing
from ui.answers import Change
from ui.wording import moment

KINDS = (
    "join",
    "leave",
    "subscribe",
    "unsubscribe",
    "set-topics",
    "batch",
    "expire",
    "failure",
    "activate",
    "rollback",
    "prune",
    "policy",
    "import",
    "merge",
)

CONFIG = {
    "version": listing.whole("Version", 74),
    "at": listing.text("Time (UTC)", 144),
    "kind": listing.text("Kind", 92),
    "broker": listing.text("Broker", 180),
    "actor": listing.text("Actor", 84),
    "opened": listing.whole("Opened", 72, "Links opened"),
    "closed": listing.whole("Closed", 68, "Links closed"),
    "what": listing.text(
        "What changed", 190, "Brokers and subscriptions that came and went; values of the policy"
    ),
}


def frame(changes: list[Change]) -> pd.DataFrame:
    """One row a change."""
    return pd.DataFrame(
        [
            (
                change["version"],
                moment(change["at"]),
                change["kind"],
                touched(change),
                change["actor"],
                len(change["opened"]),
                len(change["closed"]),
                what(change),
            )
            for change in changes
        ],
        columns=list(CONFIG),
    )


def what(change: Change) -> str:
    """What came and went, "+1 broker, +5 subscriptions", or became of the policy, "k 1 → 2"."""
    parts = [f"{name} {before} → {after}" for name, before, after in policy(change)]
    parts += [
        f"{sign}{len(items):,} {word if len(items) == 1 else word + 's'}"
        for sign, items, word in (
            ("+", change["joined"], "broker"),
            ("−", change["left"], "broker"),
            ("+", change["subscribed"], "subscription"),
            ("−", change["unsubscribed"], "subscription"),
        )
        if items
    ]
    return ", ".join(parts)


def policy(change: Change) -> list[tuple[str, str, str]]:
    """The values that a change of the policy replaced: name, before, after."""
    before, after = change.get("policy_before") or {}, change.get("policy_after") or {}
    return [
        (name, _value(before.get(name)), _value(after.get(name))) for name in dict.fromkeys((*before, *after))
    ]


def _value(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def touched(change: Change) -> str:
    """The broker that it is about; a batch names none, and may still be about one only."""
    if change["broker"]:
        return change["broker"]
    pairs = (*change["subscribed"], *change["unsubscribed"])
    found = {*change["joined"], *change["left"], *(broker for broker, _ in pairs)}
    return next(iter(found)) if len(found) == 1 else ""


def said(change: Change) -> str:
    """A change in a few words: "leave /region/4/broker-17"."""
    words = [change["kind"], touched(change) or what(change)]
    if not change["broker"] and touched(change):
        # The kind says no more than that it was a batch.
        words.append(f"({what(change)})")
    return " ".join(filter(None, words))


def links(change: Change) -> str:
    """Links opened and closed: "+3 −9"."""
    return f"+{len(change['opened']):,} −{len(change['closed']):,}"


def show(changes: list[Change], *, max_height: int = 460) -> None:
    """Draw them in the order given."""
    listing.plain(frame(changes), CONFIG, alt="Changes", max_height=max_height)
