// How often do a broker's backups cover its topics?
//
// Group: backups
// Parameters:
//   $broker (string): the broker's id
// Columns:
//   topic: one of the broker's topics
//   backups: how many of its backups subscribe to it
//   wanted: the policy's lambda, or all other subscribers where they are fewer
// Example:
//   :param broker => 'b00001'
MATCH (broker:Broker {id: $broker})-[:SUBSCRIBES]->(topic:Topic)
MATCH (overlay:Overlay {name: 'live'})
WITH overlay, topic,
     COUNT { MATCH (broker)-[:BACKED_UP_BY]->(backup:Broker) WHERE EXISTS { (backup)-[:SUBSCRIBES]->(topic) } } AS backups,
     COUNT { (topic)<-[:SUBSCRIBES]-() } - 1 AS others
RETURN topic.name AS topic, backups, CASE WHEN others < overlay.lambda THEN others ELSE overlay.lambda END AS wanted
ORDER BY backups, topic
