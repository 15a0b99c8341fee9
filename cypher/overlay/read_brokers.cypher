// All brokers with their topics, attributes, leases, acknowledgements and failures.
MATCH (broker:Broker)
RETURN broker.id AS id, broker.attributes AS attributes, broker.lease_seconds AS lease_seconds,
       broker.lease_until AS lease_until, broker.acked AS acked, broker.failures AS failures,
       [(broker)-[:SUBSCRIBES]->(topic) | topic.name] AS topics
