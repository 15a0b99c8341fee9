// Start an import into an empty database. Answers nothing where an overlay exists already.
OPTIONAL MATCH (existing:Overlay {name: 'live'})
WITH existing WHERE existing IS NULL
CREATE (overlay:Overlay {name: 'live', state: 'importing', version: 0})
RETURN overlay.state AS state
