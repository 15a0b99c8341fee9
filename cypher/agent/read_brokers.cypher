// What all processes have written of some brokers' agents. $brokers: their ids.
UNWIND $brokers AS id
MATCH (broker:Broker {id: id})
RETURN broker.id AS broker, broker.lease_seconds AS seconds, broker.lease_until AS until, broker.acked AS acked,
       broker.failures AS failures
