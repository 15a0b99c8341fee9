// Topics that lost their last subscriber end. $names: those that may have.
UNWIND $names AS name
MATCH (topic:Topic {name: name})
WHERE NOT EXISTS { (:Broker)-[:SUBSCRIBES]->(topic) }
DELETE topic
