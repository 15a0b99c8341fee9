// What do two brokers share, and are they linked?
//
// Group: links
// Parameters:
//   $a (string): one broker's id
//   $b (string): the other broker's id
// Columns:
//   topic: a topic both subscribe to
//   subscribers: how many brokers subscribe to it
//   linked: whether the two have a link
// Example:
//   :param a => 'b00001'
//   :param b => 'b00002'
MATCH (a:Broker {id: $a})-[:SUBSCRIBES]->(topic:Topic)<-[:SUBSCRIBES]-(b:Broker {id: $b})
RETURN topic.name AS topic, COUNT { (topic)<-[:SUBSCRIBES]-() } AS subscribers, EXISTS { (a)-[:LINK]-(b) } AS linked
ORDER BY subscribers, topic
