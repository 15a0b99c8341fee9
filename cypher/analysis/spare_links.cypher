// Which topics have the fewest links to spare?
//
// Group: robustness
// Parameters:
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   topic: the topic's name
//   subscribers: how many brokers subscribe to it
//   links: links between them
//   spare: links beyond the fewest that can connect it: below 0 it is apart, at 0 and in one piece it is a tree that any lost link splits
// Example:
//   :param limit => 20
MATCH (a:Broker)
WITH a, COLLECT { MATCH (a)-[:SUBSCRIBES]->(topic) RETURN topic } AS topics_of_a
MATCH (a)-[:LINK]->(b)-[:SUBSCRIBES]->(topic)
WHERE topic IN topics_of_a
WITH topic, count(*) AS inside
WITH collect({topic: topic, links: inside}) AS known
CALL (known) {
  UNWIND known AS row
  RETURN row.topic AS topic, row.links AS links
  UNION ALL
  MATCH (topic:Topic)
  RETURN topic, 0 AS links
}
WITH topic, sum(links) AS links
WITH topic, COUNT { (topic)<-[:SUBSCRIBES]-() } AS subscribers, links
WHERE subscribers > 1
RETURN topic.name AS topic, subscribers, links, links - (subscribers - 1) AS spare
ORDER BY spare, subscribers DESC, topic
LIMIT $limit
