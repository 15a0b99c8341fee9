"""The table of topics, as the overview and the list show it: a click on a name opens the topic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from ui import listing
from ui.answers import TopicRow
from ui.wording import diameter

# The API's name of each column, in the order shown.
COLUMNS = ("name", "subscribers", "components", "connectivity", "diameter", "articulation_brokers")


def show(
    rows: list[TopicRow],
    key: str,
    *,
    on_column: Callable[[str], None] | None = None,
    columns: Sequence[str] = COLUMNS,
    name_width: int = 380,
) -> None:
    """Draw the rows; tell ``on_column`` which header was clicked."""
    listing.show(
        frame(rows),
        key,
        opens="name",
        page="views/topic.py",
        param="topic",
        columns=columns,
        config=_config(),
        name_label="Topic",
        name_width=name_width,
        on_column=on_column,
        alt="Topics: subscribers, components, connectivity, diameter, articulation brokers",
    )


def frame(rows: list[TopicRow]) -> pd.DataFrame:
    """The rows as a table; a topic that is apart has no diameter."""
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    whole = [column for column in COLUMNS[1:] if column not in ("connectivity", "diameter")]
    table["diameter"] = [
        None if row["diameter"] is None else diameter(row["diameter"], sampled=row["diameter_sampled"])
        for row in rows
    ]
    # "3+" where it was not looked for further.
    table["connectivity"] = table["connectivity"].map(str, na_action="ignore")
    return table.astype(dict.fromkeys(whole, "Int64"))


def _config() -> dict[str, Any]:
    """Widths in pixels, so that the headers are whole; what is left over goes to all columns."""
    return {
        "subscribers": listing.whole("Subscribers", 90),
        "components": listing.whole("Components", 94),
        "connectivity": listing.text(
            "Connectivity", 96, "How many brokers must go before it can come apart", alignment="right"
        ),
        "diameter": listing.text(
            "Diameter",
            76,
            "In links; a topic that is apart has none, of a very large one it may be a lower bound (≥)",
            alignment="right",
        ),
        "articulation_brokers": listing.whole(
            "Articulation", 94, "Brokers whose loss alone would split the topic"
        ),
    }
