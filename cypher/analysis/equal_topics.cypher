// Which topics have exactly the same subscribers, and could be one?
//
// Topics that agree in the number of their subscribers and in the first and last of them are compared in full,
// the others differ anyway.
//
// Group: interests
// Parameters:
//   $subscribers (integer, default 2, at least 1): only topics with at least so many subscribers
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   topics: the names of topics with equal subscribers
//   count: how many they are
//   subscribers: how many brokers subscribe to each of them
// Example:
//   :param subscribers => 2
//   :param limit => 20
MATCH (broker:Broker)-[:SUBSCRIBES]->(topic:Topic)
WITH topic, count(*) AS subscribers, min(broker.id) AS first, max(broker.id) AS last
WHERE subscribers >= $subscribers
WITH subscribers, first, last, collect(topic) AS alike
WHERE size(alike) > 1
UNWIND alike AS topic
WITH topic, subscribers, COLLECT { MATCH (topic)<-[:SUBSCRIBES]-(broker:Broker) RETURN broker.id ORDER BY broker.id } AS ids
ORDER BY topic.name
WITH ids, subscribers, collect(topic.name) AS topics
WHERE size(topics) > 1
RETURN topics, size(topics) AS count, subscribers
ORDER BY count DESC, subscribers DESC, topics[0]
LIMIT $limit
