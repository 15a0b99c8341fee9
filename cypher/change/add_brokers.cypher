// Brokers join with their topics. $rows: [{id, attributes, lease_seconds, lease_until, topics}]; what is null is not stored.
UNWIND $rows AS row
CREATE (broker:Broker {id: row.id, attributes: row.attributes, lease_seconds: row.lease_seconds, lease_until: row.lease_until})
WITH broker, row
UNWIND row.topics AS name
MERGE (topic:Topic {name: name})
CREATE (broker)-[:SUBSCRIBES]->(topic)
