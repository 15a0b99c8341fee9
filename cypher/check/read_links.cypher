// Every link as it stands, whatever it connects.
MATCH (a)-[link:LINK]->(b)
RETURN a.id AS a, b.id AS b, link.since AS since, link.reason AS reason, a:Broker AND b:Broker AS proper
