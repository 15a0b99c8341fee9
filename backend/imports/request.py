"""What somebody sent to be imported, and where it lies until then."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from backend.settings import Settings
from backend.store import Database

Kind = Literal["import", "merge", "restore"]


@dataclass(frozen=True)
class ImportRequest:
    """Files in a folder of their own, and what is to become of them."""

    kind: Kind
    folder: Path
    files: Mapping[str, str]
    """The name of each file under which it was sent, by what it is: ``interests``, ``links``, ``backup``."""
    build: str | None = None
    """The algorithm of the first overlay; None: the policy's."""
    adopt: bool = True
    """Of links that were sent along: take them over, or only say what they are worth."""

    def path(self, what: str) -> Path | None:
        """Where a file lies; None where it was not sent."""
        return self.folder / self.files[what] if what in self.files else None

    def without_folder(self, text: str) -> str:
        """A message about a file, with the name its owner knows."""
        for field in self.files:
            text = text.replace(f"{self.folder}/{field}/", "")
        return text

    def discard(self) -> None:
        """Remove the files."""
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass(frozen=True)
class Access:
    """How another process reaches the database."""

    uri: str
    user: str
    password: str

    @classmethod
    def of(cls, settings: Settings) -> Access:
        """The database of an installation."""
        return cls(settings.bolt_uri, settings.neo4j_user, settings.find_neo4j_password())

    def open(self) -> Database:
        """A connection of one's own."""
        return Database(self.uri, self.user, self.password)
