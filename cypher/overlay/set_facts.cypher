// What is known of brokers beside interests and links, for the import $import. $rows: [{id, facts: properties}].
MATCH (overlay:Overlay {name: 'live', state: 'importing', import: $import})
SET overlay.asked = $import
WITH overlay WHERE overlay.state = 'importing' AND overlay.import = $import
UNWIND $rows AS row
MATCH (broker:Broker {id: row.id})
SET broker += row.facts
RETURN count(broker) AS made
