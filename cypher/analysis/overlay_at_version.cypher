// Which links did the overlay have at an earlier version?
//
// Backwards from the live overlay: what happened to a link first after the version says what it was then. Closed: it was there.
// Opened: it was not. Nothing: it is as it is now. (Marks are even for opened, odd for closed and for the live links.)
// No rows: the version is newer than the overlay, or older than the history kept (an import begins it anew).
// Found in a second, but all links of a large overlay are many rows to send, whence the limit.
// Looks through all changes since $version: it takes longer the more there are.
//
// Group: history
// Parameters:
//   $version (integer, at least 0): the version to go back to
//   $broker (string, default ""): only the links of this broker, empty for all
//   $limit (integer, default 1000, at least 1): so many rows at the most
// Columns:
//   a: the smaller id
//   b: the larger id
// Example:
//   :param version => 100
//   :param broker => ''
//   :param limit => 1000
MATCH (overlay:Overlay {name: 'live'})
WITH overlay, coalesce(overlay.forgotten, 0) AS before, coalesce(overlay.imported, 0) AS imported
WHERE before <= $version <= overlay.version AND imported <= $version
CALL () {
  MATCH (a:Broker)-[:LINK]->(b:Broker)
  RETURN a.id AS a, b.id AS b, 9007199254740991 AS mark
  UNION ALL
  MATCH (change:Change)
  WHERE change.version > $version
  WITH 2 * change.version AS mark, change.opened_a AS opened_a, change.opened_b AS opened_b
  UNWIND range(0, size(opened_a) - 1) AS i
  RETURN opened_a[i] AS a, opened_b[i] AS b, mark
  UNION ALL
  MATCH (change:Change)
  WHERE change.version > $version
  WITH 2 * change.version + 1 AS mark, change.closed_a AS closed_a, change.closed_b AS closed_b
  UNWIND range(0, size(closed_a) - 1) AS i
  RETURN closed_a[i] AS a, closed_b[i] AS b, mark
}
WITH a, b, min(mark) AS first
WHERE first % 2 = 1 AND $broker IN ['', a, b]
RETURN a, b
ORDER BY a, b
LIMIT $limit
