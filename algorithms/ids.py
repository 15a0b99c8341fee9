"""What may be the id of a broker or the name of a topic.

Any script, spaces, quotes and slashes are fine. Refused are the empty string, more than 256 characters, control
characters, text that cannot be encoded, and the two ids that a URL path cannot carry (``.`` and ``..``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from algorithms.errors import BadInput

LONGEST_ID = 256
_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def why_unfit(value: object) -> str | None:
    """The reason why a value cannot be an id, or None for a good one.

    >>> why_unfit("/sensing/lidar") is None
    True
    >>> why_unfit("..")
    "the ids '.' and '..' cannot stand in a URL path"
    """
    if not isinstance(value, str):
        return "an id is a string"
    if not value:
        return "an id cannot be empty"
    if len(value) > LONGEST_ID:
        return f"an id has at most {LONGEST_ID} characters"
    if value in {".", ".."}:
        return "the ids '.' and '..' cannot stand in a URL path"
    if _UNFIT.search(value):
        return "an id holds no control characters"
    return None


def check_ids(values: Iterable[object], field: str) -> None:
    """Raise :class:`BadInput` for the first value that cannot be an id."""
    for value in values:
        if reason := why_unfit(value):
            raise BadInput(field, value, reason)
