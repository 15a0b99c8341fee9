// Which links does one broker keep, and what for?
//
// Group: links
// Parameters:
//   $broker (string): the broker's id
// Columns:
//   other: the broker at the other end
//   topics: how many topics both subscribe to
//   names: the first ten of them
//   since: the version that opened the link
//   reason: why it was opened
// Example:
//   :param broker => 'b00001'
MATCH (broker:Broker {id: $broker})-[link:LINK]-(other:Broker)
WITH broker, other, link, COLLECT {
  MATCH (broker)-[:SUBSCRIBES]->(topic:Topic)<-[:SUBSCRIBES]-(other)
  RETURN topic.name ORDER BY topic.name
} AS names
RETURN other.id AS other, size(names) AS topics, names[..10] AS names, link.since AS since, link.reason AS reason
ORDER BY topics DESC, other
