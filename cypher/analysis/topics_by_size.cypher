// Which topics have the most subscribers?
//
// Group: interests
// Parameters:
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   topic: the topic's name
//   subscribers: how many brokers subscribe to it
//   share: their part of all brokers, 0 to 1
// Example:
//   :param limit => 20
MATCH (topic:Topic)
WITH topic, COUNT { (topic)<-[:SUBSCRIBES]-() } AS subscribers
ORDER BY subscribers DESC, topic.name
LIMIT $limit
RETURN topic.name AS topic, subscribers, 1.0 * subscribers / COUNT { (:Broker) } AS share
