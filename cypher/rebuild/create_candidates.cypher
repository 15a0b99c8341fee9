// A batch of links of the rebuild $id, while it is in one of $states and belongs to $owner (null: to anybody). $rows: [{a, b}], a < b; $rebuild: under which id.
// The overlay is locked first, as by every commit, so neither waits for the other in a circle; the state is read under that lock.
// Written once however often a batch is sent. The type is asked for by its name as a text: while there are few candidates the planner
// would look through all of them for each row, as it does for a MERGE, and hold the lock for seconds.
MATCH (overlay:Overlay {name: 'live'})
SET overlay.asked = $rebuild
WITH overlay
MATCH (rebuild:Rebuild {id: $id})
WHERE rebuild.state IN $states AND ($owner IS NULL OR rebuild.owner = $owner)
UNWIND $rows AS row
MATCH (a:Broker {id: row.a})
MATCH (b:Broker {id: row.b})
WHERE NOT EXISTS { MATCH (a)-[same]->(b) WHERE type(same) = 'CANDIDATE' AND same.rebuild = $rebuild }
CREATE (a)-[:CANDIDATE {rebuild: $rebuild}]->(b)
