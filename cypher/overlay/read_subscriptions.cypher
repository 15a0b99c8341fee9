// Every subscription, with its two ids.
MATCH (broker:Broker)-[:SUBSCRIBES]->(topic:Topic)
RETURN broker.id AS broker, topic.name AS topic
