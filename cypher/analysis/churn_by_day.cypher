// How much changes in a day?
//
// Looks through all changes since $since: it takes longer the more there are.
//
// Group: history
// Parameters:
//   $since (string, default "1970-01-01", ISO time): only changes at or after this day or time, UTC
// Columns:
//   day: the day, UTC
//   changes: how many versions it brought
//   joined: brokers that came
//   left: brokers that went
//   subscribed: subscriptions made, those of newcomers included
//   unsubscribed: subscriptions given up, those of leavers included
//   opened: links opened
//   closed: links closed
// Example:
//   :param since => '2026-01-01'
MATCH (change:Change)
WHERE change.at >= datetime($since)
RETURN date(change.at) AS day,
       count(*) AS changes,
       sum(size(change.joined)) AS joined,
       sum(size(change.left)) AS left,
       sum(size(change.subscribed_broker)) AS subscribed,
       sum(size(change.unsubscribed_broker)) AS unsubscribed,
       sum(size(change.opened_a)) AS opened,
       sum(size(change.closed_a)) AS closed
ORDER BY day
