// Which brokers are cut off from everything when one link or one neighbour goes?
//
// Group: robustness
// Parameters:
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   broker: the broker's id
//   neighbour: the only broker it is linked to
//   topics: its subscriptions
//   since: the version that opened the link
// Example:
//   :param limit => 20
MATCH (broker:Broker)
WHERE COUNT { (broker)-[:LINK]-() } = 1
MATCH (broker)-[link:LINK]-(neighbour:Broker)
RETURN broker.id AS broker, neighbour.id AS neighbour, COUNT { (broker)-[:SUBSCRIBES]->() } AS topics, link.since AS since
ORDER BY topics DESC, broker
LIMIT $limit
