// The leases of some brokers, as all processes have written them. $brokers: their ids.
UNWIND $brokers AS id
MATCH (broker:Broker {id: id})
WHERE broker.lease_until IS NOT NULL
RETURN broker.id AS broker, broker.lease_seconds AS seconds, broker.lease_until AS until
