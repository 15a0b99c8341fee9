// Which links differ between two versions?
//
// A link opened and closed again in between does not show. No rows: nothing differs, or one of the versions is not kept.
// Looks through all changes from $from to $to: it takes longer the more there are.
//
// Group: history
// Parameters:
//   $from (integer, at least 0): the earlier version
//   $to (integer, at least 0): the later version
//   $limit (integer, default 1000, at least 1): so many rows at the most
// Columns:
//   a: the smaller id
//   b: the larger id
//   event: opened or closed, from the earlier to the later version
//   version: of the last change of the link between them
// Example:
//   :param from => 100
//   :param to => 200
//   :param limit => 1000
MATCH (overlay:Overlay {name: 'live'})
WITH overlay, coalesce(overlay.forgotten, 0) AS before, coalesce(overlay.imported, 0) AS imported
WHERE before <= $from <= $to <= overlay.version AND imported <= $from
MATCH (change:Change)
WHERE $from < change.version <= $to
CALL (change) {
  WITH change.opened_a AS opened_a, change.opened_b AS opened_b
  UNWIND range(0, size(opened_a) - 1) AS i
  RETURN opened_a[i] AS a, opened_b[i] AS b, 1 AS step
  UNION ALL
  WITH change.closed_a AS closed_a, change.closed_b AS closed_b
  UNWIND range(0, size(closed_a) - 1) AS i
  RETURN closed_a[i] AS a, closed_b[i] AS b, -1 AS step
}
WITH a, b, sum(step) AS net, max(change.version) AS version
WHERE net <> 0
RETURN a, b, CASE net WHEN 1 THEN 'opened' ELSE 'closed' END AS event, version
ORDER BY event, a, b
LIMIT $limit
