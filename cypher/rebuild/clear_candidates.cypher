// Remove some links as delete_candidates does, while $owner activates the rebuild $id: whoever has lost that must not touch the
// heir's. $rebuild: under which id they are; $limit: how many.
MATCH (overlay:Overlay {name: 'live'})
SET overlay.asked = $rebuild
WITH overlay
MATCH (:Rebuild {id: $id, state: 'activating', owner: $owner})
MATCH ()-[candidate:CANDIDATE {rebuild: $rebuild}]->()
WITH candidate LIMIT $limit
DELETE candidate
RETURN count(*) AS deleted
