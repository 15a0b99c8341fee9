"""The published jars the product runs: which ones (a lock file), and how they come into the user's cache.

A lock file names each jar by its Maven coordinate and its SHA-256, one a line, and holds no address: where to
fetch from is the setting ``maven_url``, else the public repository as the library jgo knows it.
``python -m backend.managed.lock_jars`` makes the lock files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from backend.errors import CannotRun
from backend.settings import Settings

Say = Callable[[str], None]

_BLOCK = 1 << 20
_VERIFIED = "verified"


@dataclass(frozen=True)
class Jar:
    """One published jar."""

    group: str
    artifact: str
    version: str
    classifier: str
    sha256: str

    @property
    def coordinate(self) -> str:
        """``group:artifact:version[:classifier]``, as in the lock file."""
        return ":".join(part for part in (self.group, self.artifact, self.version, self.classifier) if part)

    @property
    def file_name(self) -> str:
        """The name Maven gives the file; no two jars of our locks share one (the lock's maker sees to it)."""
        return "-".join(part for part in (self.artifact, self.version, self.classifier) if part) + ".jar"

    @property
    def repository_path(self) -> str:
        """Where any Maven repository keeps the file, below its base address."""
        return "/".join((*self.group.split("."), self.artifact, self.version, self.file_name))


def read_lock(name: str) -> list[Jar]:
    """The jars of the lock file ``name`` ("neo4j" or "spark"), in its order."""
    text = Path(__file__).with_name(f"{name}.lock").read_text(encoding="utf-8")
    return list(parse_lock(text))


def parse_lock(text: str) -> Iterator[Jar]:
    """Jars from lines of ``coordinate  sha256``; empty lines and lines that begin with # are skipped."""
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            coordinate, sha256 = line.split()
            group, artifact, version, *classifier = coordinate.split(":")
            yield Jar(group, artifact, version, classifier[0] if classifier else "", sha256)


def neo4j_jars(settings: Settings, say: Say) -> list[Path]:
    """Neo4j's class path: every jar of its lock, fetched if missing, verified."""
    return fetch_jars(read_lock("neo4j"), settings.cache / "jars", settings.maven_url, say)


def spark_jars(settings: Settings, say: Say) -> list[Path]:
    """What Spark is given as ``spark.jars``: the Neo4j connector, fetched if missing, verified."""
    return fetch_jars(read_lock("spark"), settings.cache / "jars", settings.maven_url, say)


def fetch_jars(jars: Sequence[Jar], directory: Path, base_url: str | None, say: Say) -> list[Path]:
    """Paths of ``jars`` in ``directory``, in order; what is missing or damaged is fetched first.

    Two installations may share a cache, so one process at a time looks and fetches.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with FileLock(directory / ".lock"):
        wanted = [jar for jar, good in zip(jars, _good_ones(jars, directory), strict=True) if not good]
        if wanted:
            # A warm start does not pay for importing jgo and an HTTP client: half a second.
            from jgo.constants import MAVEN_CENTRAL_URL

            from backend.managed.download import download

            download(wanted, directory, base_url or MAVEN_CENTRAL_URL, say)
            if not all(_good_ones(jars, directory)):
                raise CannotRun(f"jars in {directory} change while they are being verified")
    return [directory / jar.file_name for jar in jars]


def sha256_of(path: Path) -> str:
    """The file's SHA-256 in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _good_ones(jars: Sequence[Jar], directory: Path) -> list[bool]:
    """For each jar: is its file there, and what the lock says?

    Hashing 123 MB costs half a second of every start, so a file found good is noted with its size, its time of
    change and its hash, and is hashed again only when one of them differs: a truncated, replaced or edited file
    shows, and a new lock does too. Bits that rot on the disk under an unchanged time do not; Java's zip checks
    catch those.
    """
    notes = directory / _VERIFIED
    known = set(notes.read_text(encoding="utf-8").splitlines()) if notes.exists() else set()
    found = [_note(jar, directory / jar.file_name) for jar in jars]
    unknown = [jar for jar, note in zip(jars, found, strict=True) if note and note not in known]
    with ThreadPoolExecutor() as threads:
        hashes = dict(
            zip(unknown, threads.map(lambda jar: sha256_of(directory / jar.file_name), unknown), strict=True)
        )
    good = [
        bool(note) and hashes.get(jar, jar.sha256) == jar.sha256
        for jar, note in zip(jars, found, strict=True)
    ]
    fresh = {note for note, fine in zip(found, good, strict=True) if note and fine}
    if not fresh <= known:
        # Notes of other locks are kept; those of files that changed go with their names.
        names = {jar.file_name for jar in jars}
        kept = {note for note in known if note.split()[0] not in names}
        notes.write_text("\n".join(sorted(kept | fresh)) + "\n", encoding="utf-8")
    return good


def _note(jar: Jar, path: Path) -> str | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return f"{jar.file_name} {status.st_size} {status.st_mtime_ns} {jar.sha256}"
