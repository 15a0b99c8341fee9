// Which topics would fall apart without one broker?
//
// A topic with at least three subscribers depends on a broker when the topic's other subscribers cannot reach each other without it:
// some neighbour of the broker in the topic then has no way to another one that avoids the broker.
//
// Group: robustness
// Parameters:
//   $broker (string): the broker's id
// Columns:
//   topic: a topic that would be split
//   subscribers: how many brokers subscribe to it
//   neighbours: how many of them the broker is linked to
// Example:
//   :param broker => 'b00001'
MATCH (broker:Broker {id: $broker})-[:SUBSCRIBES]->(topic:Topic)
WITH topic, broker, COLLECT {
  MATCH (broker)-[:LINK]-(other:Broker)
  WHERE EXISTS { (other)-[:SUBSCRIBES]->(topic) }
  RETURN other ORDER BY other.id
} AS near
WHERE size(near) > 1
WITH topic, broker, near, near[0] AS first
WHERE any(one IN near WHERE COUNT { MATCH (one)-[:LINK]-(other:Broker) WHERE EXISTS { (other)-[:SUBSCRIBES]->(topic) } } = 1)
   OR any(one IN near[1..] WHERE NOT EXISTS {
       MATCH SHORTEST 1 (one)
         ((:Broker)-[:LINK]-(next:Broker WHERE next <> broker AND EXISTS { (next)-[:SUBSCRIBES]->(topic) }))+
         (first)
     })
RETURN topic.name AS topic, COUNT { (topic)<-[:SUBSCRIBES]-() } AS subscribers, size(near) AS neighbours
ORDER BY subscribers DESC, topic
