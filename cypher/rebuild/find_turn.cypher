// Whether no rebuild asked for earlier is left: a look without the lock under which begin_computing makes sure of it.
// $id; $owner; $seconds: after so long a silence a process counts no more. Also where the turn has come, unheard.
MATCH (rebuild:Rebuild {id: $id, owner: $owner})
WHERE rebuild.state IN ['queued', 'running'] AND NOT EXISTS {
  MATCH (other:Rebuild)
  WHERE other <> rebuild AND other.state IN ['queued', 'running']
    AND other.heartbeat_at >= datetime() - duration({seconds: $seconds})
    AND (other.state = 'running' OR other.created_at < rebuild.created_at
         OR (other.created_at = rebuild.created_at AND other.id < rebuild.id))
}
RETURN rebuild.id AS id
