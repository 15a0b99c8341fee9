// The import $import is alive. Answers nothing where it was taken for a broken one and removed.
MATCH (overlay:Overlay {name: 'live', state: 'importing', import: $import})
SET overlay.asked = $import
WITH overlay WHERE overlay.state = 'importing' AND overlay.import = $import
SET overlay.heartbeat_at = datetime()
RETURN overlay.version AS version
