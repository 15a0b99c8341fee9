"""Neo4j is the truth; this package is the one door to it."""

from backend.store.database import Database
from backend.store.overlay import Policy, StoredOverlay

__all__ = ["Database", "Policy", "StoredOverlay"]
