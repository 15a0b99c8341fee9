"""Neo4j is the truth; this package is the one door to it."""

from backend.store.database import Database, OutcomeUnknown
from backend.store.overlay import BrokerFacts, Lease, StoredOverlay

__all__ = ["BrokerFacts", "Database", "Lease", "OutcomeUnknown", "StoredOverlay"]
