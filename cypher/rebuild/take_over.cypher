// An activation changes hands: from whoever is silent for $seconds, or from nobody. $id; $owner: who takes it.
MATCH (rebuild:Rebuild {id: $id})
SET rebuild.asked = $owner
WITH rebuild
WHERE rebuild.state = 'activating'
  AND (rebuild.owner IS NULL OR rebuild.heartbeat_at < datetime() - duration({seconds: $seconds}))
SET rebuild.owner = $owner, rebuild.heartbeat_at = datetime()
RETURN rebuild.id AS id
