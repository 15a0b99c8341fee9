// An activation of $owner ends; what was active before is history then. $id; $properties, with the new state; $heed: whether a wish to go back keeps it from ending.
MATCH (rebuild:Rebuild {id: $id})
SET rebuild.asked = $id
WITH rebuild
WHERE rebuild.state = 'activating' AND rebuild.owner = $owner
  AND NOT ($heed AND coalesce(rebuild.returning, false))
SET rebuild += $properties, rebuild.heartbeat_at = datetime()
WITH rebuild
OPTIONAL MATCH (other:Rebuild {state: 'active'}) WHERE rebuild.state = 'active' AND other.id <> rebuild.id
SET other.state = 'dropped'
RETURN rebuild.id AS id, collect(other.id) AS replaced
