// Brokers leave, with all that hangs on them. $ids: their ids.
UNWIND $ids AS id
MATCH (broker:Broker {id: id})
DETACH DELETE broker
