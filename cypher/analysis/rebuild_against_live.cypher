// What would a rebuild's candidates change about the live links?
//
// Every link is seen from both ends, hence the halves. An activation may open more: where interests changed since the rebuild,
// its candidates are completed first.
// No rows: there is no such rebuild, or it has no candidates (any more).
//
// Group: rebuilds
// Parameters:
//   $rebuild (string): the rebuild's id, or with ' before' behind it the links of before its activation
// Columns:
//   candidates: links of the rebuild
//   links: live links
//   kept: links of both
//   to_open: candidates that are no live links
//   to_close: live links that are no candidates
//   max_degree_now: links of the broker that keeps most now
//   max_degree_then: links of the broker that would keep most
// Example:
//   :param rebuild => 'r1'
MATCH (rebuild:Rebuild)
WHERE rebuild.state IN ['planned', 'activating', 'active'] AND (
  rebuild.id = $rebuild
  OR rebuild.id + ' before' = $rebuild AND EXISTS { MATCH ()-[:CANDIDATE {rebuild: $rebuild}]->() }
)
OPTIONAL MATCH (broker:Broker)
WITH rebuild,
     COLLECT { MATCH (broker)-[:LINK]-(other) RETURN other } AS near,
     COLLECT { MATCH (broker)-[:CANDIDATE {rebuild: $rebuild}]-(other) RETURN other } AS wanted
WITH rebuild, size(near) AS now, size(wanted) AS then, size([other IN wanted WHERE other IN near]) AS kept
WITH rebuild, sum(then) / 2 AS candidates, sum(now) / 2 AS links, sum(kept) / 2 AS kept,
     max(now) AS max_degree_now, max(then) AS max_degree_then
RETURN candidates, links, kept, candidates - kept AS to_open, links - kept AS to_close,
       coalesce(max_degree_now, 0) AS max_degree_now, coalesce(max_degree_then, 0) AS max_degree_then
