// Which brokers keep many links for the few topics they have?
//
// Group: degrees
// Parameters:
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   broker: the broker's id
//   degree: its links
//   topics: its subscriptions
//   links_a_topic: links for each subscription
// Example:
//   :param limit => 20
MATCH (broker:Broker)
WITH broker, COUNT { (broker)-[:LINK]-() } AS degree, COUNT { (broker)-[:SUBSCRIBES]->() } AS topics
WHERE topics > 0
RETURN broker.id AS broker, degree, topics, 1.0 * degree / topics AS links_a_topic
ORDER BY links_a_topic DESC, broker
LIMIT $limit
