// Which brokers are nearest to one broker in their interests?
//
// Group: interests
// Parameters:
//   $broker (string): the broker's id
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   other: the other broker's id
//   common: topics both have
//   similarity: topics both have, of the topics either has, 0 to 1
//   linked: whether they have a link
// Example:
//   :param broker => 'b00001'
//   :param limit => 20
MATCH (broker:Broker {id: $broker})-[:SUBSCRIBES]->(topic:Topic)<-[:SUBSCRIBES]-(other:Broker)
WITH broker, other, count(topic) AS common
WITH broker, other, common,
     1.0 * common / (COUNT { (broker)-[:SUBSCRIBES]->() } + COUNT { (other)-[:SUBSCRIBES]->() } - common) AS similarity
ORDER BY similarity DESC, other.id
LIMIT $limit
RETURN other.id AS other, common, similarity, EXISTS { (broker)-[:LINK]-(other) } AS linked
