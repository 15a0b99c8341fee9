"""Keys: made, listed and revoked by an admin; and who am I?"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from algorithms.ids import LONGEST_ID
from backend.api.access import Admin, Reader, Scope
from backend.api.answers.shape import Shape, example, shown
from backend.api.paths import KeyId
from backend.keyring import Keyring
from backend.times import Moment

router = APIRouter(tags=["keys"])


class NewKey(BaseModel):
    """A key to be made."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"name": "agent-7", "scope": "operate"}]}
    )
    name: str = Field(
        min_length=1, max_length=LONGEST_ID, description="who uses it; every change records it as its actor"
    )
    scope: Scope


class Key(Shape):
    """A key without its secret."""

    model_config = ConfigDict(from_attributes=True) | example(
        id="3f9c2a71d0b4",
        name="agent-7",
        scope="operate",
        created_at="2026-11-16T19:20:01.123Z",
        revoked_at=None,
    )
    id: str
    """The key's id, to revoke it by."""
    name: str
    """Who uses it; every change records it as its actor."""
    scope: Scope
    """How far it may go."""
    created_at: Moment
    """When it was made."""
    revoked_at: Moment | None
    """When it was revoked; null: it works."""


class Keys(Shape):
    """Every key that was ever made, oldest first."""

    model_config = example(items=[shown(Key)])
    items: list[Key]
    """The keys."""


class MadeKey(Shape):
    """A new key, with the text to send in X-API-Key: this answer is the only one that ever shows it."""

    model_config = example(
        id="3f9c2a71d0b4", name="agent-7", scope="operate", key="what to send in X-API-Key"
    )
    id: str
    """The key's id, to revoke it by."""
    name: str
    """Who uses it; every change records it as its actor."""
    scope: Scope
    """How far it may go."""
    key: str
    """The key itself."""


class Me(Shape):
    """Whose key this is."""

    model_config = example(name="agent-7", scope="operate")
    name: str
    """The key's name: the actor of what it changes."""
    scope: Scope
    """How far it may go."""


async def _keyring(request: Request) -> Keyring:
    keyring: Keyring = request.app.state.keyring
    return keyring


KeyringOf = Annotated[Keyring, Depends(_keyring)]


@router.get("/me")
async def read_me(caller: Reader) -> Me:
    """The name and scope of the key that asks."""
    return Me(name=caller.name, scope=caller.scope)


@router.get("/keys")
async def list_keys(_: Admin, keyring: KeyringOf) -> Keys:
    """Every key, revoked ones too; the home directory's own is not among them."""
    return Keys(items=[Key.model_validate(key) for key in await keyring.keys()])


@router.post("/keys", status_code=201)
async def make_key(_: Admin, keyring: KeyringOf, wanted: NewKey) -> MadeKey:
    """Make a key; its secret is in this answer and nowhere else."""
    key, text = await keyring.add(wanted.name, wanted.scope)
    return MadeKey(id=key.id, name=key.name, scope=Scope(key.scope), key=text)


@router.delete("/keys/{id:id}")
async def revoke_key(_: Admin, keyring: KeyringOf, id: KeyId) -> Key:  # noqa: A002 (the word of the API)
    """Revoke a key: here at once, in every API process within a second. Again: the same answer."""
    return Key.model_validate(await keyring.revoke(id))
