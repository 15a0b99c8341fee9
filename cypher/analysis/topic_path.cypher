// What is the shortest path of a topic between two brokers, through its subscribers only?
//
// No rows: one of them does not subscribe to the topic, or the topic is apart. Of several shortest paths one is shown.
//
// Group: robustness
// Parameters:
//   $topic (string): the topic's name
//   $from (string): the broker it begins with
//   $to (string): the broker it ends with
// Columns:
//   step: 0, 1, 2 ... along the path
//   broker: the broker at that step
//   degree: its links
// Example:
//   :param topic => 't0001'
//   :param from => 'b00001'
//   :param to => 'b00002'
MATCH (topic:Topic {name: $topic})
MATCH (from:Broker {id: $from}) WHERE EXISTS { (from)-[:SUBSCRIBES]->(topic) }
MATCH (to:Broker {id: $to}) WHERE EXISTS { (to)-[:SUBSCRIBES]->(topic) }
MATCH path = SHORTEST 1 (from)((:Broker)-[:LINK]-(next:Broker WHERE EXISTS { (next)-[:SUBSCRIBES]->(topic) }))*(to)
WITH nodes(path) AS brokers
UNWIND range(0, size(brokers) - 1) AS step
WITH step, brokers[step] AS broker
RETURN step, broker.id AS broker, COUNT { (broker)-[:LINK]-() } AS degree
ORDER BY step
