// Every link of the live overlay; stored once, from the smaller id to the larger.
MATCH (a:Broker)-[link:LINK]->(b:Broker)
RETURN a.id AS a, b.id AS b, link.since AS since, link.reason AS reason
