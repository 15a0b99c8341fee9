// Which brokers would a rebuild change the most?
//
// No rows: there is no such rebuild, or it has no candidates (any more).
//
// Group: rebuilds
// Parameters:
//   $rebuild (string): the rebuild's id, or with ' before' behind it the links of before its activation
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   broker: the broker's id
//   to_open: links it would open
//   to_close: links it would close
//   degree_now: its links now
//   degree_then: its links when the rebuild is active
// Example:
//   :param rebuild => 'r1'
//   :param limit => 20
MATCH (rebuild:Rebuild)
WHERE rebuild.state IN ['planned', 'activating', 'active'] AND (
  rebuild.id = $rebuild
  OR rebuild.id + ' before' = $rebuild AND EXISTS { MATCH ()-[:CANDIDATE {rebuild: $rebuild}]->() }
)
MATCH (broker:Broker)
WITH broker,
     COUNT { (broker)-[:LINK]-() } AS degree_now,
     COLLECT { MATCH (broker)-[:LINK]-(other) RETURN other } AS near,
     COLLECT { MATCH (broker)-[:CANDIDATE {rebuild: $rebuild}]-(other) RETURN other } AS wanted
WITH broker, degree_now, size(wanted) AS degree_then, size([other IN wanted WHERE other IN near]) AS kept
WITH broker, degree_then - kept AS to_open, degree_now - kept AS to_close, degree_now, degree_then
ORDER BY to_open + to_close DESC, broker.id
LIMIT $limit
RETURN broker.id AS broker, to_open, to_close, degree_now, degree_then
