// A batch of links of the import $import. $rows: [{a, b: [id], since: [version], reason: [place in $reasons]}], a < b.
MATCH (overlay:Overlay {name: 'live', state: 'importing', import: $import})
SET overlay.asked = $import
WITH overlay WHERE overlay.state = 'importing' AND overlay.import = $import
UNWIND $rows AS row
MATCH (a:Broker {id: row.a})
UNWIND range(0, size(row.b) - 1) AS place
MATCH (b:Broker {id: row.b[place]})
CREATE (a)-[link:LINK {since: row.since[place], reason: $reasons[row.reason[place]]}]->(b)
RETURN count(link) AS made
