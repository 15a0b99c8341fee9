// Which topics have nobody to talk to?
//
// Group: interests
// Parameters:
//   $subscribers (integer, default 1, at least 0): topics with at most so many subscribers
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   topic: the topic's name
//   subscribers: how many it has
//   brokers: their ids, the first ten
// Example:
//   :param subscribers => 1
//   :param limit => 20
MATCH (topic:Topic)
WITH topic, COUNT { (topic)<-[:SUBSCRIBES]-() } AS subscribers
WHERE subscribers <= $subscribers
WITH topic, subscribers
ORDER BY subscribers, topic.name
LIMIT $limit
RETURN topic.name AS topic, subscribers,
       COLLECT { MATCH (topic)<-[:SUBSCRIBES]-(broker) RETURN broker.id ORDER BY broker.id LIMIT 10 } AS brokers
