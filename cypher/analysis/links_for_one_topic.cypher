// Which links serve only one topic?
//
// Group: links
// Parameters:
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   a: the smaller id
//   b: the larger id
//   topic: the one topic both ends subscribe to
//   since: the version that opened it
// Example:
//   :param limit => 20
MATCH (a:Broker)
WITH a, COLLECT { MATCH (a)-[:SUBSCRIBES]->(topic) RETURN topic } AS topics_of_a
MATCH (a)-[link:LINK]->(b)-[:SUBSCRIBES]->(topic)
WHERE topic IN topics_of_a
WITH a, link, b, count(topic) AS topics, min(topic.name) AS name
WHERE topics = 1
RETURN a.id AS a, b.id AS b, name AS topic, link.since AS since
ORDER BY a, b
LIMIT $limit
