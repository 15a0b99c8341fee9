// What brokers that joined at another process brought along. $brokers: their ids.
UNWIND $brokers AS id
MATCH (broker:Broker {id: id})
RETURN broker.id AS broker, broker.attributes AS attributes, broker.lease_seconds AS lease_seconds,
       broker.lease_until AS lease_until, broker.acked AS acked, broker.failures AS failures
