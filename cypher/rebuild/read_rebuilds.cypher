// Rebuilds in one of $states (null: in any), the newest first, $limit of them; silent: nobody has been heard of for $seconds.
MATCH (rebuild:Rebuild)
WHERE $states IS NULL OR rebuild.state IN $states
RETURN properties(rebuild) AS rebuild,
       rebuild.owner IS NULL OR rebuild.heartbeat_at IS NULL OR rebuild.heartbeat_at < datetime() - duration({seconds: $seconds}) AS silent
ORDER BY rebuild.created_at DESC
LIMIT $limit
