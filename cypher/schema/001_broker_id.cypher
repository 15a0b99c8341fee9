// A broker is known by its id.
CREATE CONSTRAINT broker_id IF NOT EXISTS
FOR (broker:Broker) REQUIRE broker.id IS UNIQUE
