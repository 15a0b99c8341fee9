// A rebuild's turn to be computed: none that was asked for earlier is left, in whichever process. $id; $owner; $seconds: after so long a silence a process counts no more.
// Asked again it says so again: who lost the first answer must not wait for a turn that has come.
MATCH (overlay:Overlay {name: 'live'})
SET overlay.asked = $id
WITH overlay
MATCH (rebuild:Rebuild {id: $id, owner: $owner})
WHERE rebuild.state IN ['queued', 'running'] AND NOT EXISTS {
  MATCH (other:Rebuild)
  WHERE other <> rebuild AND other.state IN ['queued', 'running']
    AND other.heartbeat_at >= datetime() - duration({seconds: $seconds})
    AND (other.state = 'running' OR other.created_at < rebuild.created_at
         OR (other.created_at = rebuild.created_at AND other.id < rebuild.id))
}
SET rebuild.state = 'running', rebuild.heartbeat_at = datetime()
RETURN rebuild.id AS id
