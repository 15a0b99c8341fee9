// Open links. $rows: [{a, b, since, reason}], a < b.
UNWIND $rows AS row
MATCH (a:Broker {id: row.a})
MATCH (b:Broker {id: row.b})
CREATE (a)-[:LINK {since: row.since, reason: row.reason}]->(b)
