// Which brokers keep the most links?
//
// Group: degrees
// Parameters:
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   broker: the broker's id
//   degree: its links
//   topics: its subscriptions
//   primaries: brokers it is a backup of
// Example:
//   :param limit => 20
MATCH (broker:Broker)
WITH broker, COUNT { (broker)-[:LINK]-() } AS degree
ORDER BY degree DESC, broker.id
LIMIT $limit
RETURN broker.id AS broker, degree,
       COUNT { (broker)-[:SUBSCRIBES]->() } AS topics,
       COUNT { (broker)<-[:BACKED_UP_BY]-() } AS primaries
