// Leases, acknowledgements and failed links that other processes wrote.
MATCH (broker:Broker)
WHERE broker.lease_until IS NOT NULL OR broker.acked IS NOT NULL OR broker.failures IS NOT NULL
RETURN broker.id AS broker, broker.lease_seconds AS seconds, broker.lease_until AS until, broker.acked AS acked,
       broker.failures AS failures
