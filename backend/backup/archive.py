"""The file of a backup: a zip of Parquet tables and JSON, and a manifest with the checksum of each.

Nothing in it needs TopicWeave to be read; docs/backup.md says what each part holds.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from backend.errors import BadValue, first_line

FORMAT = "topicweave-backup"
FORMAT_VERSION = 2
MANIFEST = "manifest.json"
CHUNK = 1 << 20

_TEXT, _TEXTS, _WHOLE = pyarrow.string(), pyarrow.list_(pyarrow.string()), pyarrow.int64()
_MOMENT = pyarrow.timestamp("us", tz="UTC")

BROKERS = pyarrow.schema(
    [
        ("broker", _TEXT),
        ("attributes", _TEXT),
        ("lease_seconds", _WHOLE),
        ("lease_until", _MOMENT),
        ("acked", _WHOLE),
        ("failures", _TEXT),
    ]
)
SUBSCRIPTIONS = pyarrow.schema([("broker", _TEXT), ("topic", _TEXT)])
LINKS = pyarrow.schema([("broker_a", _TEXT), ("broker_b", _TEXT), ("since", _WHOLE), ("reason", _TEXT)])
CHANGE_LISTS = (
    "joined", "left", "opened_a", "opened_b", "opened_reason", "closed_a", "closed_b", "closed_reason",
    "subscribed_broker", "subscribed_topic", "unsubscribed_broker", "unsubscribed_topic",
)  # fmt: skip
CHANGES = pyarrow.schema(
    [
        ("version", _WHOLE),
        ("group", _TEXT),
        ("at", _MOMENT),
        ("actor", _TEXT),
        ("kind", _TEXT),
        ("broker", _TEXT),
        *((name, _TEXTS) for name in CHANGE_LISTS),
        ("brokers", _WHOLE),
        ("links", _WHOLE),
        ("max_degree", _WHOLE),
        ("policy_before", _TEXT),
        ("policy_after", _TEXT),
    ]
)
SINCE_2 = ("policy_before", "policy_after")
"""Columns that files of format 1 do not have; everything else is the same."""
TABLES = {
    "brokers.parquet": BROKERS,
    "subscriptions.parquet": SUBSCRIPTIONS,
    "links.parquet": LINKS,
    "changes.parquet": CHANGES,
}
PARTS = (*TABLES, "policy.json", "keys.json")
_DAMAGE = (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError)
"""What reading a damaged zip raises; the last where a flipped bit says that it is encrypted."""


def pack(folder: Path, target: Path, manifest: Mapping[str, Any]) -> None:
    """Put the parts that lie in a folder into one file, with the manifest that names and proves them."""
    parts = {
        name: {"bytes": (folder / name).stat().st_size, "sha256": _digest(folder / name)} for name in PARTS
    }
    whole = {"format": FORMAT, "format_version": FORMAT_VERSION, **manifest, "parts": parts}
    # Parquet is compressed by itself.
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(MANIFEST, json.dumps(whole, indent=2, ensure_ascii=False))
        for name in PARTS:
            archive.write(folder / name, name)


def unpack(backup: Path, folder: Path) -> dict[str, Any]:
    """The manifest of a backup, and its parts in a folder, each proven; what is damaged is named."""
    try:
        with zipfile.ZipFile(backup) as archive:
            manifest = _manifest(backup, archive)
            for name in PARTS:
                _extract(backup, archive, name, folder / name, manifest["parts"])
    except _DAMAGE as error:
        raise damaged(backup, f"it cannot be read as a backup: {error}") from None
    return manifest


def read_table(folder: Path, name: str, backup: Path) -> pyarrow.Table:
    """One table of an unpacked backup, with the columns it must have."""
    try:
        table, schema = pyarrow.parquet.read_table(folder / name), TABLES[name]
        for column in SINCE_2:
            if column in schema.names and column not in table.column_names:
                table = table.append_column(column, pyarrow.nulls(len(table), schema.field(column).type))
        return table.select(schema.names).cast(schema)
    except (pyarrow.ArrowException, KeyError, ValueError, OSError) as error:
        raise damaged(backup, f"{name}: {first_line(error)}") from None


def damaged(backup: Path, what: str) -> BadValue:
    """The problem of a file that is no whole backup."""
    return BadValue(f"{backup}: {what}", field="backup")


def _manifest(backup: Path, archive: zipfile.ZipFile) -> dict[str, Any]:
    try:
        manifest = json.loads(archive.read(MANIFEST))
    except KeyError:
        raise damaged(backup, f"not a backup of TopicWeave: it holds no {MANIFEST}") from None
    except ValueError as error:
        raise damaged(backup, f"{MANIFEST}: {error}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise damaged(backup, f"not a backup of TopicWeave: {MANIFEST} does not say so")
    if manifest.get("format_version") not in range(1, FORMAT_VERSION + 1):
        raise damaged(
            backup,
            f"format_version: this TopicWeave reads 1 to {FORMAT_VERSION} (got {manifest.get('format_version')!r})",
        )
    if not isinstance(manifest.get("version"), int) or not isinstance(manifest.get("parts"), dict):
        raise damaged(backup, f"{MANIFEST}: version and parts are missing")
    return manifest


def _extract(
    backup: Path, archive: zipfile.ZipFile, name: str, target: Path, parts: Mapping[str, Any]
) -> None:
    if name not in parts or name not in archive.namelist():
        raise damaged(backup, f"{name}: missing")
    part = parts[name]
    if not isinstance(part, dict) or not isinstance(part.get("bytes"), int):
        raise damaged(backup, f"{MANIFEST}: the size of {name} is missing")
    digest, left = hashlib.sha256(), part["bytes"]
    with archive.open(name) as source, target.open("wb") as out:
        # No further than its size: what a small file unpacks to may fill a disk.
        while left >= 0 and (chunk := source.read(min(CHUNK, left + 1))):
            left -= len(chunk)
            digest.update(chunk)
            out.write(chunk)
    if left or digest.hexdigest() != part.get("sha256"):
        raise damaged(backup, f"{name}: damaged, its size or checksum is not the manifest's")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
