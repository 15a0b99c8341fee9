// At which hours do changes come?
//
// Looks through all changes since $since: it takes longer the more there are.
//
// Group: history
// Parameters:
//   $since (string, default "1970-01-01", ISO time): only changes at or after this day or time, UTC
// Columns:
//   hour: 0 to 23, UTC
//   changes: how many versions came in that hour of any day
//   opened: links opened
//   closed: links closed
// Example:
//   :param since => '2026-01-01'
MATCH (change:Change)
WHERE change.at >= datetime($since)
RETURN change.at.hour AS hour, count(*) AS changes,
       sum(size(change.opened_a)) AS opened, sum(size(change.closed_a)) AS closed
ORDER BY hour
