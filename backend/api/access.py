"""Who may call: a key in the X-API-Key header, compared in constant time."""

from __future__ import annotations

import secrets

from fastapi import Request
from fastapi.security import APIKeyHeader

from backend.errors import Unauthorized

_HEADER = APIKeyHeader(
    name="X-API-Key", auto_error=False, description="the key in the home directory's file api-key"
)


class KeyCheck:
    """A dependency that lets only the installation's key pass."""

    def __init__(self, key: str) -> None:
        self._key = key.encode()

    async def __call__(self, request: Request) -> None:
        """Refuse a request without the key."""
        given = await _HEADER(request)
        if given is None:
            raise Unauthorized("X-API-Key: the header is missing", field="X-API-Key")
        if not secrets.compare_digest(given.encode(), self._key):
            raise Unauthorized("X-API-Key: this key is not known here", field="X-API-Key")
