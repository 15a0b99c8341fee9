// Which links come and go most often?
//
// Looks through all changes since $since: it takes longer the more there are.
//
// Group: history
// Parameters:
//   $since (string, default "1970-01-01", ISO time): only changes at or after this day or time, UTC
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   a: the smaller id
//   b: the larger id
//   opened: how often it was opened
//   closed: how often it was closed
//   last: the version of its last change
//   here: whether it is open now
// Example:
//   :param since => '2026-01-01'
//   :param limit => 20
MATCH (change:Change)
WHERE change.at >= datetime($since)
CALL (change) {
  WITH change.opened_a AS opened_a, change.opened_b AS opened_b
  UNWIND range(0, size(opened_a) - 1) AS i
  RETURN opened_a[i] AS a, opened_b[i] AS b, 1 AS opened, 0 AS closed
  UNION ALL
  WITH change.closed_a AS closed_a, change.closed_b AS closed_b
  UNWIND range(0, size(closed_a) - 1) AS i
  RETURN closed_a[i] AS a, closed_b[i] AS b, 0 AS opened, 1 AS closed
}
WITH a, b, sum(opened) AS opened, sum(closed) AS closed, max(change.version) AS last
WHERE opened + closed > 1
WITH a, b, opened, closed, last
ORDER BY opened + closed DESC, a, b
LIMIT $limit
RETURN a, b, opened, closed, last, EXISTS { (:Broker {id: a})-[:LINK]->(:Broker {id: b}) } AS here
ORDER BY opened + closed DESC, a, b
