// How far is a topic's message from one broker to the others?
//
// Group: robustness
// Parameters:
//   $topic (string): the topic's name
//   $broker (string): a subscriber of the topic
// Columns:
//   steps: links on the way
//   brokers: how many subscribers are so far
// Example:
//   :param topic => 't0001'
//   :param broker => 'b00001'
MATCH (topic:Topic {name: $topic})<-[:SUBSCRIBES]-(from:Broker {id: $broker})
MATCH path = SHORTEST 1 (from)((:Broker)-[:LINK]-(next:Broker WHERE EXISTS { (next)-[:SUBSCRIBES]->(topic) }))*(to:Broker)
RETURN length(path) AS steps, count(*) AS brokers
ORDER BY steps
