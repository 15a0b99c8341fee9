// Every broker as it stands, a topic as often as it is subscribed to.
MATCH (broker:Broker)
RETURN broker.id AS id, broker.attributes AS attributes, [(broker)-[:SUBSCRIBES]->(topic:Topic) | topic.name] AS topics
