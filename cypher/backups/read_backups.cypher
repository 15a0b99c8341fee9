// All brokers that have backups, with them.
MATCH (broker:Broker)-[:BACKED_UP_BY]->(backup:Broker)
RETURN broker.id AS broker, collect(backup.id) AS backups
