// How did the overlay grow from day to day?
//
// Backwards from the live overlay, day by day. Days without a change have no row.
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
ORDER BY day
WITH collect({day: day, version: version, brokers: brokers, subscriptions: subscriptions, links: links}) AS days,
     max(imported) AS imported
WITH days, imported,
     COUNT { (:Broker) } AS brokers_now, COUNT { ()-[:SUBSCRIBES]->() } AS subscriptions_now, COUNT { ()-[:LINK]->() } AS links_now
UNWIND range(0, size(days) - 1) AS i
WITH days[i] AS day, days[i + 1..] AS later, imported, brokers_now, subscriptions_now, links_now
WHERE day.version >= imported
WITH day.day AS day, day.version AS version,
     brokers_now - reduce(sum = 0, row IN later | sum + row.brokers) AS brokers,
     subscriptions_now - reduce(sum = 0, row IN later | sum + row.subscriptions) AS subscriptions,
     links_now - reduce(sum = 0, row IN later | sum + row.links) AS links
RETURN day, version, brokers, subscriptions, links,
       CASE brokers WHEN 0 THEN 0.0 ELSE 2.0 * links / brokers END AS average_degree
ORDER BY day
