// How far an import has come, for whoever asks at another process or after a restart. $id; $properties: all but the time.
MERGE (import:Import {id: $id})
SET import += $properties, import.heartbeat_at = datetime()
