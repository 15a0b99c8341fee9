"""Moments as everyone writes them here: ISO 8601, UTC, milliseconds, ``2026-11-16T19:20:01.123Z``."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import PlainSerializer, WithJsonSchema


def stamp(moment: datetime) -> str:
    """The moment as text.

    >>> stamp(datetime(2026, 11, 16, 19, 20, 1, 123456, tzinfo=UTC))
    '2026-11-16T19:20:01.123Z'
    """
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


Moment = Annotated[
    datetime,
    PlainSerializer(stamp, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2026-11-16T19:20:01.123Z"]}),
]
"""A field of an answer that is a moment."""
