// Is one topic connected, and if not, who is cut off?
//
// Group: robustness
// Parameters:
//   $topic (string): the topic's name
// Columns:
//   subscribers: how many brokers subscribe to it
//   reached: how many of them its first subscriber reaches, itself included
//   cut_off: the ids of the others, the first hundred
//   connected: whether it reaches all
// Example:
//   :param topic => 't0001'
MATCH (topic:Topic {name: $topic})<-[:SUBSCRIBES]-(broker:Broker)
WITH topic, broker
ORDER BY broker.id
WITH topic, collect(broker) AS subscribers
WITH topic, subscribers, head(subscribers) AS first
CALL (topic, first) {
  MATCH SHORTEST 1 (first)((:Broker)-[:LINK]-(next:Broker WHERE EXISTS { (next)-[:SUBSCRIBES]->(topic) }))*(to:Broker)
  RETURN collect(to) AS reached
}
WITH subscribers, size(reached) AS reached, [broker IN subscribers WHERE NOT broker IN reached | broker.id] AS apart
RETURN size(subscribers) AS subscribers, reached, apart[..100] AS cut_off, size(apart) = 0 AS connected
