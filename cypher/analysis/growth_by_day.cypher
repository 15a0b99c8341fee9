// How did the overlay grow from day to day?
//
// Backwards from the live overlay, day by day. Days without a change have no row.
// Looks through the whole history: it takes longer the more changes are kept.
//
// Group: history
// Columns:
//   day: the day, UTC
//   version: the last of that day
//   brokers: how many there were at its end
//   subscriptions: how many there were
//   links: how many there were
//   average_degree: links a broker kept on average
MATCH (change:Change)
WITH date(change.at) AS day, max(change.version) AS version,
     sum(size(change.joined) - size(change.left)) AS brokers,
     sum(size(change.subscribed_broker) - size(change.unsubscribed_broker)) AS subscriptions,
     sum(size(change.opened_a) - size(change.closed_a)) AS links,
     max(CASE change.kind WHEN 'import' THEN change.version ELSE 0 END) AS imported
WITH collect({day: day, version: version, brokers: brokers, subscriptions: subscriptions, links: links}) AS days,
     max(imported) AS imported
UNWIND days AS day
WITH day, days, imported
WHERE day.version >= imported
CALL (day, days) {
  UNWIND days AS later
  WITH day, later
  WHERE later.version > day.version
  RETURN sum(later.brokers) AS brokers, sum(later.subscriptions) AS subscriptions, sum(later.links) AS links
}
WITH day.day AS day, day.version AS version,
     COUNT { (:Broker) } - brokers AS brokers, COUNT { ()-[:SUBSCRIBES]->() } - subscriptions AS subscriptions,
     COUNT { ()-[:LINK]->() } - links AS links
RETURN day, version, brokers, subscriptions, links,
       CASE brokers WHEN 0 THEN 0.0 ELSE 2.0 * links / brokers END AS average_degree
ORDER BY day
