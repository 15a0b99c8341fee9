// Topics that nobody subscribes to, and topics or brokers without a name. $limit: so many at the most.
MATCH (topic:Topic)
WHERE NOT EXISTS { (:Broker)-[:SUBSCRIBES]->(topic) }
RETURN topic.name AS name
LIMIT $limit
