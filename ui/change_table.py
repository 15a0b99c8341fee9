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
    "what": listing.text("Brokers and subscriptions", 190),
}


def frame(changes: list[Change]) -> pd.DataFrame:
    """One row a change."""
    return pd.DataFrame(
        [
            (
                change["version"],
                moment(change["at"]),
                change["kind"],
                change["broker"] or "",
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
    """Brokers and subscriptions that came and went: "+1 broker, +5 subscriptions"."""
    parts = [
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


def said(change: Change) -> str:
    """A change in a few words: "leave /region/4/broker-17"."""
    return f"{change['kind']} {change['broker'] or what(change)}".strip()


def links(change: Change) -> str:
    """Links opened and closed: "+3 −9"."""
    return f"+{len(change['opened']):,} −{len(change['closed']):,}"


def show(changes: list[Change], *, max_height: int = 460) -> None:
    """Draw them in the order given."""
    listing.plain(frame(changes), CONFIG, alt="Changes", max_height=max_height)
