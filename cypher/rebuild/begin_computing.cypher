// A rebuild's turn to be computed: none that was asked for earlier is left, in whichever process. $id; $owner; $seconds: after so long a silence a process counts no more.
MATCH (overlay:Overlay {name: 'live'})
SET overlay.asked = $id
WITH overlay
MATCH (rebuild:Rebuild {id: $id, state: 'queued', owner: $owner})
WHERE NOT EXISTS {
  MATCH (other:Rebuild)
  WHERE other.state IN ['queued', 'running']
    AND other.heartbeat_at >= datetime() - duration({seconds: $seconds})
    AND (other.state = 'running' OR other.created_at < rebuild.created_at
         OR (other.created_at = rebuild.created_at AND other.id < rebuild.id))
}
SET rebuild.state = 'running', rebuild.heartbeat_at = datetime()
RETURN rebuild.id AS id
