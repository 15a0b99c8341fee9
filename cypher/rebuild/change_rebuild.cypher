// Change a rebuild that is in one of $states, and belongs to $owner (null: to anybody). $id; $properties; $beats: whether its owner lives; $unless: a wish that must not be noted, or null.
MATCH (rebuild:Rebuild {id: $id})
SET rebuild.asked = $id
WITH rebuild
WHERE rebuild.state IN $states AND ($owner IS NULL OR rebuild.owner = $owner)
  AND ($unless IS NULL OR NOT coalesce(rebuild[$unless], false))
SET rebuild += $properties,
    rebuild.heartbeat_at = CASE WHEN $beats THEN datetime() ELSE rebuild.heartbeat_at END
RETURN rebuild.cancelling AS cancelling
