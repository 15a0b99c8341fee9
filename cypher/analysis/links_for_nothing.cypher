// Which links serve no topic at all?
//
// The manager leaves none: what is found here was edited behind its back.
//
// Group: links
// Parameters:
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   a: the smaller id
//   b: the larger id
//   since: the version that opened it
//   reason: why it was opened
// Example:
//   :param limit => 20
MATCH (a:Broker)
WITH a, COLLECT { MATCH (a)-[:SUBSCRIBES]->(topic) RETURN topic } AS topics_of_a
MATCH (a)-[link:LINK]->(b:Broker)
WHERE NOT EXISTS { MATCH (b)-[:SUBSCRIBES]->(topic:Topic) WHERE topic IN topics_of_a }
RETURN a.id AS a, b.id AS b, link.since AS since, link.reason AS reason
ORDER BY a, b
LIMIT $limit
