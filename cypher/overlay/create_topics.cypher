// Topics of the import $import, before anybody subscribes to them. $names: so many.
MATCH (overlay:Overlay {name: 'live', state: 'importing', import: $import})
SET overlay.asked = $import
WITH overlay WHERE overlay.state = 'importing' AND overlay.import = $import
UNWIND $names AS name
MERGE (topic:Topic {name: name})
RETURN count(topic) AS made
