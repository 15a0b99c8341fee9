// A batch of candidates; the connector puts UNWIND $events AS event before it. event: {rebuild, broker_a, broker_b}.
// The overlay is locked first, as by every commit, so neither waits for the other in a circle.
// Written once however often a batch is sent; nothing for brokers that left, nor for a rebuild that was called off.
// The type is asked for as a text, and not by MERGE, for the reason given in rebuild/create_candidates.
MATCH (overlay:Overlay {name: 'live'})
SET overlay.asked = event.rebuild
WITH event
MATCH (rebuild:Rebuild {id: event.rebuild}) WHERE rebuild.state IN ['queued', 'running']
MATCH (a:Broker {id: event.broker_a})
MATCH (b:Broker {id: event.broker_b})
WHERE NOT EXISTS { MATCH (a)-[same]->(b) WHERE type(same) = 'CANDIDATE' AND same.rebuild = event.rebuild }
CREATE (a)-[:CANDIDATE {rebuild: event.rebuild}]->(b)
