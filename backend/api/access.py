"""Who calls, and may they? A key in the X-API-Key header; routes ask for the scope they need by an alias.

``caller: Operator`` in a route's parameters refuses a lower scope and names who acts. Every route under /v1 asks for
:data:`Reader` without saying so; it says more only where it needs more.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader, SecurityScopes
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Asked

from backend.api.problems import problem_response
from backend.errors import Forbidden, Problem, Unauthorized
from backend.keyring import Caller, Keyring, Scope

__all__ = ["Admin", "Caller", "Operator", "Reader", "Scope", "UploadAccess", "key_works", "read_access"]

_HEADER = APIKeyHeader(
    name="X-API-Key",
    scheme_name="key",
    auto_error=False,
    description=(
        "A key made by `topicweave keys add` or `POST /v1/keys`, or the one in the home directory's file `api-key`. "
        "Scopes: read < operate < admin."
    ),
)


async def _caller(request: Request, given: Annotated[str | None, Depends(_HEADER)]) -> Caller:
    caller = _known(request.app.state.keyring, given)
    request.state.actor = caller.name
    return caller


def _known(keyring: Keyring, given: str | None) -> Caller:
    if given is None:
        raise Unauthorized("X-API-Key: the header is missing", field="X-API-Key")
    caller = keyring.caller(given)
    if caller is None:
        raise Unauthorized("X-API-Key: this key is not known here", field="X-API-Key")
    return caller


def key_works(request: Request) -> bool:
    """Whether the key of a request that was let in is still one: it may be revoked while the answer goes on."""
    given = request.headers.get(_HEADER.model.name)
    return given is not None and request.app.state.keyring.caller(given) is not None


async def _permitted(needed: SecurityScopes, caller: Annotated[Caller, Depends(_caller)]) -> Caller:
    for scope in needed.scopes:
        _check(caller, Scope(scope))
    return caller


def _check(caller: Caller, needed: Scope) -> None:
    if not caller.scope.reaches(needed):
        raise Forbidden(
            f"X-API-Key: this needs the scope {needed} (the key {caller.name!r} has {caller.scope})",
            field="X-API-Key",
        )


read_access = Security(_permitted, scopes=[Scope.READ.value])

Reader = Annotated[Caller, read_access]
"""Any key that works."""
Operator = Annotated[Caller, Security(_permitted, scopes=[Scope.OPERATE.value])]
"""A key that may change the overlay and run jobs."""
Admin = Annotated[Caller, Security(_permitted, scopes=[Scope.ADMIN.value])]
"""A key that may change the policy, the keys, and all at once."""


class UploadAccess:
    """Middleware: who may not send files is told so before any of them is read.

    The framework reads a form to its end before it asks a route's dependencies, and spools it to disk.
    """

    def __init__(self, app: ASGIApp, keyring: Keyring, paths: frozenset[str]) -> None:
        self._app = app
        self._keyring = keyring
        self._paths = paths

    async def __call__(self, scope: Asked, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it; the route itself checks once more."""
        if scope["type"] == "http" and scope["path"] in self._paths and scope["method"] == "POST":
            try:
                caller = _known(self._keyring, Headers(scope=scope).get("X-API-Key"))
                _check(caller, Scope.ADMIN)
            except Problem as problem:
                await problem_response(problem)(scope, receive, send)
                return
        await self._app(scope, receive, send)
