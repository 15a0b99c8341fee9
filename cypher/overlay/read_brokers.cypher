// The ids of all brokers.
MATCH (broker:Broker)
RETURN broker.id AS broker
