// Which brokers have to open and close the most links?
//
// Looks through all changes since $since: it takes longer the more there are.
//
// Group: history
// Parameters:
//   $since (string, default "1970-01-01", ISO time): only changes at or after this day or time, UTC
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   broker: the broker's id
//   opened: links opened at it
//   closed: links closed at it
//   here: whether the broker is part of the overlay now
// Example:
//   :param since => '2026-01-01'
//   :param limit => 20
MATCH (change:Change)
WHERE change.at >= datetime($since)
CALL (change) {
  UNWIND change.opened_a + change.opened_b AS id
  RETURN id, 1 AS opened, 0 AS closed
  UNION ALL
  UNWIND change.closed_a + change.closed_b AS id
  RETURN id, 0 AS opened, 1 AS closed
}
WITH id, sum(opened) AS opened, sum(closed) AS closed
ORDER BY opened + closed DESC, id
LIMIT $limit
RETURN id AS broker, opened, closed, EXISTS { (:Broker {id: id}) } AS here
ORDER BY opened + closed DESC, broker
