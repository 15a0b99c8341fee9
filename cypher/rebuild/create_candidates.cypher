// A batch of links of the rebuild $id, while it is in one of $states and belongs to $owner (null: to anybody). $rows: [{a, b}], a < b; $rebuild: under which id.
// The overlay is locked first, as by every commit, so neither waits for the other in a circle; the state is read under that lock.
MATCH (overlay:Overlay {name: 'live'})
SET overlay.asked = $rebuild
WITH overlay
MATCH (rebuild:Rebuild {id: $id})
WHERE rebuild.state IN $states AND ($owner IS NULL OR rebuild.owner = $owner)
UNWIND $rows AS row
MATCH (a:Broker {id: row.a})
MATCH (b:Broker {id: row.b})
MERGE (a)-[:CANDIDATE {rebuild: $rebuild}]->(b)
