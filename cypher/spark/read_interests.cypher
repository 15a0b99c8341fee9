// Every broker with its topics, in a stable order: the connector reads it in pages, each in a transaction of its own.
MATCH (broker:Broker)
WHERE broker.id IS NOT NULL
WITH broker, broker.id AS id
RETURN id AS broker, COLLECT { MATCH (broker)-[:SUBSCRIBES]->(topic:Topic) RETURN topic.name } AS topics
ORDER BY id
