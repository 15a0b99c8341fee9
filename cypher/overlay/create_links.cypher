// A batch of links. $rows: [{a, b}], a < b; $version: since when; $reason: why.
UNWIND $rows AS row
MATCH (a:Broker {id: row.a})
MATCH (b:Broker {id: row.b})
CREATE (a)-[:LINK {since: $version, reason: $reason}]->(b)
