// Which brokers have exactly the same topics?
//
// Brokers that agree in the number of their topics and in the first and last of them are compared in full,
// the others differ anyway.
//
// Group: interests
// Parameters:
//   $topics (integer, default 1, at least 1): only brokers with at least so many topics
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   brokers: the ids of brokers with equal interests
//   count: how many they are
//   topics: how many topics each of them has
// Example:
//   :param topics => 1
//   :param limit => 20
MATCH (broker:Broker)-[:SUBSCRIBES]->(topic:Topic)
WITH broker, count(*) AS topics, min(topic.name) AS first, max(topic.name) AS last
WHERE topics >= $topics
WITH topics, first, last, collect(broker) AS alike
WHERE size(alike) > 1
UNWIND alike AS broker
WITH broker, topics, COLLECT { MATCH (broker)-[:SUBSCRIBES]->(topic:Topic) RETURN topic.name ORDER BY topic.name } AS names
ORDER BY broker.id
WITH names, topics, collect(broker.id) AS brokers
WHERE size(brokers) > 1
RETURN brokers, size(brokers) AS count, topics
ORDER BY count DESC, topics DESC, brokers[0]
LIMIT $limit
