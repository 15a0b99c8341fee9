// The links of a rebuild. $rebuild: its id.
MATCH (a:Broker)-[:CANDIDATE {rebuild: $rebuild}]->(b:Broker)
RETURN a.id AS a, b.id AS b
