"""Every error the backend raises on purpose, with its HTTP status and exit code: the one table of both.

::

    Problem                 slug, title, status (HTTP), exit_code (command line), detail, field
    ├── BadValue            422, exit 2: a value the caller can correct
    ├── NotFound            404, exit 2: no such broker, topic, version ...
    ├── Conflict            409, exit 1
    ├── Gone                410, exit 2: a version older than what is kept
    ├── PreconditionFailed  412, exit 1: the overlay is not at the version the caller named
    ├── TooLarge            413, exit 2: more than a limit of this installation allows
    ├── Unauthorized        401, exit 2: no key, or one that is not known
    ├── Forbidden           403, exit 2: a key whose scope does not reach that far
    ├── TooMuchWork         504, exit 1: a query the database gave up on, for its time or its memory
    ├── NotReady            503, exit 1: the overlay is not loaded yet, or its database is away
    ├── Busy                503, exit 1: more of that kind is under way than is done at once; come back later
    └── CannotRun           exit 1: something on this machine keeps the system from coming up or staying up

``algorithms.BadInput`` is the same as BadValue: 422, exit 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar


class Problem(Exception):
    """An error with a stable slug; ``detail`` is one clear line for a person."""

    slug: ClassVar[str] = "internal-error"
    title: ClassVar[str] = "Something went wrong inside TopicWeave"
    status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1
    headers: ClassVar[Mapping[str, str]] = {}
    """What HTTP wants beside the body: how to identify oneself, when to come back."""

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


class Gone(Problem):
    """A version that existed, older than what is kept."""

    slug = "gone"
    title = "That is no longer kept"
    status = 410
    exit_code = 2


class PreconditionFailed(Problem):
    """The overlay is not at the version that If-Match names."""

    slug = "version-moved"
    title = "The overlay is at another version"
    status = 412


class TooLarge(Problem):
    """A request larger than a limit of this installation; the detail names the limit and its setting."""

    slug = "too-large"
    title = "The request is too large"
    status = 413
    exit_code = 2


class Unauthorized(Problem):
    """The request carries no key that is known."""

    slug = "unauthorized"
    title = "A valid X-API-Key header is needed"
    status = 401
    exit_code = 2
    headers = {"WWW-Authenticate": 'ApiKey realm="topicweave"'}  # noqa: RUF012 (a ClassVar in the root)


class Forbidden(Problem):
    """The key is known, its scope does not reach that far."""

    slug = "forbidden"
    title = "The key's scope does not allow this"
    status = 403
    exit_code = 2


class TooMuchWork(Problem):
    """A query that takes more time or memory than it is given."""

    slug = "too-much-work"
    title = "The query takes too much"
    status = 504


class NotReady(Problem):
    """The API is up, but cannot answer from the overlay yet."""

    slug = "not-ready"
    title = "The overlay is not being served"
    status = 503
    headers = {"Retry-After": "1"}  # noqa: RUF012


class Busy(Problem):
    """What was asked for takes long, and enough of it is waiting already."""

    slug = "busy"
    title = "Too much of that is asked for at once"
    status = 503
    headers = {"Retry-After": "2"}  # noqa: RUF012


class CannotRun(Problem):
    """This machine, or what is installed on it, keeps the system from running."""

    slug = "cannot-run"
    title = "The system cannot run"
    status = 503


def first_line(error: BaseException) -> str:
    """What an error says, in one line: messages of others may go on for pages, or be empty."""
    return (str(error) or type(error).__name__).splitlines()[0]
