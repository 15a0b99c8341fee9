// The live overlay's version, and how many brokers a job is going to read.
MATCH (overlay:Overlay {name: 'live'})
RETURN overlay.version AS version, overlay.state AS state, COUNT { (:Broker) } AS brokers
