// Who changed what?
//
// Looks through all changes since $since: it takes longer the more there are.
//
// Group: history
// Parameters:
//   $since (string, default "1970-01-01", ISO time): only changes at or after this day or time, UTC
// Columns:
//   actor: the name of the key that was used
//   kind: join, leave, subscribe, activate and so on
//   changes: how many versions
//   opened: links opened by them
//   closed: links closed by them
//   first: when the first of them came
//   last: when the last of them came
// Example:
//   :param since => '2026-01-01'
MATCH (change:Change)
WHERE change.at >= datetime($since)
RETURN change.actor AS actor, change.kind AS kind, count(*) AS changes,
       sum(size(change.opened_a)) AS opened, sum(size(change.closed_a)) AS closed,
       min(change.at) AS first, max(change.at) AS last
ORDER BY changes DESC, actor, kind
