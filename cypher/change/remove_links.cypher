// Close links. $rows: [{a, b}], a < b.
UNWIND $rows AS row
MATCH (:Broker {id: row.a})-[link:LINK]->(:Broker {id: row.b})
DELETE link
