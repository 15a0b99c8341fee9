// Which brokers have no link at all?
//
// Group: degrees
// Parameters:
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   broker: the broker's id
//   topics: its subscriptions
//   shared_topics: those that others subscribe to as well, more than 0 means that a topic is apart
// Example:
//   :param limit => 20
MATCH (broker:Broker)
WHERE NOT EXISTS { (broker)-[:LINK]-() }
RETURN broker.id AS broker,
       COUNT { (broker)-[:SUBSCRIBES]->() } AS topics,
       COUNT { (broker)-[:SUBSCRIBES]->(topic:Topic) WHERE COUNT { (topic)<-[:SUBSCRIBES]-() } > 1 } AS shared_topics
ORDER BY shared_topics DESC, broker
LIMIT $limit
