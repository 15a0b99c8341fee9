"""Every error the backend raises on purpose, with its HTTP status and exit code: the one table of both.

::

    Problem                 slug, title, status (HTTP), exit_code (command line), detail, field
    ├── BadValue            422, exit 2: a value the caller can correct
    ├── NotFound            404, exit 2: no such broker, topic, version ...
    ├── Conflict            409, exit 1
    ├── Unauthorized        401, exit 2: no key, or one that is not known
    ├── NotReady            503, exit 1: the overlay is not loaded yet, or its database is away
    └── CannotRun           exit 1: something on this machine keeps the system from coming up or staying up

``algorithms.BadInput`` is the same as BadValue: 422, exit 2.
"""

from __future__ import annotations

from typing import ClassVar


class Problem(Exception):
    """An error with a stable slug; ``detail`` is one clear line for a person."""

    slug: ClassVar[str] = "internal-error"
    title: ClassVar[str] = "Something went wrong inside TopicWeave"
    status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1

    def __init__(self, detail: str, *, field: str | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.field = field


class BadValue(Problem):
    """A value the caller can correct; the detail names the field and the value."""

    slug = "bad-value"
    title = "A value cannot be used"
    status = 422
    exit_code = 2


class NotFound(Problem):
    """What the caller named does not exist."""

    slug = "not-found"
    title = "There is no such thing"
    status = 404
    exit_code = 2


class Conflict(Problem):
    """The request does not fit the overlay's present state."""

    slug = "conflict"
    title = "The request does not fit the present state"
    status = 409


class Unauthorized(Problem):
    """The request carries no key that is known."""

    slug = "unauthorized"
    title = "A valid X-API-Key header is needed"
    status = 401
    exit_code = 2


class NotReady(Problem):
    """The API is up, but cannot answer from the overlay yet."""

    slug = "not-ready"
    title = "The overlay is not being served"
    status = 503


class CannotRun(Problem):
    """This machine, or what is installed on it, keeps the system from running."""

    slug = "cannot-run"
    title = "The system cannot run"
    status = 503
