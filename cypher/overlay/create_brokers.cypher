// A batch of brokers with their subscriptions. $rows: [{id, topics}].
UNWIND $rows AS row
CREATE (broker:Broker {id: row.id})
WITH broker, row
UNWIND row.topics AS name
MERGE (topic:Topic {name: name})
CREATE (broker)-[:SUBSCRIBES]->(topic)
