// Which links does one topic depend on, so that losing one of them splits it?
//
// A link is a bridge when its ends have no other way to each other inside the topic. Exact. The time grows with the square of the
// subscribers: about 1 s for a topic of 250.
//
// Group: robustness
// Parameters:
//   $topic (string): the topic's name
// Columns:
//   a: the smaller id
//   b: the larger id
//   topics: how many topics the link serves
// Example:
//   :param topic => 't0001'
MATCH (topic:Topic {name: $topic})<-[:SUBSCRIBES]-(a:Broker)-[link:LINK]->(b:Broker)
WHERE EXISTS { (b)-[:SUBSCRIBES]->(topic) }
WITH topic, a, link, b
WHERE any(end IN [a, b] WHERE COUNT { MATCH (end)-[:LINK]-(other:Broker) WHERE EXISTS { (other)-[:SUBSCRIBES]->(topic) } } = 1)
   OR any(end IN [a] WHERE NOT EXISTS {
       MATCH SHORTEST 1 (end)
         ((:Broker)-[other:LINK WHERE other <> link]-(next:Broker WHERE EXISTS { (next)-[:SUBSCRIBES]->(topic) }))+
         (b)
     })
RETURN a.id AS a, b.id AS b, COUNT { (a)-[:SUBSCRIBES]->(:Topic)<-[:SUBSCRIBES]-(b) } AS topics
ORDER BY a, b
