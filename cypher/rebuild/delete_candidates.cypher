// Remove some links of a rebuild; the overlay is locked first, as by every commit. $rebuild: its id; $limit: how many.
MATCH (overlay:Overlay {name: 'live'})
SET overlay.asked = $rebuild
WITH overlay
MATCH ()-[candidate:CANDIDATE {rebuild: $rebuild}]->()
WITH candidate LIMIT $limit
DELETE candidate
RETURN count(*) AS deleted
