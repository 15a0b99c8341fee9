// Which other topics do the subscribers of one topic have?
//
// Group: interests
// Parameters:
//   $topic (string): the topic's name
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   other: the other topic's name
//   common: brokers that subscribe to both
//   share: their part of the topic's subscribers, 0 to 1
// Example:
//   :param topic => 't0001'
//   :param limit => 20
MATCH (topic:Topic {name: $topic})<-[:SUBSCRIBES]-(broker:Broker)-[:SUBSCRIBES]->(other:Topic)
WITH topic, other, count(broker) AS common
RETURN other.name AS other, common, 1.0 * common / COUNT { (topic)<-[:SUBSCRIBES]-() } AS share
ORDER BY common DESC, other
LIMIT $limit
