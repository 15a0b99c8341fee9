// One rebuild. $id.
MATCH (rebuild:Rebuild {id: $id})
RETURN properties(rebuild) AS rebuild,
       rebuild.owner IS NULL OR rebuild.heartbeat_at IS NULL OR rebuild.heartbeat_at < datetime() - duration({seconds: $seconds}) AS silent
