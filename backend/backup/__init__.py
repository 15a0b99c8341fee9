"""Backups: one version of the overlay, its history and its keys in one readable file; docs/backup.md describes it."""

from backend.backup.archive import FORMAT_VERSION
from backend.backup.take import take_backup

__all__ = ["FORMAT_VERSION", "take_backup"]
