// A batch of brokers of the import $import. $ids; $topics: the names they subscribe to; $subscriptions: for each broker,
// the places of its topics in $topics, so that a name is looked up once a batch and not once a subscription.
MATCH (overlay:Overlay {name: 'live', state: 'importing', import: $import})
SET overlay.asked = $import
WITH overlay WHERE overlay.state = 'importing' AND overlay.import = $import
CALL () {
  UNWIND range(0, size($topics) - 1) AS place
  MATCH (topic:Topic {name: $topics[place]})
  WITH topic ORDER BY place
  RETURN collect(topic) AS topics
}
WITH topics WHERE size(topics) = size($topics)
UNWIND range(0, size($ids) - 1) AS row
CREATE (broker:Broker {id: $ids[row]})
FOREACH (topic IN [place IN $subscriptions[row] | topics[place]] | CREATE (broker)-[:SUBSCRIBES]->(topic))
RETURN count(broker) AS made
