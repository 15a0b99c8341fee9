// One import. $id; $seconds: one that is under way and was not heard of for so long has lost its process.
MATCH (import:Import {id: $id})
RETURN properties(import) AS import, import.heartbeat_at < datetime() - duration({seconds: $seconds}) AS silent
