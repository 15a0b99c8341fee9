// How many links does a change of each kind open and close?
//
// Looks through all changes since $since: it takes longer the more there are.
//
// Group: history
// Parameters:
//   $since (string, default "1970-01-01", ISO time): only changes at or after this day or time, UTC
// Columns:
//   kind: join, leave, subscribe, activate and so on
//   changes: how many versions
//   opened: links opened by one, on average
//   closed: links closed by one, on average
//   most: links opened and closed by the one that moved most
// Example:
//   :param since => '2026-01-01'
MATCH (change:Change)
WHERE change.at >= datetime($since)
RETURN change.kind AS kind, count(*) AS changes,
       avg(size(change.opened_a)) AS opened, avg(size(change.closed_a)) AS closed,
       max(size(change.opened_a) + size(change.closed_a)) AS most
ORDER BY changes DESC, kind
