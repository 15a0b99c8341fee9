// Which changes moved the most links?
//
// Looks through all changes since $since: it takes longer the more there are.
//
// Group: history
// Parameters:
//   $since (string, default "1970-01-01", ISO time): only changes at or after this day or time, UTC
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   version: the version it made
//   at: when
//   actor: who
//   kind: join, leave, subscribe, activate and so on
//   broker: the broker it was about, null where it was about several
//   opened: links opened
//   closed: links closed
// Example:
//   :param since => '2026-01-01'
//   :param limit => 20
MATCH (change:Change)
WHERE change.at >= datetime($since)
WITH change, size(change.opened_a) AS opened, size(change.closed_a) AS closed
ORDER BY opened + closed DESC, change.version
LIMIT $limit
RETURN change.version AS version, change.at AS at, change.actor AS actor, change.kind AS kind, change.broker AS broker,
       opened, closed
ORDER BY opened + closed DESC, version
