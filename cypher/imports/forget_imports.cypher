// Imports that ended so many $days ago are of no interest any more.
MATCH (import:Import)
WHERE import.heartbeat_at < datetime() - duration({days: $days})
DELETE import
