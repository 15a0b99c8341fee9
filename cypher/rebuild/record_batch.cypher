// A batch of an activation is told in the transaction that makes it. Where the rebuild $id is not being activated by $owner any
// more, the division by zero makes the whole transaction fail: a batch of somebody who has lost his turn must not be committed.
// $properties: how far it is.
OPTIONAL MATCH (rebuild:Rebuild {id: $id})
SET rebuild.asked = $id
WITH rebuild, 1 / CASE WHEN rebuild.state = 'activating' AND rebuild.owner = $owner THEN 1 ELSE 0 END AS ours
WHERE ours = 1
SET rebuild += $properties, rebuild.heartbeat_at = datetime()
