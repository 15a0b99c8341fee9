// Which topics gain or lose the most subscribers?
//
// Looks through all changes since $since: it takes longer the more there are.
//
// Group: history
// Parameters:
//   $since (string, default "1970-01-01", ISO time): only changes at or after this day or time, UTC
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   topic: the topic's name
//   gained: subscriptions made
//   lost: subscriptions given up
//   net: gained less lost
//   subscribers: how many it has now
// Example:
//   :param since => '2026-01-01'
//   :param limit => 20
MATCH (change:Change)
WHERE change.at >= datetime($since)
CALL (change) {
  UNWIND change.subscribed_topic AS name
  RETURN name, 1 AS gained, 0 AS lost
  UNION ALL
  UNWIND change.unsubscribed_topic AS name
  RETURN name, 0 AS gained, 1 AS lost
}
WITH name, sum(gained) AS gained, sum(lost) AS lost
ORDER BY abs(gained - lost) DESC, gained + lost DESC, name
LIMIT $limit
RETURN name AS topic, gained, lost, gained - lost AS net, COUNT { (:Topic {name: name})<-[:SUBSCRIBES]-() } AS subscribers
ORDER BY abs(gained - lost) DESC, gained + lost DESC, topic
