// Which links serve the most topics?
//
// Group: links
// Parameters:
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   a: the smaller id
//   b: the larger id
//   topics: how many topics both ends subscribe to
//   since: the version that opened it
//   reason: why it was opened
// Example:
//   :param limit => 20
MATCH (a:Broker)
WITH a, COLLECT { MATCH (a)-[:SUBSCRIBES]->(topic) RETURN topic } AS topics_of_a
MATCH (a)-[link:LINK]->(b)-[:SUBSCRIBES]->(topic)
WHERE topic IN topics_of_a
WITH a, link, b, count(topic) AS topics
ORDER BY topics DESC, a.id, b.id
LIMIT $limit
RETURN a.id AS a, b.id AS b, topics, link.since AS since, link.reason AS reason
