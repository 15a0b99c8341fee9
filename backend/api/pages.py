"""Pages of a list: search, sort, and a cursor that stays right while rows come and go.

The cursor is the sort value and id of the last row seen, so the next page starts after that row wherever it stands
now; ``offset`` is there for a table that jumps to page 7.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Depends, Query, Request

from backend.api.limits import RequestLimits, limited_by
from backend.errors import BadValue

DEFAULT_PAGE_SIZE = 50
_LONGEST_CURSOR = 4096
"""Room for the longest id, in base64, with every character escaped."""

Row = TypeVar("Row")


@dataclass(frozen=True)
class PageRequest:
    """The query parameters of a list."""

    q: Annotated[
        str,
        Query(
            description="only rows whose id contains this, whatever the case",
            json_schema_extra=limited_by("max_id_length"),
        ),
    ] = ""
    sort: Annotated[str, Query(max_length=64, description="a column; a leading - sorts downwards")] = ""
    limit: Annotated[
        int, Query(ge=1, description="rows a page", json_schema_extra=limited_by("max_page_size"))
    ] = DEFAULT_PAGE_SIZE
    after: Annotated[
        str | None, Query(max_length=_LONGEST_CURSOR, description="the `next` of the page before")
    ] = None
    offset: Annotated[int | None, Query(ge=0, description="rows to skip, instead of `after`")] = None


async def _page_request(
    given: Request, wanted: Annotated[PageRequest, Depends()], limits: RequestLimits
) -> PageRequest:
    limits.check_search(wanted.q)
    if "limit" not in given.query_params:
        return replace(wanted, limit=min(DEFAULT_PAGE_SIZE, limits.max_page_size))
    limits.check_page(wanted.limit)
    return wanted


PageQuery = Annotated[PageRequest, Depends(_page_request)]
"""The query parameters of a list, within this installation's limits."""


@dataclass(frozen=True)
class Page(Generic[Row]):
    """Some rows of a list, how many there are in all, and the cursor of the next page."""

    items: list[Row]
    total: int
    next: str | None


def sort_column(request: PageRequest, columns: Iterable[str], default: str) -> tuple[str, bool]:
    """The column to sort by, and whether downwards."""
    wanted = request.sort or default
    column = wanted.removeprefix("-")
    if column not in columns:
        raise BadValue(f"sort: must be one of {', '.join(columns)} (got {request.sort!r})", field="sort")
    return column, wanted.startswith("-")


def page_of(
    names: Iterable[str], request: PageRequest, value: Callable[[str], Any], *, down: bool
) -> Page[str]:
    """The page of ids that the request asks for, sorted by ``value`` and then by id."""
    wanted = request.q.casefold()
    keyed = [(value(name), name) for name in names if wanted in name.casefold()]
    keyed.sort(key=lambda pair: pair[1])
    keyed.sort(key=lambda pair: pair[0], reverse=down)
    start = _start(keyed, request, down=down)
    rows = keyed[start : start + request.limit]
    more = start + len(rows) < len(keyed)
    return Page([name for _, name in rows], len(keyed), _cursor(*rows[-1]) if more and rows else None)


def _start(keyed: list[tuple[Any, str]], request: PageRequest, *, down: bool) -> int:
    if request.after is None:
        return request.offset or 0
    if request.offset is not None:
        raise BadValue(f"offset: give either after or offset (got {request.offset!r})", field="offset")
    value, name = _uncursor(request.after)
    try:
        return sum(
            (row_value > value if down else row_value < value) or (row_value == value and row_name <= name)
            for row_value, row_name in keyed
        )
    except TypeError:
        raise BadValue(
            f"after: this cursor is of another sort (got {request.after!r})", field="after"
        ) from None


def _cursor(value: Any, name: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([value, name]).encode()).decode().rstrip("=")


def _uncursor(text: str) -> tuple[Any, str]:
    try:
        value, name = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, TypeError, RecursionError):
        raise BadValue(f"after: not a cursor of this list (got {text!r})", field="after") from None
    return value, str(name)
