// Brokers subscribe. $rows: [{broker, topics}].
UNWIND $rows AS row
MATCH (broker:Broker {id: row.broker})
UNWIND row.topics AS name
MERGE (topic:Topic {name: name})
CREATE (broker)-[:SUBSCRIBES]->(topic)
