// The backups of some brokers, built anew; the overlay is locked first, as by every commit. $rows: [{broker, backups}].
MATCH (overlay:Overlay {name: 'live'})
SET overlay.asked = 'backups'
WITH overlay
UNWIND $rows AS row
MATCH (broker:Broker {id: row.broker})
CALL (broker) {
  MATCH (broker)-[old:BACKED_UP_BY]->(:Broker)
  DELETE old
}
WITH broker, row
UNWIND row.backups AS id
MATCH (backup:Broker {id: id})
CREATE (broker)-[:BACKED_UP_BY]->(backup)
