"""The table of brokers: a click on an id opens the broker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from ui import listing
from ui.answers import BrokerRow

COLUMNS = ("id", "degree", "topics", "backups", "primaries", "blast_radius")


def show(
    rows: list[BrokerRow],
    key: str,
    *,
    on_column: Callable[[str], None] | None = None,
    columns: Sequence[str] = COLUMNS,
    name_width: int = 380,
) -> None:
    """Draw the rows; tell ``on_column`` which header was clicked."""
    table = frame(rows)
    listing.show(
        table,
        key,
        opens="id",
        page="views/broker.py",
        param="broker",
        columns=[column for column in columns if column in table.columns],
        config=_config(),
        name_label="Broker",
        name_width=name_width,
        on_column=on_column,
        alt="Brokers: degree, topics, backups, primaries",
    )


def frame(rows: list[BrokerRow]) -> pd.DataFrame:
    """The rows as a table; the blast radius is a column only where the API counted it."""
    columns = [c for c in COLUMNS if c != "blast_radius" or any("blast_radius" in row for row in rows)]
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(columns[1:], "Int64"))


def _config() -> dict[str, Any]:
    return {
        "degree": listing.whole("Degree", 78, "Links to other brokers"),
        "topics": listing.whole("Topics", 78, "Topics it subscribes to"),
        "backups": listing.whole("Backups", 84, "Brokers that would take over its topics"),
        "primaries": listing.whole("Primaries", 88, "Brokers whose topics it would take over"),
        "blast_radius": listing.whole(
            "Blast radius", 100, "Topics that come apart if it goes, until repaired"
        ),
    }
