// In which topics do the most subscribers depend on one broker?
//
// Whoever has one link inside a topic is cut off from it when the broker at the other end goes. That is found quickly and is true,
// but not all: a topic can also depend on a broker without such subscribers. topic_dependence is exact for one topic,
// broker_loss for one broker. All topics of a large overlay take longer than 2 s, so the largest are looked at.
//
// Group: robustness
// Parameters:
//   $topics (integer, default 100, at least 1): so many topics are looked at, the largest
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   topic: the topic's name
//   subscribers: how many brokers subscribe to it
//   broker: the broker they depend on
//   hanging: subscribers whose only link inside the topic goes to it
//   share: their part of the topic's other subscribers, 0 to 1
// Example:
//   :param topics => 100
//   :param limit => 20
MATCH (topic:Topic)
WITH topic, COUNT { (topic)<-[:SUBSCRIBES]-() } AS size
WHERE size > 2
WITH topic, size
ORDER BY size DESC, topic.name
LIMIT $topics
CALL (topic) {
  WITH COLLECT { MATCH (topic)<-[:SUBSCRIBES]-(broker) RETURN broker } AS subscribers
  UNWIND subscribers AS leaf
  MATCH (leaf)-[:LINK]-(other)
  WHERE other IN subscribers
  WITH leaf, count(*) AS neighbours, min(other.id) AS broker
  WHERE neighbours = 1
  RETURN broker, count(leaf) AS hanging
  ORDER BY hanging DESC, broker
  LIMIT 1
}
RETURN topic.name AS topic, size AS subscribers, broker, hanging, 1.0 * hanging / (size - 1) AS share
ORDER BY share DESC, topic
LIMIT $limit
