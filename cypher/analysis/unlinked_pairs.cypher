// Which pairs of brokers have most topics in common and no link?
//
// All pairs of a large overlay are too many to compare (50 million of 10,000 brokers), so pairs are looked for among the
// brokers with most topics. $brokers => 2000 looks further and takes longer. similar_brokers answers for one broker and all others.
//
// Group: interests
// Parameters:
//   $brokers (integer, default 200, at least 2, at most 2000): pairs are looked for among so many brokers, those with most topics
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   a: the smaller id
//   b: the larger id
//   common: topics both have
// Example:
//   :param brokers => 200
//   :param limit => 20
MATCH (broker:Broker)
WITH broker, COUNT { (broker)-[:SUBSCRIBES]->() } AS topics
ORDER BY topics DESC, broker.id
LIMIT $brokers
WITH collect(broker) AS chosen
UNWIND chosen AS broker
MATCH (broker)-[:SUBSCRIBES]->(topic:Topic)
WITH topic, collect(broker) AS subscribers
UNWIND subscribers AS a
UNWIND subscribers AS b
WITH a, b WHERE a.id < b.id
WITH a, b, count(*) AS common
WHERE NOT EXISTS { (a)-[:LINK]-(b) }
RETURN a.id AS a, b.id AS b, common
ORDER BY common DESC, a, b
LIMIT $limit
