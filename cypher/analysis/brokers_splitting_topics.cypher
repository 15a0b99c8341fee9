// Of the brokers with most links, whose loss would split the most topics?
//
// Exact for the brokers looked at, and silent about all others: one with few links may split more topics than a hub does.
// Each takes some hundredths of a second at 10,000 brokers, and all of them minutes: look at all only where there are few.
// $brokers then is their number. For all of a large overlay ask the API: GET /v1/brokers?sort=-blast_radius.
//
// Group: robustness
// Parameters:
//   $brokers (integer, default 5, at least 1): so many brokers are looked at, those with most links
// Columns:
//   broker: the broker's id
//   degree: its links
//   topics: its subscriptions
//   split: topics that would fall apart without it
// Example:
//   :param brokers => 5
MATCH (broker:Broker)
WITH broker, COUNT { (broker)-[:LINK]-() } AS degree
ORDER BY degree DESC, broker.id
LIMIT $brokers
CALL (broker) {
  MATCH (broker)-[:SUBSCRIBES]->(topic:Topic)
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
  RETURN count(topic) AS split
}
RETURN broker.id AS broker, degree, COUNT { (broker)-[:SUBSCRIBES]->() } AS topics, split
ORDER BY split DESC, degree DESC, broker
