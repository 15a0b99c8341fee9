// The import is complete: the overlay goes live, its version raised once; what was before it cannot be rebuilt from Changes.
// $import: its id; $record: properties of its Change. The policy is left alone: it could not change since the import began.
// Answers nothing where it has another owner by now.
MATCH (overlay:Overlay {name: 'live', state: 'importing', import: $import})
SET overlay.asked = $import
WITH overlay WHERE overlay.state = 'importing' AND overlay.import = $import
SET overlay.state = 'live', overlay.version = overlay.version + 1
SET overlay.imported = overlay.version
REMOVE overlay.import, overlay.heartbeat_at
CREATE (change:Change)
SET change = $record, change.version = overlay.version
RETURN overlay.version AS version
