// Which brokers have no backup?
//
// Group: backups
// Parameters:
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   broker: the broker's id
//   degree: its links
//   topics: its subscriptions
// Example:
//   :param limit => 20
MATCH (broker:Broker)
WHERE NOT EXISTS { (broker)-[:BACKED_UP_BY]->() }
RETURN broker.id AS broker, COUNT { (broker)-[:LINK]-() } AS degree, COUNT { (broker)-[:SUBSCRIBES]->() } AS topics
ORDER BY degree DESC, broker
LIMIT $limit
