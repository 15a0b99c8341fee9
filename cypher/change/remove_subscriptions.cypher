// Brokers give topics up. $rows: [{broker, topics}].
UNWIND $rows AS row
MATCH (:Broker {id: row.broker})-[subscription:SUBSCRIBES]->(topic:Topic)
WHERE topic.name IN row.topics
DELETE subscription
