// Which brokers leave and come back?
//
// Only those that joined again after they had left, both among the changes looked at.
// Looks through all changes since $since: it takes longer the more there are.
//
// Group: history
// Parameters:
//   $since (string, default "1970-01-01", ISO time): only changes at or after this day or time, UTC
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   broker: the broker's id
//   joined: how often it joined
//   left: how often it left
//   last: the version of its last coming or going
//   here: whether it is part of the overlay now
// Example:
//   :param since => '2026-01-01'
//   :param limit => 20
MATCH (change:Change)
WHERE change.at >= datetime($since)
CALL (change) {
  UNWIND change.joined AS id
  RETURN id, 1 AS joined, 0 AS left
  UNION ALL
  UNWIND change.left AS id
  RETURN id, 0 AS joined, 1 AS left
}
WITH id, sum(joined) AS joined, sum(left) AS left, max(change.version) AS last,
     min(CASE left WHEN 1 THEN change.version END) AS gone, max(CASE joined WHEN 1 THEN change.version END) AS back
WHERE gone < back
WITH id, joined, left, last
ORDER BY joined + left DESC, id
LIMIT $limit
RETURN id AS broker, joined, left, last, EXISTS { (:Broker {id: id}) } AS here
ORDER BY joined + left DESC, broker
