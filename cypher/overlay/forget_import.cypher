// The last step of wiping: the overlay is empty and live again. $import: who wiped. Answers nothing where somebody is left,
// or where it has another owner by now.
MATCH (overlay:Overlay {name: 'live', state: 'importing', import: $import})
SET overlay.asked = $import
WITH overlay WHERE overlay.state = 'importing' AND overlay.import = $import AND NOT EXISTS { (:Broker) }
SET overlay.state = 'live'
REMOVE overlay.import, overlay.heartbeat_at
RETURN overlay.version AS version
