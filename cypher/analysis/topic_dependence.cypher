// On which brokers does one topic depend, so that losing one of them splits it?
//
// A topic with at least three subscribers depends on a broker when the topic's other subscribers cannot reach each other without it:
// some neighbour of the broker in the topic then has no way to another one that avoids the broker.
// Exact. The time grows with the square of the subscribers: about 0.4 s for a topic of 250.
// For much larger ones ask the API: GET /v1/topics/NAME.
//
// Group: robustness
// Parameters:
//   $topic (string): the topic's name
// Columns:
//   broker: an articulation broker of the topic
//   neighbours: how many subscribers it is linked to
//   degree: all its links
// Example:
//   :param topic => 't0001'
MATCH (topic:Topic {name: $topic})<-[:SUBSCRIBES]-(broker:Broker)
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
RETURN broker.id AS broker, size(near) AS neighbours, COUNT { (broker)-[:LINK]-() } AS degree
ORDER BY neighbours DESC, broker
