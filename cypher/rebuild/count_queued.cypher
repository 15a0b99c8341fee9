// How many rebuilds are in one of $states, whose processes were heard of within $seconds.
MATCH (rebuild:Rebuild)
WHERE rebuild.state IN $states AND rebuild.heartbeat_at >= datetime() - duration({seconds: $seconds})
RETURN count(rebuild) AS queued
