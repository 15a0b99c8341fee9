// Records of the history that the import $import brings along. $rows: properties of Change nodes.
MATCH (overlay:Overlay {name: 'live', state: 'importing', import: $import})
SET overlay.asked = $import
WITH overlay WHERE overlay.state = 'importing' AND overlay.import = $import
UNWIND $rows AS row
CREATE (change:Change)
SET change = row
RETURN count(change) AS made
